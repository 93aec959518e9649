"""View samples on disk, as `cxrepro phantom generate --views` writes them.

    images-0000.u8    n x 256 x 256 bytes, prepared pictures
    labels-0000.u8    n x 5 bytes: type, clockwise quarter turns, inverted, mirrored, part
"""

import json
import pathlib

import numpy as np

SIDE = 256
NOT_CXR = 3


def load(folder, count=None):
    """Pictures [n, 256, 256] and labels [n, 5] of a folder; the first count of them, all without.

    With a count the folder may still be growing, as long as that many are there.
    """
    folder = pathlib.Path(folder)
    images = [np.fromfile(p, np.uint8) for p in sorted(folder.glob("images-*.u8"))]
    labels = [np.fromfile(p, np.uint8) for p in sorted(folder.glob("labels-*.u8"))]
    images, labels = np.concatenate(images), np.concatenate(labels)
    want = json.loads((folder / "meta.json").read_text())["count"] if count is None else count
    there = min(len(images) // SIDE**2, len(labels) // 5)
    if there < want or count is None and there > want:
        raise ValueError(f"{folder}: {there} pictures, {want} expected")
    return images[: want * SIDE**2].reshape(-1, SIDE, SIDE), labels[: want * 5].reshape(-1, 5)


def moved(image, label, rng):
    """The picture turned and mirrored at random, with its label.

    A picture is R^k F^f of the upright one (mirror first, then k clockwise turns); a
    further mirroring gives R^-k F^(1-f). What is no chest radiograph keeps its label; of a part
    of a chest nobody can tell whether it is mirrored, so it never is.
    """
    kind, turns, inverted, mirrored, part = (int(v) for v in label)
    if rng.random() < 0.5:
        image, turns, mirrored = image[:, ::-1], -turns, 1 - mirrored
    if rng.random() < 0.6:
        more = int(rng.integers(1, 4))
        image, turns = np.rot90(image, -more), turns + more
    if kind == NOT_CXR:
        return image, label
    return image, np.array([kind, turns % 4, inverted, 0 if part else mirrored, part], np.uint8)


def toned(image, rng):
    """A random tone curve and a little noise, float32 in 0..1."""
    level = np.linspace(0, 1, SIDE, dtype=np.float32)
    x = (level ** np.float32(np.exp(rng.uniform(-0.3, 0.3))))[image]
    if rng.random() < 0.5:
        x = x + rng.standard_normal(x.shape, np.float32) * np.float32(rng.uniform(0, 0.02))
    return np.clip(x, 0, 1)
