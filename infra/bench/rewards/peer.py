"""Rewards of trajectories in plain Python, standard library only: the same rules as internal/xragent, written a second
time. Rewards of both are compared before anything is timed.

usage: peer.py FILE [REPEATS]

FILE has one trajectory a line, as `cxrepro xragent reward` reads it. The last line of the output is one JSON object: the
processor time of scoring all of them once (parsed already; the median of REPEATS passes), and the scores.
"""

import json
import statistics
import sys
import time

from parsing import read_answer, read_plan, read_reply
from reading import agrees, prepare
from words import HEART, LUNGS, MIDLINE, RELEVANCE

LAMBDA_C, LAMBDA_T = 0.2, 0.05
GRADES = {"mild", "marked"}


def category(measurement, shown):
    """The category that rewards compare with, from either profile."""
    name, side = shown["category"], shown.get("side")
    if measurement == HEART:
        return "normal" if name == "normal" else "enlarged"
    if measurement == LUNGS:
        return side + "_smaller" if name in GRADES else name
    if name == "none":
        return "midline"
    return "shifted_" + side if name in GRADES else name


def reward(correct, well_formed, calls, cxr, gated, malformed_is_wrong):
    acc = 1.0 if correct and (well_formed or not malformed_is_wrong) else 0.0
    form = 0.0 if well_formed else -1.0
    gain, cost = LAMBDA_C * cxr, LAMBDA_T * calls
    return acc * (1 + gain - cost) + form if gated else acc + gain - cost + form


def score(t):
    broken, calls, reasoning, answer = set(), 0, "", None
    question = t["question"]
    for turn in (t["turn1"], t["turn2"]):
        if turn is None:
            broken.add("turn_missing")
        elif turn["finish_reason"] != "stop":
            broken.add("truncated")
    if t["turn1"] is not None:
        calls = read_plan(t["turn1"]["text"], t.get("policy_routed", False), broken)
    if t["turn2"] is not None:
        reasoning, answer = read_reply(t["turn2"]["text"], question, broken)
    correct = answer is not None and answer == read_answer(question, question["key"])
    asked = [question["text"].lower()] + [o.lower() for o in question.get("options") or []]
    shown = t["measurement"] if t["measurement"]["status"] == "ok" else {}
    clauses = prepare(reasoning)
    relevant, s, terms = {}, {}, []
    for m in (HEART, LUNGS, MIDLINE):
        relevant[m] = int(any(RELEVANCE[m].search(text) for text in asked))
        if shown.get(m):
            s[m] = agrees(m, category(m, shown[m]), shown[m]["value"], clauses) if reasoning else 0
            if relevant[m]:
                terms.append(s[m])
    cxr = sum(terms) / max(1, len(terms))
    well_formed = not broken
    return {
        "id": t["id"], "reasons": sorted(broken), "answer": answer, "answer_correct": correct, "relevant": relevant, "s": s,
        "eligible": len(terms), "R_CXR": cxr, "R_tool": calls,
        "R": [reward(correct, well_formed, calls, cxr, gated, wrong) for gated in (True, False) for wrong in (True, False)],
    }


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        trajectories = [json.loads(line) for line in f]
    scores, seconds = [], []
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
        began = time.process_time()
        scores = [score(t) for t in trajectories]
        seconds.append(time.process_time() - began)
    print(json.dumps({"seconds": statistics.median(seconds), "scores": scores}))


if __name__ == "__main__":
    main()
