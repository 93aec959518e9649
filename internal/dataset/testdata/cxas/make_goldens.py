"""Writes small mask files in the forms of the CXAS program, with the libraries it uses.

The masks follow a formula that the test repeats: pixel (x, y) of class c is set when
c % 4 != 1 and (3x + 5y + 7c) % 11 < 4. No patient data.

Run with: python -m pip install numpy pillow pycocotools; python make_goldens.py
"""
import json, os
import numpy as np
from PIL import Image
from pycocotools import mask as coco

HERE = os.path.dirname(os.path.abspath(__file__))
H, W, CLASSES = 10, 13, 159
NAMES = {117: "lower mediastinum", 135: "right lung", 136: "left lung"}


def masks(shift=0):
    c, y, x = np.mgrid[0:CLASSES, 0:H, 0:W]
    return (c % 4 != 1) & ((3 * x + 5 * y + 7 * (c + shift)) % 11 < 4)


def annotations(a, image_id, first):
    out = []
    for c in range(CLASSES):
        if not a[c].any():
            continue
        rle = coco.encode(np.asfortranarray(a[c].astype(np.uint8)))
        out.append({"id": first + c, "image_id": image_id, "category_id": c,
                    "segmentation": {"size": [int(v) for v in rle["size"]], "counts": rle["counts"].decode()},
                    "area": int(a[c].sum()), "bbox": [float(v) for v in coco.toBbox(rle)], "iscrowd": 0})
    return out


def write(path, doc):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        json.dump(doc, f, separators=(",", ":"))


a, b = masks(), masks(1)
np.save(os.path.join(HERE, "array.npy"), a)
np.savez_compressed(os.path.join(HERE, "array.npz"), a)
categories = [{"id": c, "name": n, "supercategory": n} for c, n in NAMES.items()]
write(os.path.join(HERE, "own", "case.json"),
      {"images": [[{"id": 1, "file_name": "case.png"}]], "categories": categories, "annotations": annotations(a, 1, 0)})
write(os.path.join(HERE, "own", "other.json"),
      {"images": [[{"id": 1, "file_name": "other.png"}]], "categories": categories, "annotations": annotations(b, 1, 0)})
# Folder mode: one file, annotation ids that repeat across pictures, full input paths.
write(os.path.join(HERE, "shared", ".json"),
      {"images": [{"id": 1, "file_name": "/data/in/case.png"}, {"id": 2, "file_name": "C:\\in\\other.tar.png"}],
       "categories": categories, "annotations": annotations(a, 1, 0) + annotations(b, 2, 100)})
for fmt in ("png", "jpg"):
    for c, name in NAMES.items():
        folder = os.path.join(HERE, fmt, "case")
        os.makedirs(folder, exist_ok=True)
        im = Image.fromarray(a[c].astype(np.uint8) * 255).convert("1")
        if fmt == "png":
            im.save(os.path.join(folder, name + ".png"))
        else:
            big = Image.fromarray(np.kron(a[c].astype(np.uint8) * 255, np.ones((8, 8), np.uint8)))
            big.save(os.path.join(folder, name + ".jpg"))
