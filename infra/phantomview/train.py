"""Train PhantomView on view samples; resumes from its last checkpoint.

    python3 train.py --data FOLDER --held-out FOLDER --out FOLDER --steps N
"""

import argparse
import copy
import math
import os
import pathlib
import time

import numpy as np
import torch
from torch.nn import functional as F

import data
from net import WIDTHS, PhantomView


def epoch(labels, seed, number, halve):
    """Order of an epoch: all pictures; with halve every PA and AP one and half of the others,
    another half each time, since PA against AP is the hardest thing to tell.
    """
    rng = np.random.default_rng((seed, 1, number))
    if not halve:
        return rng.permutation(len(labels))
    frontal, others = np.flatnonzero(labels[:, 0] < 2), np.flatnonzero(labels[:, 0] >= 2)
    return rng.permutation(np.concatenate([frontal, rng.permutation(others)[: len(others) // 2]]))


def batch(images, labels, size, seed, step, halve=False):
    """Batch of a step: order and changes depend on (seed, step) alone."""
    others = int((labels[:, 0] >= 2).sum()) if halve else 0
    per_epoch = (len(labels) - others + others // 2) // size
    pick = epoch(labels, seed, step // per_epoch, halve)[(step % per_epoch) * size :][:size]
    rng = np.random.default_rng((seed, 2, step))
    pairs = [data.moved(images[i], labels[i], rng) for i in pick]
    x = np.stack([data.toned(im, rng) for im, _ in pairs])
    return torch.from_numpy(x)[:, None], torch.from_numpy(np.stack([l for _, l in pairs]).astype(np.int64))


def loss_of(logits, y, weight):
    """Sum of the four heads' cross-entropies, the type's with a weight."""
    kind = F.cross_entropy(logits[:, :4], y[:, 0], label_smoothing=0.02)
    turn = F.cross_entropy(logits[:, 4:8], y[:, 1], label_smoothing=0.02)
    rest = F.binary_cross_entropy_with_logits(logits[:, 8:], y[:, 2:4].float())
    return weight * kind + turn + 2 * rest


def rate(step, steps, peak):
    """One cycle: 5 % linear warm-up, then cosine to 1 % of the peak."""
    warm = 0.05 * steps
    if step < warm:
        return peak * (step + 1) / warm
    return peak * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * (step - warm) / (steps - warm))))


def shares(net, images, labels):
    """Share of right readings per head."""
    net.eval()
    right = np.zeros(4)
    with torch.no_grad():
        for i in range(0, len(images), 50):
            out = net.logits(torch.from_numpy(images[i : i + 50].astype(np.float32) / 255)[:, None])
            got = torch.stack([out[:, :4].argmax(1), out[:, 4:8].argmax(1), (out[:, 8] > 0).long(), (out[:, 9] > 0).long()], 1)
            right += (got.numpy() == labels[i : i + 50, :4]).sum(0)
    return right / len(images)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--data", required=True)
    p.add_argument("--count", type=int, help="use the first COUNT samples, also while more are being written")
    p.add_argument("--held-out", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--steps", type=int, default=2000)
    p.add_argument("--stop", type=int, help="end after this step; --steps still shapes the learning rate")
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--rate", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--type-weight", type=float, default=1.0)
    p.add_argument("--halve-others", action="store_true", help="show half of what is neither PA nor AP in an epoch")
    p.add_argument("--widths", default=",".join(map(str, WIDTHS)), help="channels of the three levels; a resumed training has its own")
    a = p.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(a.seed)
    out = pathlib.Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    images, labels = data.load(a.data, a.count)
    held = data.load(a.held_out)
    last = out / "last.pt"
    state = torch.load(last) if last.exists() else None
    widths = tuple(state.get("widths", WIDTHS)) if state else tuple(int(w) for w in a.widths.split(","))
    net = PhantomView(widths)
    opt = torch.optim.AdamW(net.parameters(), weight_decay=0.02)
    start = 0
    average = copy.deepcopy(net)
    if state:
        start = state["step"]
        net.load_state_dict(state["net"])
        opt.load_state_dict(state["opt"])
        average.load_state_dict(state["average"])
    print(f"{sum(p.numel() for p in net.parameters())} parameters, {len(images)} pictures, from step {start}", flush=True)
    end, began, shown = min(a.steps, a.stop or a.steps), time.time(), 0.0
    for step in range(start, end):
        x, y = batch(images, labels, a.batch, a.seed, step, a.halve_others)
        for group in opt.param_groups:
            group["lr"] = rate(step, a.steps, a.rate)
        net.train()
        loss = loss_of(net.logits(x), y, a.type_weight)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
        keep = min(0.99, (1 + step) / (10 + step))
        with torch.no_grad():
            mine, theirs = average.state_dict(), net.state_dict()
            for name, value in mine.items():
                if value.dtype.is_floating_point:
                    value.mul_(keep).add_(theirs[name], alpha=1 - keep)
                else:
                    value.copy_(theirs[name])
        shown = 0.97 * shown + 0.03 * loss.item() if step > start else loss.item()
        done = step + 1
        if done % 50 == 0:
            each = (time.time() - began) / (done - start)
            print(f"step {done}/{a.steps} loss {shown:.4f} {each:.3f} s/step, CPU {time.process_time():.0f} s", flush=True)
        if done % 200 == 0 or done == end:
            torch.save({"step": done, "widths": widths, "net": net.state_dict(), "average": average.state_dict(), "opt": opt.state_dict()}, str(last) + ".part")
            os.replace(str(last) + ".part", last)
            print("  held-out, type turn inverted mirrored: " + " ".join(f"{v:.4f}" for v in shares(average, *held)), flush=True)


if __name__ == "__main__":
    main()
