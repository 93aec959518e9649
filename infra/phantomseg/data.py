"""Training samples on disk.

A folder holds shards written by the phantom generator, each of n samples:

    images-0000.u8    n x 512 x 512 bytes, grey, the picture on the model's grid
    masks-0000.bits   n x 34 x 512 x 64 bytes, one bit a pixel, leftmost first

The loss sees the picture averaged over 2 x 2 pixels, as the network does in its
first step, and the truth as the share of set pixels in each 4 x 4 cell. Truth for
measuring is read at full resolution.
"""

import json
import pathlib
import time

import numpy as np

GRID = 512
CLASSES = 34


def quad_table():
    """For each byte of 8 pixels, the counts of its two halves, as one uint16."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    return bits.reshape(256, 2, 4).sum(2).astype(np.uint8).view(np.uint16).ravel()


QUADS = quad_table()


class Samples:
    """Memory-mapped shards of one folder.

    With a count, the folder may still be growing: a sample is waited for.
    """

    def __init__(self, folder, count=None, shard=256):
        self.folder = pathlib.Path(folder)
        meta = self.folder / "meta.json"
        if count is None and not meta.exists():
            raise ValueError(f"{meta}: missing; generate samples first (README)")
        if meta.exists():
            self.meta = meta = json.loads(meta.read_text())
            shard = meta["shard"]
            self.structures = [row["name"] for row in meta["structures"]]
        self.count = meta["count"] if count is None else count
        self.shard, self.open = shard, {}

    def part(self, k):
        """Images and packed masks of shard k, once both are complete."""
        if k not in self.open:
            n = min(self.shard, self.count - k * self.shard)
            image, mask = self.folder / f"images-{k:04d}.u8", self.folder / f"masks-{k:04d}.bits"
            wait_for(image, n * GRID * GRID)
            wait_for(mask, n * CLASSES * GRID * GRID // 8)
            self.open[k] = (
                np.memmap(image, np.uint8, "r", shape=(n, GRID, GRID)),
                np.memmap(mask, np.uint8, "r", shape=(n, CLASSES, GRID, GRID // 8)),
            )
        return self.open[k]

    def __len__(self):
        return self.count

    def image(self, i):
        """Grey picture, uint8 [512, 512]."""
        return self.part(i // self.shard)[0][i % self.shard]

    def bits(self, i):
        """Packed masks, uint8 [classes, 512, 64]."""
        return self.part(i // self.shard)[1][i % self.shard]

    def truth(self, i):
        """Boolean masks [classes, 512, 512]."""
        return np.unpackbits(self.bits(i), axis=-1).astype(bool)

    def shares(self, i):
        """Counts 0..16 of set pixels in 4 x 4 cells, uint8 [classes, 128, 128]."""
        quads = QUADS[self.bits(i)].view(np.uint8)
        c, h, w = quads.shape
        return quads.reshape(c, h // 4, 4, w).sum(2, dtype=np.uint8)


def wait_for(path, size):
    """Returns once the file holds all its bytes."""
    while not path.exists() or path.stat().st_size < size:
        time.sleep(1)
    if path.stat().st_size > size:
        raise ValueError(f"{path}: {path.stat().st_size} bytes, {size} expected; is --count the one it was generated with?")


def as_served(picture, rng):
    """The picture as the nearest rule samples it from a larger one, float32 [512, 512].

    Samples are drawn at cell centres. The rule takes a cell's first pixel, half a cell
    up and left of the centre, and paints masks half a source pixel down and right: at
    scale s the two part by 0.5 + 0.5 / s cells. Moving the picture by that much while
    the truth stays teaches the network to put masks back.
    """
    out = picture.astype(np.float32)
    for axis in (0, 1):
        part = np.float32(rng.uniform(0.55, 0.75))
        moved = np.roll(out, 1, axis)
        moved[(slice(None),) * axis + (0,)] = out[(slice(None),) * axis + (0,)]
        out = (1 - part) * out + part * moved
    return out


def halved(picture):
    """Mean over 2 x 2 pixels, float32 [256, 256]."""
    rows = picture[0::2].astype(np.float32) + picture[1::2]
    return (rows[:, 0::2] + rows[:, 1::2]) / 4


def photometric(picture, rng):
    """Random tone curve and, half of the time, noise, on a picture 0..255.

    Mild: the generator itself varies exposure, blur and noise widely.
    """
    gamma = np.exp(rng.uniform(-0.25, 0.25))
    gain, lift = rng.uniform(0.85, 1.1), rng.uniform(-0.06, 0.06)
    level = np.linspace(0, 1, 256)
    curve = ((level**gamma - 0.5) * gain + 0.5 + lift) * 255
    out = curve.astype(np.float32)[np.rint(picture).astype(np.uint8)]
    if rng.random() < 0.5:
        noise = rng.standard_normal(out.shape, dtype=np.float32)
        out += noise * np.float32(rng.uniform(0, 3))
    return np.clip(out, 0, 255)
