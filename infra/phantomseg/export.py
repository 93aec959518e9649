"""Write a trained PhantomSeg checkpoint as ONNX and compare it with PyTorch.

    python3 export.py --checkpoint last.pt --out phantomseg.onnx [--data FOLDER]

Batch norm is folded into the convolutions, shapes are fixed at batch 1, and
weights are stored in half precision with a Cast in front of each use (the runtime
folds these at load, so arithmetic stays in float32).
"""

import argparse
import hashlib

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper

import data
from net import CLASSES, GRID, PhantomSeg
from train import MEAN, STD

OPSET = 17
SMALL = 512  # initialisers with fewer values stay in float32


def load(path):
    """The averaged weights of a checkpoint, in evaluation mode, and its step."""
    state = torch.load(path, map_location="cpu")
    net = PhantomSeg(classes=CLASSES)
    net.load_state_dict(state["average"], strict=True)
    return net.eval(), state["step"]


def halve(model):
    """Stores large float initialisers as float16 followed by a Cast."""
    kept, casts = [], []
    for tensor in model.graph.initializer:
        value = numpy_helper.to_array(tensor)
        if tensor.data_type != TensorProto.FLOAT or value.size < SMALL:
            kept.append(tensor)
            continue
        stored = tensor.name + "_half"
        kept.append(numpy_helper.from_array(value.astype(np.float16), stored))
        casts.append(helper.make_node("Cast", [stored], [tensor.name], to=TensorProto.FLOAT))
    nodes = casts + list(model.graph.node)
    del model.graph.initializer[:], model.graph.node[:]
    model.graph.initializer.extend(kept)
    model.graph.node.extend(nodes)


def tidy(model, step):
    """Drops what would differ between machines; checks the graph."""
    for node in model.graph.node:
        node.ClearField("doc_string")
    model.producer_name, model.producer_version = "cxrepro phantomseg", str(step)
    model.doc_string = ""
    onnx.checker.check_model(model, full_check=True)


def network_input(grey):
    """uint8 [512, 512] to float32 [1, 3, 512, 512], as the model card says."""
    x = grey.astype(np.float32) / np.float32(255)
    mean, std = np.float32(MEAN), np.float32(STD)
    return np.stack([(x - mean[c]) / std[c] for c in range(3)])[None]


def compare(net, path, samples):
    """Largest logit difference and disagreeing pixels over 20 pictures."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    worst, other, pixels = 0.0, 0, 0
    for i in range(20):
        grey = samples.image(i) if samples else rng.integers(0, 256, (GRID, GRID), np.uint8)
        x = network_input(grey)
        with torch.no_grad():
            want = net(torch.from_numpy(x)).numpy()
        got = session.run(["logits"], {"image": x})[0]
        worst = max(worst, float(np.abs(got - want).max()))
        other += int(np.count_nonzero((got > 0) != (want > 0)))
        pixels += got.size
    return worst, other, pixels


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--checkpoint", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--data", help="folder of samples to compare on; noise without it")
    a = p.parse_args()
    net, step = load(a.checkpoint)
    torch.onnx.export(
        net, torch.zeros(1, 3, GRID, GRID), a.out, opset_version=OPSET,
        input_names=["image"], output_names=["logits"], do_constant_folding=True,
    )
    model = onnx.load(a.out)
    halve(model)
    tidy(model, step)
    with open(a.out, "wb") as f:
        f.write(model.SerializeToString(deterministic=True))
    raw = open(a.out, "rb").read()
    print(f"{a.out}: {len(raw)} bytes, sha256 {hashlib.sha256(raw).hexdigest()}, step {step}")
    print("operators: " + ", ".join(sorted({n.op_type for n in model.graph.node})))
    worst, other, pixels = compare(net, a.out, data.Samples(a.data) if a.data else None)
    print(f"against PyTorch on 20 pictures: max |logit difference| {worst:.2e}, {other} of {pixels} mask bits differ")


if __name__ == "__main__":
    main()
