"""The PhantomView network: one prepared picture in, four heads out.

Input float32 [1, 256, 256, 3], three equal channels in 0..1, channel last; only the
first is read. Output float32 [1, 10]: type (PA, AP, lateral, no chest radiograph) and
turn (0, 90, 180, 270 degrees clockwise) as distributions, inverted and mirrored as
probabilities. The published image sorter has the same four heads.

The picture is averaged to 128 x 128 and folded to 32 x 32 cells of 4 x 4 pixels; two
coordinate planes join it, since turns and sides are a matter of place. Mean and maximum
over the last 8 x 8 cells feed the heads.
"""

import torch
from torch import nn
from torch.nn import functional as F

SIDE = 256
HEADS = (4, 4, 1, 1)


def conv(cin, cout, stride=1):
    """3 x 3 convolution without bias followed by batch norm (folded at export)."""
    return nn.Sequential(nn.Conv2d(cin, cout, 3, stride, 1, bias=False), nn.BatchNorm2d(cout))


class Block(nn.Module):
    """Residual block of two convolutions."""

    def __init__(self, width):
        super().__init__()
        self.a, self.b = conv(width, width), conv(width, width)

    def forward(self, x):
        return F.relu(x + self.b(F.relu(self.a(x))))


WIDTHS = (24, 48, 96)  # of the network that is served


class PhantomView(nn.Module):
    """Three levels from 1/8 to 1/32 of the picture."""

    def __init__(self, widths=WIDTHS):
        super().__init__()
        a, b, c = widths
        line = torch.linspace(-1, 1, SIDE // 8)
        y, x = torch.meshgrid(line, line, indexing="ij")
        self.register_buffer("place", torch.stack([x, y])[None], persistent=False)
        self.stem, self.level8 = conv(18, a), Block(a)
        self.to16, self.level16 = conv(a, b, 2), nn.Sequential(Block(b), Block(b))
        self.to32, self.level32 = conv(b, c, 2), nn.Sequential(Block(c), Block(c))
        self.head = nn.Linear(2 * c, sum(HEADS))

    def logits(self, grey):
        """Ten logits of grey pictures [N, 1, 256, 256] in 0..1."""
        x = F.avg_pool2d(grey, 2) * 4 - 2
        n = x.shape[0]
        x = x.reshape(n, 32, 4, 32, 4).permute(0, 2, 4, 1, 3).reshape(n, 16, 32, 32)
        x = self.level8(F.relu(self.stem(torch.cat([x, self.place.expand(n, -1, -1, -1)], 1))))
        x = self.level16(F.relu(self.to16(x)))
        x = self.level32(F.relu(self.to32(x)))
        return self.head(torch.cat([x.mean((2, 3)), x.amax((2, 3))], 1))

    def forward(self, image):
        """Heads of one picture [1, 256, 256, 3], which is looked at in eight positions.

        Turning or mirroring a picture changes neither its type nor whether it is inverted,
        and turning does not change whether it is mirrored: these are averaged over the
        positions where they must agree. The turn is read from the picture as it is.
        """
        x = image[..., 0].unsqueeze(1)
        both = torch.cat([x, x.flip(3)])
        upright = torch.cat([both, both.flip(2).flip(3)])
        across = upright.transpose(2, 3)
        out = self.logits(torch.cat([upright, across.flip(3)]))  # clockwise quarter turns
        unmirrored = out[0::2]  # every second position is a mirrored one
        kind, inverted = out[:, :4].mean(0, keepdim=True), out[:, 8:9].mean(0, keepdim=True)
        mirrored = unmirrored[:, 9:].mean(0, keepdim=True)
        return torch.cat([kind.softmax(1), out[:1, 4:8].softmax(1), inverted.sigmoid(), mirrored.sigmoid()], 1)
