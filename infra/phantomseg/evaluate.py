"""Measure a PhantomSeg ONNX on held-out phantoms, as it is served.

    python3 evaluate.py --model phantomseg.onnx --data FOLDER [--card FILE] [--table FILE]

Picture and masks lie on the 512 x 512 grid, so the nearest resize of the card is the
identity here. A pixel is in a mask when its logit is greater than 0; nothing else is
done. --card rewrites the `measured` part of a model card, --table writes Markdown.
"""

import argparse
import hashlib
import pathlib
import time

import numpy as np
import onnxruntime

import data
import measure
from export import network_input


def session(path, threads=1):
    """An ONNX Runtime session on the CPU."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def run(model, samples):
    """Dice [cases, classes], false alarms [classes] and the fastest run in ms."""
    rows, alarms, fastest = [], np.zeros(data.CLASSES, int), np.inf
    for i in range(len(samples)):
        x = network_input(samples.image(i))
        began = time.perf_counter()
        logits = model.run(["logits"], {"image": x})[0][0]
        fastest = min(fastest, time.perf_counter() - began)
        found, truth = logits > 0, samples.truth(i)
        rows.append(measure.dice(found, truth))
        alarms += found.any((1, 2)) & ~truth.any((1, 2))
    return np.array(rows), alarms, 1000 * fastest


def card_text(text, structures, table, source, digest):
    """The card with its digest and its `measured` part renewed."""
    head = text[: text.index("measured:")] if "measured:" in text else text.rstrip("\n") + "\n"
    lines = [f'sha256: "{digest}"' if l.startswith("sha256:") else l for l in head.splitlines()]
    lines += ["measured:", f"  data: {source}", f"  cases: {len(table)}", "  rows:"]
    mean, low = np.nanmean(table, 0), np.nanmin(table, 0)
    iou = np.nanmean(table / (2 - table), 0)
    for k, name in enumerate(structures):
        lines.append(
            f"    - {{structure: {name}, dice_mean: {mean[k]:.4f}, dice_min: {low[k]:.4f}, iou_mean: {iou[k]:.4f}}}"
        )
    return "\n".join(lines) + "\n"


def markdown(structures, table, alarms):
    """One row a structure: mean, 5th percentile, minimum, cases, false alarms."""
    lines = ["| structure | mean | 5th percentile | minimum | cases | painted though absent |", "| --- | --- | --- | --- | --- | --- |"]
    for k, name in enumerate(structures):
        column = table[:, k][~np.isnan(table[:, k])]
        lines.append(
            f"| {name} | {column.mean():.3f} | {np.percentile(column, 5):.3f} | {column.min():.3f} "
            f"| {len(column)} | {alarms[k]} |"
        )
    return "\n".join(lines) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--model", required=True)
    p.add_argument("--data", required=True)
    p.add_argument("--card")
    p.add_argument("--table")
    p.add_argument("--scores", help="write the Dice table [cases, classes] as .npy")
    a = p.parse_args()
    samples = data.Samples(a.data)
    table, alarms, fastest = run(session(a.model), samples)
    raw = pathlib.Path(a.model).read_bytes()
    m = samples.meta
    source = f"{len(samples)} held-out phantoms, training mode, seed {m['seed']}, appearance version {m['appearance_version']}"
    text = markdown(samples.structures, table, alarms)
    print(source + "\n" + text)
    print(f"{measure.brief(table, samples.structures)}; fastest inference {fastest:.0f} ms on one thread, {len(raw)} bytes")
    if a.card:
        card = pathlib.Path(a.card)
        card.write_text(card_text(card.read_text(), samples.structures, table, source, hashlib.sha256(raw).hexdigest()))
    if a.table:
        pathlib.Path(a.table).write_text(text)
    if a.scores:
        np.save(a.scores, table)


if __name__ == "__main__":
    main()
