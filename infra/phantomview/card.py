"""Put measured figures and the digest into the view card.

    cxrepro xragent view eval --json > eval.json
    python3 card.py --eval eval.json --card phantomview.yaml --model phantomview.onnx
"""

import argparse
import hashlib
import json
import pathlib


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--eval", help="what `cxrepro xragent view eval --json` printed; without it only the digest is renewed")
    p.add_argument("--card", required=True)
    p.add_argument("--model", required=True)
    a = p.parse_args()
    card = pathlib.Path(a.card)
    head, _, measured = card.read_text().partition("\nmeasured:\n")
    digest = hashlib.sha256(pathlib.Path(a.model).read_bytes()).hexdigest()
    lines = [f'sha256: "{digest}"' if l.startswith("sha256:") else l for l in head.rstrip("\n").splitlines()]
    if a.eval:
        report = json.loads(pathlib.Path(a.eval).read_text())
        lines += ["measured:", f"  data: {report['data']}", f"  cases: {report['cases']}", "  heads:"]
        for h in report["heads"]:
            rows = ", ".join("[" + ", ".join(str(n) for n in row) + "]" for row in h["confusion"])
            lines.append(f"    - {{name: {h['name']}, right: {h['right']}, confusion: [{rows}]}}")
            print(f"| {h['name']} | {h['right']:.4f} |")
    card.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
