"""Put measured figures into the model card and print them as a table.

    cxrepro segment eval --pred FOUND --truth TRUTH --json > eval.json
    python3 card.py --eval eval.json --card phantomseg.yaml --model phantomseg.onnx --data WORDS

The figures are those of the program itself, in the card's channel order; the card's
digest is renewed as well.
"""

import argparse
import hashlib
import json
import pathlib


def channels(text):
    """The card's structures in channel order."""
    part = text.split("\nchannels:\n", 1)[1]
    names = []
    for line in part.splitlines():
        if not line.startswith("  - "):
            return names
        names.append(line[4:].strip())
    return names


def card_text(text, rows, data, cases, digest):
    """The card with its digest and its `measured` part renewed."""
    head = text.split("\nmeasured:\n")[0].rstrip("\n")
    lines = [f'sha256: "{digest}"' if l.startswith("sha256:") else l for l in head.splitlines()]
    lines += ["measured:", f"  data: {data}", f"  cases: {cases}", "  rows:"]
    for r in rows:
        lines.append(
            f"    - {{structure: {r['structure']}, dice_mean: {r['dice']:.4f}, "
            f"dice_min: {r['dice_min']:.4f}, iou_mean: {r['iou']:.4f}}}"
        )
    return "\n".join(lines) + "\n"


def markdown(rows):
    """One row a structure."""
    out = ["| structure | Dice, mean | Dice, minimum | IoU, mean | missed | painted though absent |"]
    out.append("| --- | --- | --- | --- | --- | --- |")
    for r in rows:
        out.append(
            f"| {r['structure']} | {r['dice']:.3f} | {r['dice_min']:.3f} | {r['iou']:.3f} "
            f"| {r['missed']} | {r['invented']} |"
        )
    return "\n".join(out)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--eval", required=True, help="what `cxrepro segment eval --json` printed")
    p.add_argument("--card", required=True)
    p.add_argument("--model", required=True)
    p.add_argument("--data", required=True, help="what was measured on, in a few words")
    a = p.parse_args()
    report = json.loads(pathlib.Path(a.eval).read_text())
    found = {r["structure"]: r for r in report["rows"]}
    card = pathlib.Path(a.card)
    text = card.read_text()
    rows = [found[name] for name in channels(text)]
    digest = hashlib.sha256(pathlib.Path(a.model).read_bytes()).hexdigest()
    card.write_text(card_text(text, rows, a.data, report["cases"], digest))
    print(markdown(rows))


if __name__ == "__main__":
    main()
