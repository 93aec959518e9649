"""Writes golden_torch.json: PyTorch's nearest index tables and preprocessed inputs.

Run by hand with any PyTorch (made with 1.13, CPU): python3 golden_torch.py
"""
import hashlib, json
import torch
import torch.nn.functional as F

def table(n_in, n_out):
    x = torch.arange(n_in, dtype=torch.float64).reshape(1, 1, 1, n_in)
    return F.interpolate(x, size=(1, n_out))[0, 0, 0].to(torch.int64).tolist()

def picture(w, h):
    y, x = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
    return ((x * 7 + y * 13 + (x * y) % 251) % 256).to(torch.uint8)

def prepared(w, h):
    p = picture(w, h).float().div(255)
    p = p.expand(3, h, w)
    mean = torch.tensor([0.485, 0.456, 0.406])[:, None, None]
    std = torch.tensor([0.229, 0.224, 0.225])[:, None, None]
    p = (p - mean) / std
    p = F.interpolate(p[None], size=(512, 512)).contiguous()
    return hashlib.sha256(p.numpy().tobytes()).hexdigest()

pairs = [(2544, 512), (3056, 512), (512, 2544), (512, 3056), (511, 512), (512, 513), (512, 511), (2022, 512),
         (512, 2022), (1, 512), (512, 1), (512, 512), (3000, 512), (2991, 512), (512, 2991)]
sizes = [(2544, 3056), (3056, 2544), (511, 513), (512, 512), (64, 40), (2021, 2477)]
with open("golden_torch.json", "w") as f:
    json.dump({"torch": torch.__version__,
               "tables": [{"in": i, "out": o, "index": table(i, o)} for i, o in pairs],
               "inputs": [{"width": w, "height": h, "sha256": prepared(w, h)} for w, h in sizes]}, f, separators=(",", ":"))
