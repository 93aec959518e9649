"""Writes pillow/*.png|jpg and pillow/want.json: small generated pictures and the grey
samples that Pillow and numpy make of them. No patient data.

Run with: python -m pip install pillow numpy; python make_goldens.py
"""
import base64, io, json, os, struct, zlib
import numpy as np
from PIL import Image, ImageOps, features, __version__

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pillow")
W, H = 23, 17
want = {}


def ramp(seed, channels, top=255, w=W, h=H):
    """Smooth gradients plus a few hard edges, no randomness."""
    y, x = np.mgrid[0:h, 0:w]
    planes = []
    for c in range(channels):
        p = (x * (7 + 3 * c + seed) + y * (11 - 2 * c + seed)) % 256
        p = np.where((x // 5 + y // 4 + c) % 3 == 0, 255 - p, p)
        planes.append(p * top // 255)
    a = np.stack(planes, -1)
    return a[..., 0] if channels == 1 else a


def smooth(seed, channels, w=W, h=H):
    y, x = np.mgrid[0:h, 0:w]
    planes = [127 + 100 * np.sin((x + 3 * c + seed) / 6.0) * np.cos((y + seed - c) / 5.0) for c in range(channels)]
    a = np.clip(np.rint(np.stack(planes, -1)), 0, 255).astype(np.uint8)
    return a[..., 0] if channels == 1 else a


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def pack(rows, depth):
    out = b""
    for r in rows:
        r = np.asarray(r).reshape(-1)
        if depth == 16:
            out += b"\0" + r.astype(">u2").tobytes()
        elif depth == 8:
            out += b"\0" + r.astype(np.uint8).tobytes()
        else:
            bits = ((r[:, None] >> np.arange(depth - 1, -1, -1)) & 1).reshape(-1).astype(np.uint8)
            out += b"\0" + np.packbits(bits).tobytes()
    return out


def png(a, colour, depth, extra=b"", interlace=False, late=b"", tail=b""):
    h, w = a.shape[:2]
    data = b""
    if interlace:
        for x0, y0, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)):
            sub = a[y0::dy, x0::dx]
            if sub.shape[0] and sub.shape[1]:
                data += pack(sub, depth)
    else:
        data = pack(a, depth)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, colour, 0, 0, int(interlace)))
            + extra + chunk(b"IDAT", zlib.compress(data)) + late + chunk(b"IEND", b"") + tail)


def exif(n, order="<"):
    head = b"II*\0" if order == "<" else b"MM\0*"
    return head + struct.pack(order + "IH", 8, 1) + struct.pack(order + "HHIHH", 0x112, 3, 1, n, 0) + struct.pack(order + "I", 0)


def add(name, data, rules, grey=None, tolerance=0):
    if grey is None:
        im = Image.open(io.BytesIO(data))
        im.load()
        grey = np.asarray(ImageOps.exif_transpose(im).convert("L"))
    grey = np.asarray(grey, dtype=np.uint8)
    with open(os.path.join(OUT, name), "wb") as f:
        f.write(data)
    want[name] = {"width": grey.shape[1], "height": grey.shape[0], "rules": rules, "tolerance": tolerance,
                  "pix": base64.b64encode(grey.tobytes()).decode()}


def luma(rgb):
    rgb = rgb.astype(np.int64)
    return (19595 * rgb[..., 0] + 38470 * rgb[..., 1] + 7471 * rgb[..., 2] + 0x8000) >> 16


def minmax(a):
    a = a.astype(np.int64)
    lo, hi = a.min(), a.max()
    return np.zeros_like(a) if hi == lo else (2 * 255 * (a - lo) + (hi - lo)) // (2 * (hi - lo))


