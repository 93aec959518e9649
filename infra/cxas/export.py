"""Export the published CXAS checkpoint to ONNX, with a manifest and a model card.

    python3 export.py --checkpoint UNet_ResNet50_default.pth --out FOLDER [--images FOLDER]

The architecture comes from the installed `cxas` package; the weights come from the
user, are loaded strictly, and stay where the user keeps them. Written to FOLDER:

    cxas.onnx         image float32 [1,3,512,512] -> logits float32 [1,159,512,512]
    cxas-masks.onnx   the same network -> masks uint8 [1,159,512,512], 1 where logit > 0
    cxas.yaml, cxas-masks.yaml   model cards with the digests filled in
    manifest.json     digests, versions, shapes, normalisation, label-list digest

With --random SEED in place of --checkpoint the same is done with random weights,
which is enough to test everything around them.
"""

import argparse
import hashlib
import importlib.metadata
import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper

import inputs

OPSET = 17
CLASSES = 159
GRID = 512
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
MODEL = "UNet_ResNet50_default"
CARD = pathlib.Path(__file__).parent / "../../experiments/models/cxas.yaml"
LOGIT_LIMIT = 1e-3
MASK_LIMIT = 1e-5


class Plain(torch.nn.Module):
    """One tensor in, one tensor out: the exporter cannot name dictionary entries."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, image):
        return self.net._forward(image)["logits"]


def architecture():
    """The package's network with 159 classes, without weights of any kind."""
    from cxas.models.UNet.backbone_unet import BackboneUNet

    return BackboneUNet(MODEL, CLASSES)


def load_checkpoint(net, path):
    """Loads the entry `model` strictly; a `module.` prefix is taken off."""
    stored = torch.load(path, map_location="cpu")
    if "model" not in stored:
        sys.exit(f"{path}: no entry 'model' (found {sorted(stored)[:5]}); is this the published checkpoint?")
    state = {k[len("module."):] if k.startswith("module.") else k: v for k, v in stored["model"].items()}
    net.load_state_dict(state, strict=True)  # a partial load would segment noise without a word


