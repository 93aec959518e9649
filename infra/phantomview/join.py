"""Join the four heads of a converted view model into the one output that is served.

    python3 join.py --model sorter4.onnx --out image_sorter.onnx [--outputs a,b,c,d]

Input of the given model: one tensor of [N, 256, 256, 3]; outputs, in the order of the
heads: type 4, rotation 4, inversion 1, lateral flip 1, all probabilities. The result has
batch 1 and the output `heads` of [1, 10]. Both are run on noise and compared.
"""

import argparse
import hashlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

WIDTHS = [4, 4, 1, 1]


def sizes(value):
    """Dimensions of an input or output; 0 where one is open."""
    return [d.dim_value for d in value.type.tensor_type.shape.dim]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--model", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--outputs", help="names of the four outputs in the order of the heads, when the file has another order")
    a = p.parse_args()
    model = onnx.load(a.model)
    known = {v.name: v for v in model.graph.output}
    names = a.outputs.split(",") if a.outputs else list(known)
    stored = {t.name for t in model.graph.initializer}
    inputs = [v for v in model.graph.input if v.name not in stored]
    widths = [sizes(known[n])[-1] for n in names]
    if len(inputs) != 1 or sizes(inputs[0])[1:] != [256, 256, 3] or widths != WIDTHS:
        raise SystemExit(f"{a.model}: want one input [N,256,256,3] and outputs of {WIDTHS}; found {[sizes(v) for v in inputs]} and {dict(zip(names, widths))}; give --outputs in the order type, rotation, inversion, flip")
    given = inputs[0].name
    inputs[0].type.tensor_type.shape.dim[0].dim_value = 1
    model.graph.node.append(helper.make_node("Concat", names, ["heads"], axis=1))
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("heads", TensorProto.FLOAT, [1, sum(WIDTHS)]))
    onnx.checker.check_model(model, full_check=True)
    raw = model.SerializeToString(deterministic=True)
    with open(a.out, "wb") as f:
        f.write(raw)
    before = onnxruntime.InferenceSession(a.model, providers=["CPUExecutionProvider"])
    after = onnxruntime.InferenceSession(a.out, providers=["CPUExecutionProvider"])
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(5):
        x = np.repeat(rng.random((1, 256, 256, 1), np.float32), 3, 3)
        want = np.concatenate([np.reshape(v, (1, -1)) for v in before.run(names, {given: x})], 1)
        got = after.run(["heads"], {given: x})[0]
        worst = max(worst, float(np.abs(want - got).max()))
        if abs(got[0, :4].sum() - 1) > 1e-3 or abs(got[0, 4:8].sum() - 1) > 1e-3 or got.min() < 0 or got.max() > 1:
            raise SystemExit(f"{a.model}: the heads are no probabilities: {got}")
    print(f"{a.out}: {len(raw)} bytes, sha256 {hashlib.sha256(raw).hexdigest()}, input {given}, largest difference {worst:.1e}")


if __name__ == "__main__":
    main()
