"""Pictures for checks, and the preprocessing of the CXAS card written out in NumPy."""

import pathlib

import numpy as np
from PIL import Image


def nearest_index(size_in, size_out):
    """Source index of each output index: min(floor(d * s), in - 1), all in float32."""
    scale = np.float32(size_in) / np.float32(size_out)
    at = np.floor(np.arange(size_out, dtype=np.float32) * scale).astype(np.int64)
    return np.minimum(at, size_in - 1)


def nearest(plane, width, height):
    """Nearest resize of a [H, W] array."""
    rows, cols = nearest_index(plane.shape[0], height), nearest_index(plane.shape[1], width)
    return plane[rows[:, None], cols[None, :]]


def network_input(grey, mean, std):
    """uint8 [512, 512] to float32 [1, 3, 512, 512]."""
    x = grey.astype(np.float32) / np.float32(255)
    planes = [(x - np.float32(m)) / np.float32(s) for m, s in zip(mean, std)]
    return np.stack(planes)[None]


def smooth_picture(seed, width, height):
    """Random blobs of several sizes plus noise, uint8 [height, width]."""
    rng = np.random.default_rng(seed)
    total = np.zeros((height, width), np.float32)
    for cells in (3, 6, 12, 24, 48):
        coarse = rng.standard_normal((cells, cells)).astype(np.float32)
        total += np.asarray(Image.fromarray(coarse).resize((width, height), Image.BICUBIC)) / np.sqrt(cells)
    total += 0.05 * rng.standard_normal(total.shape).astype(np.float32)
    low, high = total.min(), total.max()
    return ((total - low) / (high - low) * 255).astype(np.uint8)


def pictures(folder, count):
    """Grey pictures of a folder, or smooth random ones of radiograph-like sizes."""
    if folder is None:
        sizes = [(2544, 3056), (3056, 2544), (1024, 1024), (512, 512), (1760, 2140)]
        return [smooth_picture(100 + i, *sizes[i % len(sizes)]) for i in range(count)]
    files = sorted(p for p in pathlib.Path(folder).rglob("*") if p.suffix.lower() in (".png", ".jpg", ".jpeg"))
    return [np.asarray(Image.open(p).convert("L")) for p in files[:count]]


def card_channels(path):
    """The channel list of a model card, read without a YAML library."""
    lines = pathlib.Path(path).read_text().splitlines()
    start = lines.index("channels:")
    names = []
    for line in lines[start + 1:]:
        if not line.startswith("  - "):
            break
        names.append(line[4:].strip().strip('"'))
    return names