def randomise(net, seed):
    """Random weights whose masks are not trivial: each class is set on about half the picture.

    Batch-norm statistics are taken from a noise picture, then the output bias of each
    class is moved to minus the median of its logits.
    """
    torch.manual_seed(seed)
    for m in net.modules():
        if isinstance(m, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(m.weight)
    picture = torch.from_numpy(inputs.network_input(inputs.smooth_picture(seed, GRID, GRID), MEAN, STD))
    with torch.no_grad():
        net.train()
        for m in net.modules():
            if isinstance(m, torch.nn.BatchNorm2d):
                m.momentum = 1.0
        net._forward(picture)
        net.eval()
        logits = net._forward(picture)["logits"]
        last = [m for m in net.head.out.modules() if isinstance(m, torch.nn.Conv2d)][-1]
        last.bias -= logits.flatten(2).median(2).values[0]


def export(net, path):
    """Writes the logits graph with every shape fixed.

    The wrapper is put into evaluation mode first: the exporter restores the mode it
    found, and a new module is born in training mode.
    """
    torch.onnx.export(
        Plain(net).eval(), torch.zeros(1, 3, GRID, GRID), str(path), opset_version=OPSET,
        input_names=["image"], output_names=["logits"], do_constant_folding=True,
    )
    model = onnx.load(str(path))
    onnx.checker.check_model(model)
    shape = [d.dim_value for d in model.graph.output[0].type.tensor_type.shape.dim]
    if shape != [1, CLASSES, GRID, GRID]:
        sys.exit(f"{path}: output shape {shape}, [1, {CLASSES}, {GRID}, {GRID}] expected")
    return model


def with_masks(model, path):
    """Appends Greater and Cast; the logits stay inside, a quarter of the bytes leaves."""
    graph = model.graph
    graph.initializer.append(helper.make_tensor("mask_threshold", TensorProto.FLOAT, [], [0.0]))
    graph.node.append(helper.make_node("Greater", ["logits", "mask_threshold"], ["mask_bool"]))
    graph.node.append(helper.make_node("Cast", ["mask_bool"], ["masks"], to=TensorProto.UINT8))
    del graph.output[:]
    graph.output.append(helper.make_tensor_value_info("masks", TensorProto.UINT8, [1, CLASSES, GRID, GRID]))
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def verify(net, logits_path, masks_path, pictures):
    """Compares PyTorch with ONNX Runtime on the CPU; returns the figures."""
    run = onnxruntime.InferenceSession(str(logits_path), providers=["CPUExecutionProvider"])
    run_masks = onnxruntime.InferenceSession(str(masks_path), providers=["CPUExecutionProvider"])
    worst, other, far, unequal, count = 0.0, np.zeros(CLASSES, np.int64), 0, 0, 0
    for picture in pictures:
        x = inputs.network_input(inputs.nearest(picture, GRID, GRID), MEAN, STD)
        with torch.no_grad():
            want = net._forward(torch.from_numpy(x))["logits"].numpy()
        got = run.run(["logits"], {"image": x})[0]
        masks = run_masks.run(["masks"], {"image": x})[0]
        worst = max(worst, float(np.abs(got - want).max()))
        differs = (got > 0) != (want > 0)
        other += differs.sum((0, 2, 3))
        far += int(np.count_nonzero(differs & (np.abs(want) >= LOGIT_LIMIT)))
        unequal += int(np.count_nonzero(masks != (got > 0)))
        count += 1
    share = float(other.max()) / (count * GRID * GRID)
    return {
        "pictures": count, "max_logit_difference": worst, "mask_bits_differing": int(other.sum()),
        "worst_class_share": share, "differing_far_from_zero": far, "masks_graph_bits_unequal": unequal,
        "passed": worst < LOGIT_LIMIT and share < MASK_LIMIT and far == 0 and unequal == 0,
    }


def digest(path):
    """SHA-256 of a file, in hex."""
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def label_names():
    """The package's 159 class names in channel order, checked against our card."""
    from cxas.label_mapper import id2label_dict

    names = [id2label_dict[str(i)] for i in range(CLASSES)]
    if names != inputs.card_channels(CARD):
        sys.exit(f"the cxas package's class names differ from {CARD}; the card's channel list must be checked")
    return names


def write_cards(out):
    """Fills the digests into copies of the committed card."""
    text = CARD.read_text()
    logits = text.replace("0" * 64, digest(out / "cxas.onnx"))
    (out / "cxas.yaml").write_text(logits)
    masks = text.replace("0" * 64, digest(out / "cxas-masks.onnx")).replace("file: cxas.onnx", "file: cxas-masks.onnx")
    masks = masks.replace("name: cxas\n", "name: cxas-masks\n").replace("name: logits\n", "name: masks\n")
    masks = masks.replace("kind: logits", "kind: masks")
    (out / "cxas-masks.yaml").write_text(masks)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    weights = p.add_mutually_exclusive_group(required=True)
    weights.add_argument("--checkpoint", help="the published UNet_ResNet50_default.pth")
    weights.add_argument("--random", type=int, metavar="SEED", help="random weights instead, for tests")
    p.add_argument("--out", required=True)
    p.add_argument("--images", help="folder of JPEG or PNG radiographs to verify on (20 are taken)")
    p.add_argument("--pictures", type=int, default=20)
    a = p.parse_args()
    out = pathlib.Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    names = label_names()
    net = architecture()
    if a.checkpoint:
        load_checkpoint(net, a.checkpoint)
    else:
        randomise(net, a.random)
    net.eval()
    with_masks(export(net, out / "cxas.onnx"), out / "cxas-masks.onnx")
    pictures = inputs.pictures(a.images, a.pictures)
    figures = verify(net, out / "cxas.onnx", out / "cxas-masks.onnx", pictures)
    manifest = {
        "model": MODEL, "weights": a.checkpoint and pathlib.Path(a.checkpoint).name, "random_seed": a.random,
        "sha256": {
            "checkpoint": a.checkpoint and digest(a.checkpoint),
            "cxas.onnx": digest(out / "cxas.onnx"), "cxas-masks.onnx": digest(out / "cxas-masks.onnx"),
        },
        "opset": OPSET,
        "versions": {
            "cxas": importlib.metadata.version("cxas"), "torch": torch.__version__,
            "onnx": onnx.__version__, "onnxruntime": onnxruntime.__version__,
        },
        "input": {"name": "image", "shape": [1, 3, GRID, GRID], "mean": MEAN, "std": STD, "divisor": 255, "resize": "nearest"},
        "outputs": {"cxas.onnx": "logits", "cxas-masks.onnx": "masks"},
        "output_shape": [1, CLASSES, GRID, GRID], "threshold": 0,
        "labels_sha256": hashlib.sha256("\n".join(names).encode()).hexdigest(),
        "verification": figures,
    }
    (out / "manifest.json").write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n")
    print(json.dumps(figures, indent=2))
    if not figures["passed"]:
        sys.exit("PyTorch and ONNX Runtime differ by more than the limits: no cards written, do not use these files")
    write_cards(out)


if __name__ == "__main__":
    main()
