"""Compare `cxrepro segment` with the published `cxas` package, picture by picture.

    python3 parity.py --export FOLDER --random SEED --cxrepro BINARY --work FOLDER [--images FOLDER]

FOLDER of --export is what export.py wrote with the same weights. Three comparisons:

1. input: probe models, each a row of thresholds, are served to cxrepro through model
   cards with the CXAS preprocessing. Their masks tell, for every pixel, between which
   neighbouring float32 numbers cxrepro's input lies; the package's own tensor must give
   the very same bits, for which all three channels must be equal to the last bit.
2. masks on the 512 x 512 grid: the package's thresholded output against cxrepro's.
   Where both decode a picture alike, a bit may differ only where PyTorch and ONNX
   Runtime round a logit near 0 apart.
3. masks at the picture's own size: the package's resized masks against cxrepro's native
   view (`cxrepro segment eval`); the resize is compared on cxrepro's own grid masks, so
   that every bit must be equal.
"""

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper
from PIL import Image

import export
import inputs

PROBED = 128  # thresholds of one probe model
EVERY = 12  # of the 159 classes, this many apart are compared at native size


def write_pictures(folder, given):
    """PNG and JPEG files that both sides read, each decoded alike by every decoder."""
    folder.mkdir(parents=True, exist_ok=True)
    sizes = [(2544, 3056), (3056, 2544), (2021, 2021), (1024, 1024), (512, 512), (511, 513), (700, 1100)]
    files = []
    for i, (w, h) in enumerate(sizes):
        path = folder / f"smooth-{w}x{h}.png"
        Image.fromarray(inputs.smooth_picture(300 + i, w, h)).save(path)
        files.append(path)
    ramp = np.tile(np.arange(export.GRID) // 2, (export.GRID, 1)).astype(np.uint8)
    path = folder / "all-levels.png"
    Image.fromarray(ramp).save(path)
    files.append(path)
    if given:
        files += sorted(p for p in pathlib.Path(given).rglob("*") if p.suffix.lower() in (".png", ".jpg"))[:4]
    return files


def segment(binary, card, out, files):
    """Runs cxrepro and returns the case files by picture name."""
    out.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [binary, "segment", "--model", str(card), "--out", str(out), "--no-overlay", *map(str, files)],
        capture_output=True, text=True,
    )
    if done.returncode:
        sys.exit(f"cxrepro segment failed ({done.returncode}): {done.stderr[-2000:]}")
    return {f.stem: json.loads((out / f"{f.stem}.json").read_text()) for f in files}


def mask(case, name):
    """A case file's mask as bool [H, W]; a structure that is not listed is empty."""
    height, width = case["size"]
    counts = case["masks"].get(name)
    if counts is None:
        return np.zeros((height, width), bool)
    values = np.arange(len(counts)) % 2 == 1
    return np.repeat(values, counts).reshape(width, height).T


def column_counts(plane):
    """Uncompressed COCO counts of bool [H, W]: column by column, unset first."""
    line = plane.T.ravel()
    change = np.flatnonzero(line[1:] != line[:-1]) + 1
    counts = np.diff(np.concatenate([[0], change, [line.size]]))
    return ([0] if line[0] else []) + counts.tolist()


