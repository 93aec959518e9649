"""Write a trained PhantomView checkpoint as ONNX and compare it with PyTorch.

    python3 export.py --checkpoint last.pt --out phantomview.onnx [--data FOLDER]

Batch norm is folded into the convolutions, the batch is fixed at 1, and large weights are
stored in half precision with a Cast in front of each use (the runtime folds these at load,
so arithmetic stays in float32).
"""

import argparse
import hashlib

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper

import data
from net import SIDE, WIDTHS, PhantomView

OPSET = 17
SMALL = 512  # initialisers with fewer values stay in float32


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


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--checkpoint", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--data", help="folder of samples to compare on; noise without it")
    a = p.parse_args()
    state = torch.load(a.checkpoint, map_location="cpu")
    net = PhantomView(tuple(state.get("widths", WIDTHS)))
    net.load_state_dict(state["average"], strict=True)
    net.eval()
    torch.onnx.export(
        net, torch.zeros(1, SIDE, SIDE, 3), a.out, opset_version=OPSET,
        input_names=["image"], output_names=["heads"], do_constant_folding=True,
    )
    model = onnx.load(a.out)
    halve(model)
    for node in model.graph.node:  # nothing that differs between machines
        node.ClearField("doc_string")
    model.producer_name, model.producer_version, model.doc_string = "cxrepro phantomview", str(state["step"]), ""
    onnx.checker.check_model(model, full_check=True)
    raw = model.SerializeToString(deterministic=True)
    with open(a.out, "wb") as f:
        f.write(raw)
    print(f"{a.out}: {len(raw)} bytes, sha256 {hashlib.sha256(raw).hexdigest()}, step {state['step']}")
    session = onnxruntime.InferenceSession(a.out, providers=["CPUExecutionProvider"])
    images = data.load(a.data)[0][:40] if a.data else np.random.default_rng(0).integers(0, 256, (40, SIDE, SIDE), np.uint8)
    worst = 0.0
    for image in images:
        x = np.repeat(image.astype(np.float32)[None, :, :, None] / np.float32(255), 3, 3)
        with torch.no_grad():
            want = net(torch.from_numpy(x)).numpy()
        worst = max(worst, float(np.abs(session.run(["heads"], {"image": x})[0] - want).max()))
    print(f"against PyTorch on {len(images)} pictures: largest difference of a probability {worst:.1e}")


if __name__ == "__main__":
    main()