def pngs():
    for d in (1, 2, 4):
        a = ramp(d, 1, (1 << d) - 1)
        add(f"grey{d}.png", png(a, 0, d), ["grey_bits_expanded"], a * (255 // ((1 << d) - 1)))
    add("grey8.png", png(ramp(0, 1), 0, 8), ["grey8"])
    add("grey8_interlaced.png", png(ramp(3, 1), 0, 8, interlace=True), ["grey8"])
    g16 = ramp(1, 1) * 199 + 1000
    add("grey16.png", png(g16, 0, 16), ["minmax16"], minmax(g16))
    add("grey16_constant.png", png(np.full((H, W), 4711), 0, 16), ["minmax16"], np.zeros((H, W)))
    low = ramp(1, 1) % 200 + 30
    add("grey16_low_range.png", png(low, 0, 16), ["minmax16"], minmax(low))
    la = ramp(2, 2)
    add("grey_alpha8.png", png(la, 4, 8), ["alpha_dropped", "grey8"])
    add("grey_alpha16.png", png(la * 257, 4, 16), ["alpha_dropped", "minmax16"], minmax(la[..., 0] * 257))
    add("grey8_key.png", png(ramp(0, 1), 0, 8, chunk(b"tRNS", struct.pack(">H", int(ramp(0, 1)[3, 3])))), ["alpha_dropped", "grey8"])
    rgb = ramp(4, 3)
    add("rgb8.png", png(rgb, 2, 8), ["rgb_to_grey_bt601"])
    add("rgb8_interlaced.png", png(rgb, 2, 8, interlace=True), ["rgb_to_grey_bt601"])
    add("rgb16.png", png(rgb * 211 + 17, 2, 16), ["rgb_to_grey_bt601", "minmax16"], minmax(luma(rgb * 211 + 17)))
    grey3 = np.repeat(g16[..., None], 3, -1)
    add("rgb16_equal.png", png(grey3, 2, 16), ["rgb_to_grey_bt601", "minmax16"], minmax(g16))
    rgba = ramp(5, 4)
    add("rgba8.png", png(rgba, 6, 8), ["alpha_dropped", "rgb_to_grey_bt601"])
    opaque = rgba.copy()
    opaque[..., 3] = 255
    add("rgba8_opaque.png", png(opaque, 6, 8), ["alpha_opaque", "rgb_to_grey_bt601"])
    add("rgba16.png", png(rgba * 255 + 3, 6, 16), ["alpha_dropped", "rgb_to_grey_bt601", "minmax16"], minmax(luma(rgba[..., :3] * 255 + 3)))
    table = ramp(6, 3, w=16, h=16).reshape(-1, 3)
    plte = lambda n: chunk(b"PLTE", table[:n].astype(np.uint8).tobytes())
    for d in (1, 2, 4, 8):
        n = 1 << d
        a = ramp(d, 1) % n
        add(f"palette{d}.png", png(a, 3, d, plte(n)), ["palette_expanded", "rgb_to_grey_bt601"])
    a = ramp(8, 1)
    add("palette8_key.png", png(a, 3, 8, plte(256) + chunk(b"tRNS", bytes([255] * 9 + [3]))), ["palette_expanded", "alpha_dropped", "rgb_to_grey_bt601"],
        luma(table)[a])
    add("exif6.png", png(ramp(0, 1), 0, 8, chunk(b"eXIf", exif(6, ">"))), ["grey8", "exif_orient_6"])
    add("trailing.png", png(ramp(0, 1), 0, 8, tail=b"left over"), ["grey8", "trailing_data_ignored"])


def jpg(a, mode=None, **kw):
    b = io.BytesIO()
    Image.fromarray(a.astype(np.uint8), mode).save(b, "JPEG", **kw)
    return b.getvalue()


def jpegs():
    add("grey.jpg", jpg(smooth(0, 1), quality=95), ["grey8"], tolerance=1)
    add("grey_progressive.jpg", jpg(smooth(1, 1), quality=90, progressive=True), ["grey8"], tolerance=1)
    add("grey_restart.jpg", jpg(smooth(2, 1), quality=90, restart_marker_blocks=1), ["grey8"], tolerance=1)
    colour = ["ycbcr_to_rgb", "rgb_to_grey_bt601"]
    add("ycbcr444.jpg", jpg(smooth(3, 3), quality=95, subsampling=0), colour, tolerance=1)
    add("ycbcr420_progressive.jpg", jpg(smooth(4, 3), quality=90, subsampling=2, progressive=True), colour, tolerance=1)
    add("ycbcr422.jpg", jpg(smooth(4, 3), quality=90, subsampling=1), colour, tolerance=1)
    grey3 = np.repeat(smooth(0, 1)[..., None], 3, -1)
    add("ycbcr_grey.jpg", jpg(grey3, quality=95), colour, tolerance=1)
    add("rgb.jpg", jpg(smooth(5, 3), quality=95, keep_rgb=True), ["rgb_to_grey_bt601"], tolerance=1)
    ink = smooth(6, 4)
    cmyk = jpg(ink, "CMYK", quality=95)
    rules = ["cmyk_adobe_inverted", "cmyk_to_rgb", "rgb_to_grey_bt601"]
    add("cmyk.jpg", cmyk, rules, tolerance=1)
    at = cmyk.index(b"Adobe") + 11
    add("ycck.jpg", cmyk[:at] + b"\x02" + cmyk[at + 1:], ["ycck_to_cmyk"] + rules, tolerance=1)
    for n in range(0, 10):
        rules = ["grey8"]
        if 2 <= n <= 8:
            rules.append(f"exif_orient_{n}")
        if n in (0, 9):
            rules.append("exif_orient_invalid_ignored")
        order = "<>"[n % 2]
        add(f"exif{n}.jpg", jpg(smooth(7, 1), quality=95, exif=b"Exif\0\0" + exif(n, order)), rules, tolerance=1)
    add("trailing.jpg", jpg(smooth(0, 1), quality=95) + b"\0\0left over", ["grey8", "trailing_data_ignored"], tolerance=1)


pngs()
jpegs()
doc = {"note": f"Pillow {__version__}, libjpeg-turbo {features.version('libjpeg_turbo')}, numpy {np.__version__}; see ../make_goldens.py", "files": want}
with open(os.path.join(OUT, "want.json"), "w") as f:
    json.dump(doc, f, indent=1, sort_keys=True)
    f.write("\n")