def probe_card(folder, name, channel, thresholds, names):
    """A model whose mask k is input[channel] > thresholds[k], and its card."""
    n = len(thresholds)
    size = export.GRID
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["image", "channel"], ["plane"], axis=1),
            helper.make_node("Greater", ["plane", "thresholds"], ["over"]),
            helper.make_node("Cast", ["over"], ["masks"], to=TensorProto.UINT8),
        ],
        name,
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, size, size])],
        [helper.make_tensor_value_info("masks", TensorProto.UINT8, [1, n, size, size])],
        [
            helper.make_tensor("channel", TensorProto.INT64, [1], [channel]),
            helper.make_tensor("thresholds", TensorProto.FLOAT, [1, n, 1, 1], thresholds),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", export.OPSET)], ir_version=8)
    raw = model.SerializeToString()
    (folder / f"{name}.onnx").write_bytes(raw)
    text = export.CARD.read_text()
    head = text[: text.index("\nchannels:\n") + 1].replace("0" * 64, hashlib.sha256(raw).hexdigest())
    head = head.replace("file: cxas.onnx", f"file: {name}.onnx").replace("name: cxas\n", f"name: {name}\n")
    head = head.replace("name: logits\n", "name: masks\n").replace("kind: logits", "kind: masks")
    card = folder / f"{name}.yaml"
    card.write_text(head + "channels:\n" + "".join(f"  - {c}\n" for c in names[:n]))
    return card


def compare_input(binary, work, files, tensors, names):
    """Bits told apart by the probes, and how many are unequal."""
    folder = work / "probes"
    folder.mkdir(parents=True, exist_ok=True)
    levels = np.arange(256, dtype=np.float32) / np.float32(255)
    bits = unequal = 0
    for channel in range(3):
        value = (levels - np.float32(export.MEAN[channel])) / np.float32(export.STD[channel])
        below = np.nextafter(value, np.float32(-np.inf), dtype=np.float32)
        all_thresholds = np.sort(np.concatenate([below, value]))
        for first in range(0, len(all_thresholds), PROBED):
            thresholds = all_thresholds[first : first + PROBED]
            card = probe_card(folder, f"probe-{channel}-{first}", channel, thresholds, names)
            cases = segment(binary, card, folder / card.stem, files)
            for f in files:
                plane = tensors[f.stem][channel]
                for k, t in enumerate(thresholds):
                    got = mask(cases[f.stem], names[k])
                    unequal += int(np.count_nonzero(got != (plane > t)))
                    bits += got.size
    return {"bits": bits, "unequal": unequal}


def compare_grid(cases, predictions, names, sampled, work):
    """Per picture: grey levels that differ after decoding, and mask bits that differ.

    PNG decodes alike everywhere. JPEG decoders may round differently, by one level; a
    network with random weights turns that into mask bits, so the two kinds are told apart.
    """
    rows = []
    for stem, (near, masks, _) in predictions.items():
        served = np.asarray(Image.open(work / "masks" / f"{stem}.png")).astype(int)
        levels = np.abs(served - sampled[stem])
        unequal = far = 0
        for c, name in enumerate(names):
            differs = mask(cases[stem], name) != masks[c]
            unequal += int(np.count_nonzero(differs))
            far += int(np.count_nonzero(differs & ~near[c]))
        rows.append({
            "picture": stem, "levels_differing": int(np.count_nonzero(levels)), "largest_level_difference": int(levels.max()),
            "mask_bits": int(masks.size), "unequal": unequal, "unequal_far_from_zero": far,
        })
    return rows


def compare_native(binary, work, cases, predictions, names, resize):
    """Pixels compared at native size and how many are unequal."""
    chosen = names[::EVERY]
    folder = work / "native"
    folder.mkdir(parents=True, exist_ok=True)
    pixels = 0
    for stem, (_, _, size) in predictions.items():
        grid = torch.from_numpy(np.stack([mask(cases[stem], n) for n in chosen]))
        native = resize(None, grid, size)
        pixels += native.size
        case = {"format": "chexstruct-case-1", "id": stem, "size": list(size),
                "masks": {n: column_counts(native[k]) for k, n in enumerate(chosen) if native[k].any()}}
        (folder / f"{stem}.json").write_text(json.dumps(case))
    done = subprocess.run([binary, "segment", "eval", "--pred", str(work / "masks"), "--truth", str(folder), "--json"],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"cxrepro segment eval failed ({done.returncode}): {done.stderr[-2000:]}")
    rows = [r for r in json.loads(done.stdout)["rows"] if r["structure"] in chosen]
    return {"pixels": pixels, "structures": len(rows), "lowest_dice": min(r["dice_min"] for r in rows)}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--export", required=True, help="folder written by export.py with the same weights")
    weights = p.add_mutually_exclusive_group(required=True)
    weights.add_argument("--checkpoint")
    weights.add_argument("--random", type=int, metavar="SEED")
    p.add_argument("--cxrepro", required=True, help="the cxrepro binary")
    p.add_argument("--work", required=True, help="folder for pictures and results")
    p.add_argument("--images", help="folder with further PNG or JPEG pictures (4 are taken)")
    p.add_argument("--threads", type=int, default=1)
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    work = pathlib.Path(a.work)
    names = export.label_names()
    net = export.architecture()
    if a.checkpoint:
        export.load_checkpoint(net, a.checkpoint)
    else:
        export.randomise(net, a.random)
    net.eval()
    from cxas.file_io import FileLoader
    from cxas.segmentor import CXAS

    loader = FileLoader("cpu")
    files = write_pictures(work / "pictures", a.images)
    loaded = {f.stem: loader.load_image(str(f)) for f in files}
    sampled = {s: inputs.nearest(d["orig_data"][0], export.GRID, export.GRID).astype(int) for s, d in loaded.items()}
    report = {"pictures": [f.name for f in files]}
    probed = [files[0], files[5], files[7]]
    report["input"] = compare_input(a.cxrepro, work, probed, {s: d["data"][0].numpy() for s, d in loaded.items()}, names)
    print("input:", report["input"], file=sys.stderr, flush=True)
    predictions = {}
    for stem, given in loaded.items():
        with torch.no_grad():
            out = net(given)
        near = out["logits"][0].abs().numpy() < export.LOGIT_LIMIT
        predictions[stem] = (near, out["segmentation_preds"][0].numpy(), given["file_size"])
    cases = segment(a.cxrepro, pathlib.Path(a.export) / "cxas.yaml", work / "masks", files)
    report["grid"] = compare_grid(cases, predictions, names, sampled, work)
    report["native"] = compare_native(a.cxrepro, work, cases, predictions, names, CXAS.resize_to_numpy)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
