"""Writes want.json: what Pillow makes of generated pictures when it reduces them the way
Image.resize does by default (bicubic), and digests of the samples for larger ones.

The source pictures are a formula that the test computes too. No patient data.
Run with: python -m pip install pillow numpy; python make_goldens.py
"""
import base64, hashlib, json, os
import numpy as np
from PIL import Image, __version__


def source(w, h, c, seed):
    """Edges, ramps and a checkerboard, in whole numbers only."""
    y, x = np.mgrid[0:h, 0:w].astype(np.int64)
    planes = []
    for k in range(c):
        p = (x * (7 + k) + y * (3 + 2 * k) + (x * y) // 5 + seed * 31) % 256
        p = np.where(((x // 9 + y // 6 + k) % 4) == 0, 255 - p, p)
        p = np.where(((x + y) % 17) == 0, 255 * ((x + k) % 2), p)
        planes.append(p)
    a = np.stack(planes, -1).astype(np.uint8)
    return a[..., 0] if c == 1 else a


want = {"pillow": __version__, "small": [], "large": []}
for w, h, c, ow, oh in [(40, 30, 1, 13, 9), (40, 30, 3, 17, 30), (33, 47, 3, 33, 5), (25, 19, 1, 24, 18), (9, 7, 3, 1, 1),
                        (10, 6, 1, 23, 17), (31, 17, 3, 60, 40)]:
    got = np.asarray(Image.fromarray(source(w, h, c, 1)).resize((ow, oh)))
    want["small"].append({"w": w, "h": h, "c": c, "ow": ow, "oh": oh, "pix": base64.b64encode(got.tobytes()).decode()})
for w, h, c in [(2544, 3056, 1), (1600, 1100, 3), (1025, 400, 3), (5000, 3, 1), (1024, 2048, 1)]:
    long = max(w, h)
    size = (max(1, w * 1024 // long), max(1, h * 1024 // long))
    got = np.asarray(Image.fromarray(source(w, h, c, 2)).resize(size))
    want["large"].append({"w": w, "h": h, "c": c, "ow": size[0], "oh": size[1], "sha256": hashlib.sha256(got.tobytes()).hexdigest()})
HERE = os.path.dirname(os.path.abspath(__file__))
want["files"] = []
for name, c, exif in [("grey.jpg", 1, 0), ("colour.png", 3, 0), ("grey.png", 1, 0), ("turned.jpg", 1, 6)]:
    im = Image.fromarray(source(1100, 12, c, 3))
    extra = {}
    if exif:
        e = Image.Exif()
        e[0x0112] = exif
        extra["exif"] = e.tobytes()
    im.save(os.path.join(HERE, name), quality=92, **extra) if name.endswith("jpg") else im.save(os.path.join(HERE, name))
    stored = Image.open(os.path.join(HERE, name))  # as the evaluation programs open it: no orientation
    got = np.asarray(stored.resize((1024, 12 * 1024 // 1100)))
    want["files"].append({"name": name, "c": c, "ow": got.shape[1], "oh": got.shape[0], "pix": base64.b64encode(got.tobytes()).decode()})
with open(os.path.join(HERE, "want.json"), "w") as f:
    json.dump(want, f, indent=1)
    f.write("\n")
