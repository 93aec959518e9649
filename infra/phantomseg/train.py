"""Train PhantomSeg on phantom samples; resumes from its last checkpoint.

    python3 train.py --data FOLDER --held-out FOLDER --out FOLDER --steps N
"""

import argparse
import copy
import json
import math
import os
import pathlib
import queue
import threading
import time

import numpy as np
import torch

import data
import measure
from net import PhantomSeg

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


class Overlap(torch.autograd.Function):
    """2 x mean cross-entropy + mean (1 - soft Dice), with its gradient in one go.

    logits float32 [N, C, H, W]; counts uint8 0..16 of the same shape. Dice is
    taken per structure over the whole batch, so absent structures only cost
    where they are painted.
    """

    @staticmethod
    def forward(ctx, logits, counts):
        n, c, h, w = logits.shape
        truth = counts.to(torch.float32).mul_(1 / 16)
        p = torch.sigmoid(logits)
        both = (p * truth).sum((0, 2, 3)) * 2 + 16
        total = p.sum((0, 2, 3)) + truth.sum((0, 2, 3)) + 16
        dice = both / total
        # d dice / dp = (2 t total - both) / total^2
        a = (2 / total / c).view(1, c, 1, 1)
        b = (both / total**2 / c).view(1, c, 1, 1)
        scale = 2.0 / (n * c * h * w)
        slope = torch.addcmul(-b, truth, a).mul_(p).mul_(1 - p)
        grad = p.sub_(truth).mul_(scale).sub_(slope)
        ctx.save_for_backward(grad)
        return (1 - dice).mean()

    @staticmethod
    def backward(ctx, upstream):
        (grad,) = ctx.saved_tensors
        return grad * upstream, None


def batches(samples, batch, start, steps, seed, served):
    """Yields (images float32, counts uint8) for steps start..steps-1.

    The order and the augmentation of step k depend on (seed, k) alone.
    """
    per_epoch = len(samples) // batch
    order, epoch = None, -1
    for step in range(start, steps):
        if step // per_epoch != epoch:
            epoch = step // per_epoch
            order = np.arange(len(samples))
            if epoch:  # the first pass follows the generator, which may still run
                order = np.random.default_rng((seed, 1, epoch)).permutation(order)
        rng = np.random.default_rng((seed, 2, step))
        at = (step % per_epoch) * batch
        pick = order[at : at + batch]
        images = np.stack([picture(samples.image(i), rng, served) for i in pick])
        counts = np.stack([samples.shares(i) for i in pick])
        yield normalise(images), torch.from_numpy(counts)


def picture(image, rng, served):
    """One augmented picture at the network's first resolution, float32 [256, 256]."""
    if served:
        image = data.as_served(image, rng)
    return data.photometric(data.halved(image), rng)


def normalise(images):
    """Grey 0..255 [N, H, W] to the network's first channel, float32 [N, 1, H, W]."""
    x = torch.from_numpy(images).to(torch.float32)[:, None]
    return x.div_(255).sub_(MEAN[0]).div_(STD[0])


def ahead(source, depth=4):
    """Runs an iterator in a thread, a few items ahead."""
    waiting = queue.Queue(depth)

    def fill():
        try:
            for item in source:
                waiting.put(item)
            waiting.put(None)
        except Exception as error:  # raised again where the items are used
            waiting.put(error)

    threading.Thread(target=fill, daemon=True).start()
    while (item := waiting.get()) is not None:
        if isinstance(item, Exception):
            raise item
        yield item


def rate(step, steps, peak):
    """One cycle: 4 % linear warm-up, then cosine to 1 % of the peak."""
    warm = 0.04 * steps
    if step < warm:
        return peak * (step + 1) / warm
    x = (step - warm) / (steps - warm)
    return peak * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * x)))


def follow(average, net, step):
    """Exponential moving average of weights and batch-norm statistics."""
    keep = min(0.998, (1 + step) / (10 + step))
    with torch.no_grad():
        mine, theirs = average.state_dict(), net.state_dict()
        for name, value in mine.items():
            if value.dtype.is_floating_point:
                value.mul_(keep).add_(theirs[name], alpha=1 - keep)
            else:
                value.copy_(theirs[name])


def save(path, **state):
    """Writes a checkpoint beside its place, then moves it there."""
    torch.save(state, str(path) + ".part")
    os.replace(str(path) + ".part", path)


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--data", required=True)
    p.add_argument("--count", type=int, help="samples in --data, when they are still being written")
    p.add_argument("--held-out", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--steps", type=int, default=5000)
    p.add_argument("--stop", type=int, help="end after this step; --steps still shapes the learning rate")
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--rate", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--served", action="store_true", help="move pictures as the served resize does")
    return p.parse_args()


def main():
    a = arguments()
    torch.set_num_threads(a.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(a.seed)
    out = pathlib.Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    samples, held = data.Samples(a.data, a.count), data.Samples(a.held_out)
    net = PhantomSeg(classes=data.CLASSES).to(memory_format=torch.channels_last)
    decay = [p for p in net.parameters() if p.ndim > 1]
    plain = [p for p in net.parameters() if p.ndim <= 1]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.02}, {"params": plain, "weight_decay": 0.0}])
    start, last = 0, out / "last.pt"
    if last.exists():
        state = torch.load(last)
        start = state["step"]
        net.load_state_dict(state["net"])
        opt.load_state_dict(state["opt"])
    average = copy.deepcopy(net)
    if start:
        average.load_state_dict(state["average"])
    print(f"{sum(p.numel() for p in net.parameters())} parameters, {len(samples)} samples, from step {start}", flush=True)
    end = min(a.steps, a.stop or a.steps)
    began, shown = time.time(), 0.0
    for step, (images, counts) in enumerate(ahead(batches(samples, a.batch, start, end, a.seed, a.served)), start):
        for group in opt.param_groups:
            group["lr"] = rate(step, a.steps, a.rate)
        net.train()
        loss = Overlap.apply(net.coarse(images), counts)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
        follow(average, net, step)
        shown = 0.98 * shown + 0.02 * loss.item() if step > start else loss.item()
        done = step + 1
        if done % 25 == 0:
            each = (time.time() - began) / (done - start)
            left = each * (end - done) / 60
            print(f"step {done}/{a.steps} loss {shown:.4f} {each:.3f} s/step, {left:.0f} min left", flush=True)
        if done % 250 == 0 or done == end:
            save(last, step=done, net=net.state_dict(), average=average.state_dict(), opt=opt.state_dict(), args=vars(a))
        if done % 500 == 0 or done == end:
            table = measure.torch_dice(average, held, range(min(40, len(held))), normalise, a.served)
            print("  held-out Dice: " + measure.brief(table, held.structures), flush=True)


if __name__ == "__main__":
    main()
