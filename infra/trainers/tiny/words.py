"""Text to tokens and back.

vocabulary.txt holds the spoken tokens, a blank line, then those that are only read. Every
spoken token begins with a character that no word holds inside, so a text that was generated
can be cut into the tokens it was made of in one way: the trainer needs texts, not tokens.
What a user message says beyond the vocabulary is not read.
"""

import re
from pathlib import Path

import numpy as np

import picture

_spoken, _read = (part.split("\n") for part in Path(__file__).with_name("vocabulary.txt").read_text("utf-8").rstrip("\n").split("\n\n"))
SURFACE = [""] + _spoken  # 0 ends a turn
SPOKEN = len(SURFACE)
TURN = SPOKEN  # an assistant turn begins
WORDS = SURFACE + ["<turn>"] + _read
SIZE = len(WORDS)
ID = {w.strip(' "'): i for i, w in enumerate(WORDS) if i}
EXACT = {w: i for i, w in enumerate(SURFACE) if i}
_exact = re.compile("|".join(re.escape(w) for w in sorted(EXACT, key=len, reverse=True)))
_words = re.compile(r"[A-Z]\) [a-z]+|</?[a-z_]+/?>|[A-Za-z_]+|-?\d+\.\d+")


def spoken(text):
    """Token numbers of a text that the policy wrote, or a teacher in its words."""
    out, at = [], 0
    while at < len(text):
        m = _exact.match(text, at)
        if not m:
            raise ValueError(f"the policy has no words for {text[at:at + 40]!r}")
        out.append(EXACT[m.group()])
        at = m.end()
    return out


def heard(text):
    """Token numbers of a user text. An option's letter and first word are one token. Numbers with a point fall into buckets of 0.05
    and are read where they can be a cardiothoracic ratio."""
    out = []
    for w in _words.findall(text):
        if w[-1].isdigit():
            w = f"{round(float(w) * 20) / 20:.2f}"
        i = ID.get(w, ID.get(w.lower()))
        if i is not None:
            out.append(i)
    return out


def text(tokens):
    return "".join(SURFACE[i] for i in tokens)


class Sequence:
    """Messages as the policy reads them: ids, the patches of its pictures in order, and for
    every id whether it is trained. A picture is one token, of id SIZE."""

    def __init__(self, messages, pictures):
        """messages: role, parts (texts and None for a picture), loss, finish."""
        ids, trained, patches, pictures = [], [], [], iter(pictures)
        for m in messages:
            if m["role"] == "system":
                continue  # always the same; this policy is not given it
            if m["role"] == "assistant":
                said = spoken("".join(m["parts"])) + ([0] if m.get("finish", "stop") == "stop" else [])
                ids += [TURN] + said
                trained += [False] + [bool(m.get("loss", True))] * len(said)
                continue
            for part in m["parts"]:
                if part is None:
                    patches.append(next(pictures))
                    new = [SIZE]
                else:
                    new = heard(part)
                ids += new
                trained += [False] * len(new)
        self.ids = np.array(ids, np.int32)
        self.trained = np.array(trained, bool)
        self.patches = np.stack(patches) if patches else np.zeros((0, picture.COUNT, picture.VALUES), np.float32)


def parts(content):
    """Contents of the files of the contract: <image> stands for a picture."""
    out = []
    for i, piece in enumerate(content.split("<image>")):
        out += ([None] if i else []) + ([piece] if piece else [])
    return out
