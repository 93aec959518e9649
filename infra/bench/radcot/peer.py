"""Judges rationales with Python's standard library: pairs of tags, number of words, and the four
similarity measures, the ratio by difflib. Leaking phrases are not looked for: the peer does less.

usage: peer.py FILE

FILE has one JSON object a line: findings, text, finish. It prints one JSON object.
"""

import difflib
import json
import re
import sys
import time

WORD = re.compile(r"[^\W_]+", re.UNICODE)
PAIRS = re.compile(r"\s*(?:<think>[^<]*</think>\s*<answer>[^<]*</answer>\s*)+")
PAIR = re.compile(r"<think>([^<]*)</think>\s*<answer>([^<]*)</answer>")


def longest_common(a, b):
    row = [0] * (len(b) + 1)
    for w in a:
        diagonal = 0
        for j, v in enumerate(b):
            above = row[j + 1]
            row[j + 1] = diagonal + 1 if w == v else max(above, row[j])
            diagonal = above
    return row[-1]


def similarity(a, b):
    ratio = difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()
    both = set(a) | set(b)
    jaccard = len(set(a) & set(b)) / len(both) if both else 1.0
    lcs = longest_common(a, b)
    rouge = 2 * lcs / (len(a) + len(b)) if lcs else 0.0
    have = {tuple(a[i : i + 4]) for i in range(len(a) - 3)}
    grams = [tuple(b[i : i + 4]) for i in range(len(b) - 3)]
    share = sum(g in have for g in grams) / len(grams) if grams else 0.0
    return ratio, jaccard, rouge, share


def judge(row):
    if row["finish"] != "stop" or not PAIRS.fullmatch(row["text"]):
        return False, 0.0
    best, kept = False, 0.0
    findings = WORD.findall(row["findings"].lower())
    for think, answer in PAIR.findall(row["text"]):
        words = WORD.findall(think.lower())
        measures = similarity(words, findings)
        if answer.strip() and 40 <= len(words) <= 900 and measures[0] <= 0.82:
            best, kept = True, measures[0]
    return best, kept


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    began = time.perf_counter()
    verdicts = [judge(row) for row in rows]
    seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "accepted": [v[0] for v in verdicts], "ratio": [v[1] for v in verdicts]}))


main()
