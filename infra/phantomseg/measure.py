"""Dice per structure: 2 |A and B| / (|A| + |B|).

A case enters a structure's mean and minimum only where the truth holds at least
one pixel; a painted structure that is not there is counted apart.
"""

import numpy as np
import torch

import data


def dice(found, truth):
    """Dice of boolean masks [C, H, W]; NaN where the truth is empty."""
    found, truth = found.reshape(len(found), -1), truth.reshape(len(truth), -1)
    both = np.count_nonzero(found & truth, axis=1)
    total = np.count_nonzero(found, axis=1) + np.count_nonzero(truth, axis=1)
    there = truth.any(1)
    return np.where(there, 2 * both / np.maximum(total, 1), np.nan)


def torch_dice(net, samples, cases, normalise, served):
    """Dice [cases, classes] of a torch network on the model's grid."""
    net.eval()
    rows = []
    with torch.no_grad():
        for i in cases:
            image = np.array(samples.image(i))
            if served:
                image = data.as_served(image, np.random.default_rng(i))
            logits = net(normalise(image[None]))
            rows.append(dice((logits[0] > 0).numpy(), samples.truth(i)))
    return np.array(rows)


def brief(table, structures):
    """One line: overall mean, then the six weakest structures."""
    mean = np.nanmean(table, 0)
    order = np.argsort(np.nan_to_num(mean, nan=2))[:6]
    weak = ", ".join(f"{structures[i]} {mean[i]:.3f}" for i in order)
    return f"mean {np.nanmean(mean):.4f}; weakest {weak}"
