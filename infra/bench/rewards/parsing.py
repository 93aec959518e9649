"""Reads both turns of a trajectory strictly, by the rules of internal/xragent (tags.go, parse.go, calls.go, answer.go)."""

import json
import re

MAX_CALLS = 5
TAG = re.compile(r"<think>|</think>|<tool_call>|</tool_call>|<answer>|</answer>|<no_tool/>")
SPACE = " \t\r\n"
REFERENCE = re.compile(r"[-+]?[0-9]+")


class Scan:
    """A turn cut into blocks (tag, body, nested)."""

    def __init__(self, text):
        self.blocks, self.nested, self.open, self.rest = [], False, False, False
        pos = 0
        while True:
            tag = TAG.search(text, pos)
            if (text[pos : tag.start()] if tag else text[pos:]).strip():
                self.rest = True
            if not tag:
                return
            pos = tag.end()
            name = tag.group()
            if name == "<no_tool/>":
                self.blocks.append(("no_tool", "", False))
                continue
            if name[1] == "/":
                self.rest = True
                continue
            closing = "</" + name[1:]
            end = text.find(closing, pos)
            if end < 0:
                self.open = True
                return
            body = text[pos:end]
            nested = TAG.search(body) is not None
            self.nested |= nested
            self.blocks.append((name[1:-1], body, nested))
            pos = end + len(closing)

    def count(self, tag):
        return sum(b[0] == tag for b in self.blocks)

    @property
    def broken(self):
        return self.nested or self.open


def common(s, broken):
    thinks = s.count("think")
    for reason, when in [
        ("unclosed_tag", s.open), ("nested_tag", s.nested), ("stray_text", s.rest),
        ("think_missing", thinks == 0 and not s.broken), ("think_duplicated", thinks > 1),
        ("tag_order", thinks > 0 and s.blocks[0][0] != "think"),
        ("think_empty", any(tag == "think" and not body.strip() for tag, body, _ in s.blocks)),
    ]:
        if when:
            broken.add(reason)


def refuse(name):
    raise ValueError(name)


def whole(v):
    return isinstance(v, int) and not isinstance(v, bool)


def filled(v):
    return isinstance(v, str) and v.strip() != ""


def box_ok(box):
    return isinstance(box, list) and len(box) == 4 and all(map(whole, box)) and box[0] < box[2] and box[1] < box[3]


def region_ok(region, parses):
    if not filled(region):
        return False
    region = region.strip()
    if region[0] == "#":
        return REFERENCE.fullmatch(region[1:]) is not None and int(region[1:]) in parses
    return True


def arguments_ok(name, args, parses):
    if not isinstance(args, dict):
        return False
    if name == "evidence_lookup":
        conditions = args.get("conditions")
        return args.keys() <= {"conditions"} and isinstance(conditions, list) and 1 <= len(conditions) <= 4 and all(map(filled, conditions))
    if "image" in args and not (whole(args["image"]) and args["image"] >= 0):
        return False
    if name == "region_parse":
        return args.keys() <= {"image", "target"} and filled(args.get("target"))
    if name == "measure":
        return args.keys() <= {"image"}
    if not args.keys() <= {"image", "bbox", "region"} or ("bbox" in args) == ("region" in args):
        return False
    return box_ok(args["bbox"]) if "bbox" in args else region_ok(args["region"], parses)


def read_call(body, parses, routed):
    """Returns name, whether the JSON names a tool, and a reason or None."""
    try:
        call = json.loads(body, parse_constant=refuse)
    except ValueError:
        return None, False, "bad_json"
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return None, False, "bad_json"
    name = call["name"]
    if name not in ("roi_crop", "region_parse", "evidence_lookup") and not (routed and name == "measure"):
        return name, False, "unknown_tool"
    return name, True, None if arguments_ok(name, call.get("arguments"), parses) else "bad_arguments"


def read_plan(turn, routed, broken):
    """Turn 1; returns the number of calls that name a tool."""
    s = Scan(turn)
    common(s, broken)
    calls, none = s.count("tool_call"), s.count("no_tool")
    for reason, when in [
        ("answer_in_turn1", s.count("answer") > 0), ("plan_missing", calls + none == 0 and not s.broken),
        ("plan_conflict", none > 1 or none == 1 and calls > 0), ("over_budget", calls > MAX_CALLS),
    ]:
        if when:
            broken.add(reason)
    named, number, parses = 0, 0, set()
    for tag, body, nested in s.blocks:
        if tag != "tool_call":
            continue
        number += 1
        name, known, reason = read_call(body, parses, routed)
        named += known
        if nested:
            continue
        if reason:
            broken.add(reason)
        elif name == "region_parse":
            parses.add(number)
    return named


def read_reply(turn, question, broken):
    """Turn 2; returns the reasoning and the answer as read."""
    s = Scan(turn)
    common(s, broken)
    answers = s.count("answer")
    for reason, when in [
        ("call_in_turn2", s.count("tool_call") > 0), ("no_tool_in_turn2", s.count("no_tool") > 0),
        ("answer_missing", answers == 0 and not s.broken), ("answer_duplicated", answers > 1),
    ]:
        if when:
            broken.add(reason)
    reasoning = ""
    if s.count("think") == 1 and not s.broken:
        reasoning = next(body for tag, body, _ in s.blocks if tag == "think")
    at = turn.rfind("<answer>")
    content, closed, _ = turn[at + len("<answer>") :].partition("</answer>") if at >= 0 else ("", "", "")
    if not closed:
        return reasoning, None
    if not content.strip():
        broken.add("answer_empty")
        return reasoning, None
    answer = read_answer(question, content)
    if answer is None:
        broken.add("answer_type")
    return reasoning, answer


def trim_end(s):
    return s.rstrip(SPACE + ".!?,;:")


def closed_form(s):
    s = " ".join(s.lower().split())
    return trim_end(s) or s


def read_answer(question, content):
    """The answer in its normal form; None if the content is not of the question's type."""
    content = content.strip()
    if question["type"] == "yesno":
        return {"yes": "Yes", "no": "No"}.get(trim_end(content).lower())
    if question["type"] == "closed":
        return closed_form(content) if content else None
    options = question.get("options") or []
    letter = content[:1].upper()
    if len(letter) != 1 or not "A" <= letter < chr(ord("A") + len(options)):
        return None
    rest = content[1:]
    text = rest.lstrip(SPACE)
    if text and len(text) == len(rest):
        if text[0] not in ").:":
            return None  # a word that begins with the letter
        text = text[1:]
    text = text.strip()
    if text and closed_form(text) != closed_form(options[ord(letter) - ord("A")]):
        return None
    return letter
