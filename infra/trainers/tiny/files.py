"""Files of the contract (docs/trainer-contract.md): reading, checkpoints, events."""

import hashlib
import json
import os
import shutil
import struct
from pathlib import Path

import numpy as np

WEIGHTS, OPTIMIZER, STATE, MANIFEST = "model.safetensors", "optimizer.safetensors", "trainer_state.json", "MANIFEST.json"


class Contradiction(Exception):
    """The inputs contradict what is there."""


class Unreadable(Exception):
    """A file of the contract that cannot be read."""


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def read_json(path):
    try:
        return json.loads(Path(path).read_text("utf-8"))
    except ValueError as e:
        raise Unreadable(f"{path}: {e}") from None


def read_lines(path):
    out = []
    for n, line in enumerate(Path(path).read_text("utf-8").splitlines(), 1):
        try:
            out.append(json.loads(line))
        except ValueError as e:
            raise Unreadable(f"{path}: line {n}: {e}") from None
    return out


def encode(value):
    return (json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n").encode()


def pack(arrays):
    """Safetensors: names in order, float32, no padding but that of the header."""
    head, at = {}, 0
    for name in sorted(arrays):
        size = arrays[name].size * 4
        head[name] = {"dtype": "F32", "shape": list(arrays[name].shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(arrays[n].astype("<f4").tobytes() for n in sorted(arrays))


def unpack(data):
    size = struct.unpack("<Q", data[:8])[0]
    out = {}
    for name, e in json.loads(data[8:8 + size]).items():
        lo, hi = e["data_offsets"]
        out[name] = np.frombuffer(data[8 + size + lo:8 + size + hi], "<f4").reshape(e["shape"]).copy()
    return out


class Checkpoint:
    """A whole checkpoint: its weights, moments and state are those of its manifest."""

    def __init__(self, folder):
        self.folder = Path(folder)
        manifest = read_json(self.folder / MANIFEST)
        data = {}
        for name, want in manifest["files"].items():
            data[name] = (self.folder / name).read_bytes()
            if len(data[name]) != want["size"] or digest(data[name]) != "sha256:" + want["sha256"]:
                raise Unreadable(f"{self.folder / name}: not as its manifest says")
        self.state = json.loads(data[STATE])
        if self.folder.name != f"checkpoint-{self.state['global_step']}":
            raise Unreadable(f"{self.folder}: holds step {self.state['global_step']}")
        self.digest = digest(data[WEIGHTS])
        self.weights, self.moments = unpack(data[WEIGHTS]), unpack(data[OPTIMIZER])


def save(folder, weights, moments, state):
    """Write a checkpoint under another name, then rename it; returns the weights digest."""
    folder = Path(folder)
    model = pack(weights)
    state = dict(state, weights_digest=digest(model))
    data = {WEIGHTS: model, OPTIMIZER: pack(moments), STATE: encode(state)}
    if (folder / MANIFEST).exists():
        if Checkpoint(folder).digest != digest(model):
            raise Contradiction(f"{folder} is there with other weights")
        return digest(model)
    for left in folder.parent.glob(f".{folder.name}.tmp-*"):
        shutil.rmtree(left)
    tmp = folder.parent / f".{folder.name}.tmp-{os.getpid()}"
    tmp.mkdir(parents=True)
    data[MANIFEST] = encode({"schema": 1, "step": state["global_step"], "weights_digest": digest(model), "files": {
        n: {"sha256": hashlib.sha256(b).hexdigest(), "size": len(b)} for n, b in data.items()}})
    for name, body in data.items():
        with open(tmp / name, "wb") as f:
            f.write(body)
            f.flush()
            os.fsync(f.fileno())
    tmp.rename(folder)
    return digest(model)


def append(path, event):
    """Append one line; a torn line of a killed attempt is ended first."""
    with open(path, "a+b") as f:
        if f.seek(0, 2):
            f.seek(-1, 2)
            if f.read(1) != b"\n":
                f.write(b"\n")
        f.write(encode(event))


class Plan:
    """plan.json and schedule.jsonl of a run."""

    def __init__(self, run, stage, known):
        self.run = Path(run)
        self.plan = read_json(self.run / "plan.json")
        if self.plan["schema"] != 1 or self.plan["stage"] != stage:
            raise Contradiction(f"plan.json: schema {self.plan['schema']}, stage {self.plan['stage']!r}; this verb does stage {stage!r} of schema 1")
        self.set = dict(known, **self.plan.get("hyperparameters") or {})
        if set(self.set) != set(known):
            raise Contradiction(f"plan.json: unknown hyperparameters {sorted(set(self.set) - set(known))}; known: {sorted(known)}")
        self.schedule = {}
        for line in read_lines(self.run / "schedule.jsonl"):
            self.schedule[line["step"]] = line["items"]

    def begin(self, start):
        """The step that a checkpoint stands at in this run: 0 when it is the base."""
        if start.state["run"] == self.plan["run"]:
            return start.state["global_step"], start.state["optimizer_step"], start.moments
        if start.digest != self.plan["base"]:
            raise Contradiction(f"{start.folder} is neither of run {self.plan['run']} nor its base {self.plan['base']}")
        return self.plan["from_step"], 0, {}

    def checkpoint(self, step):
        return self.run / "checkpoints" / f"checkpoint-{step}"

    def state(self, step, optimizer_step, parent):
        return {"global_step": step, "max_steps": self.plan["to_step"], "optimizer_step": optimizer_step,
                "stage": self.plan["stage"], "run": self.plan["run"], "parent": parent}
