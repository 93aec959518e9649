"""The PhantomSeg network: one grey radiograph in, 34 logit planes out.

Shapes: input float32 [N, C, 512, 512] with C equal channels (only the first is
read), output float32 [N, 34, 512, 512]. A pixel belongs to a structure when its
logit is greater than 0; structures overlap freely.

The picture is averaged to 256 x 256 and folded (space to depth) to 64 x 64, so
the convolutions are cheap and yet see every averaged pixel. Ribs and vertebrae
are told apart by their order, so dilated kernels at 1/16 and 1/32 of 512 see the
whole picture and two coordinate planes enter at the stem. The head predicts 2 x 2
logits in each of the 64 x 64 cells, and a bilinear step inside the graph takes
these 128 x 128 logits to 512 x 512.
"""

import torch
from torch import nn
from torch.nn import functional as F

GRID = 512
CLASSES = 34
SHRINK = 4  # logits before the bilinear step lie on GRID / SHRINK


def conv(cin, cout, kernel=3, stride=1, dilation=1):
    """Convolution without bias followed by batch norm (folded at export)."""
    pad = dilation * (kernel // 2)
    return nn.Sequential(
        nn.Conv2d(cin, cout, kernel, stride, pad, dilation, bias=False),
        nn.BatchNorm2d(cout),
    )


class Block(nn.Module):
    """Residual block of two 3 x 3 convolutions with the dilations given."""

    def __init__(self, width, first=1, second=1):
        super().__init__()
        self.a = conv(width, width, dilation=first)
        self.b = conv(width, width, dilation=second)

    def forward(self, x):
        return F.relu(x + self.b(F.relu(self.a(x))))


def coordinates(size):
    """Two planes [1, 2, size, size] with x and y from -1 to 1."""
    line = torch.linspace(-1, 1, size)
    y, x = torch.meshgrid(line, line, indexing="ij")
    return torch.stack([x, y])[None]


class PhantomSeg(nn.Module):
    """U-shaped network from 1/8 to 1/32 resolution."""

    def __init__(self, widths=(48, 96, 128), classes=CLASSES):
        super().__init__()
        w8, w16, w32 = widths
        self.register_buffer("place", coordinates(GRID // 8), persistent=False)
        self.stem = conv(16 + 2, w8)
        self.level8 = Block(w8)
        self.to16 = conv(w8, w16, stride=2)
        self.level16 = nn.Sequential(Block(w16), Block(w16, 2, 2))
        self.to32 = conv(w16, w32, stride=2)
        self.level32 = nn.Sequential(Block(w32, 1, 2), Block(w32, 2, 4), Block(w32, 2, 1))
        self.up16 = conv(w32, w16, kernel=1)
        self.mix16 = conv(w16, w16)
        self.up8 = conv(w16, w8, kernel=1)
        self.mix8 = conv(w8, w8)
        self.head = nn.Conv2d(w8, 4 * classes, 1)
        nn.init.constant_(self.head.bias, -4.0)  # most pixels are background

    def coarse(self, halved):
        """Logits [N, classes, 128, 128] of pictures [N, 1, 256, 256]."""
        x = fold(halved)
        alone = torch.onnx.is_in_onnx_export()  # batch 1: no Expand in the graph
        place = self.place if alone else self.place.expand(x.shape[0], -1, -1, -1)
        x = torch.cat([x, place], 1)
        x8 = self.level8(F.relu(self.stem(x)))
        x16 = self.level16(F.relu(self.to16(x8)))
        x32 = self.level32(F.relu(self.to32(x16)))
        y = F.relu(self.mix16(F.relu(x16 + grow(self.up16(x32), 2))))
        y = F.relu(self.mix8(F.relu(x8 + grow(self.up8(y), 2))))
        return F.pixel_shuffle(self.head(y), 2)

    def forward(self, image):
        """Logits [N, classes, 512, 512]."""
        return grow(self.coarse(F.avg_pool2d(image[:, :1], 2)), SHRINK)


def fold(x):
    """Space to depth by 4, [N, 1, H, W] to [N, 16, H/4, W/4]."""
    n, _, h, w = x.shape
    x = x.reshape(n, h // 4, 4, w // 4, 4).permute(0, 1, 3, 2, 4)
    return x.reshape(n, h // 4, w // 4, 16).permute(0, 3, 1, 2)


def grow(x, factor):
    """Bilinear enlargement with half-pixel centres."""
    return F.interpolate(x, scale_factor=factor, mode="bilinear", align_corners=False)
