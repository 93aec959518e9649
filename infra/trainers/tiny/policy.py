"""The policy: word and picture tokens, one GRU, a softmax over the spoken words. A picture is
one token: the greatest response of each linear feature over its patches.

Shapes: B sequences of T tokens, H hidden units, D input features. Gradients are written by
hand; test_tiny.py holds them against finite differences.
"""

import numpy as np

import picture
import words

HIDDEN, FEATURES, SPAN = 144, 32, 80


def fresh(seed):
    """Random weights, by name."""
    r = np.random.Generator(np.random.PCG64(seed))
    h, d = HIDDEN, FEATURES

    def normal(scale, *shape):
        return (r.standard_normal(shape) * scale).astype(np.float32)
    w = {"embed": normal(0.5, words.SIZE + 1, d), "patch": normal(0.02, picture.VALUES, d),
         "input": normal(d ** -0.5, d, 3 * h), "bias": np.zeros(3 * h, np.float32),
         "state": np.concatenate([np.linalg.qr(r.standard_normal((h, h)))[0] for _ in range(3)], 1).astype(np.float32),
         "output": normal(h ** -0.5, h, words.SPOKEN), "prior": np.zeros(words.SPOKEN, np.float32)}
    w["patch"][:-1] += np.float32(0.25) * picture.walsh(d).astype(np.float32)
    w["patch"][-1] += normal(1, d)
    w["bias"][:h] = np.log(r.uniform(1, SPAN, h))  # units hold the state for 1 to SPAN tokens
    return w


def sigmoid(v):
    return 0.5 * np.tanh(0.5 * v) + 0.5


def step(w, gx, h):
    """One token: its input part gx, the state before; the state after and what backward needs."""
    n = h.shape[-1]
    gh = h @ w["state"]
    zr = sigmoid(gx[..., :2 * n] + gh[..., :2 * n])
    z, c = zr[..., :n], gh[..., 2 * n:]
    new = np.tanh(gx[..., 2 * n:] + zr[..., n:] * c)
    return new + z * (h - new), zr, c, new


def inputs(w, ids, patches):
    """Input features of ids [..., T], with the patches [N, 16, V] of their N pictures in row-major
    order; and which tokens are pictures, and for each feature the patch that it comes from."""
    x = w["embed"][ids]
    shown = ids == words.SIZE
    seen = patches.astype(x.dtype) @ w["patch"]
    best = seen.argmax(1)
    x[shown] += np.take_along_axis(seen, best[:, None], 1)[:, 0]
    return x, (shown, best)


def forward(w, ids, patches):
    """States [T+1, B, H] after each token of ids [B, T], and the cache of backward."""
    x, shown = inputs(w, ids, patches)
    gx = np.ascontiguousarray((x @ w["input"] + w["bias"]).transpose(1, 0, 2))
    t, b, h = ids.shape[1], ids.shape[0], w["state"].shape[0]
    states = np.zeros((t + 1, b, h), x.dtype)
    zr, c, new = np.empty((t, b, 2 * h), x.dtype), np.empty((t, b, h), x.dtype), np.empty((t, b, h), x.dtype)
    for i in range(t):
        states[i + 1], zr[i], c[i], new[i] = step(w, gx[i], states[i])
    return states, (ids, patches, x, shown, zr, c, new)


def backward(w, states, cache, dout):
    """Gradients of the GRU and its inputs for gradients dout [T, B, H] of the states."""
    ids, patches, x, shown, zr, c, new = cache
    t, b, h = dout.shape
    dgx, dgh = np.empty((t, b, 3 * h), x.dtype), np.empty((t, b, 3 * h), x.dtype)
    dh, back = np.zeros((b, h), x.dtype), np.ascontiguousarray(w["state"].T)
    gate = zr * (1 - zr)
    still = 1 - new * new
    for i in range(t - 1, -1, -1):
        dh = dh + dout[i]
        z, r = zr[i, :, :h], zr[i, :, h:]
        dnew = dh * (1 - z) * still[i]
        dgx[i, :, :h] = dh * (states[i] - new[i])
        dgx[i, :, h:2 * h] = dnew * c[i]
        dgx[i, :, :2 * h] *= gate[i]
        dgx[i, :, 2 * h:] = dnew
        dgh[i, :, :2 * h] = dgx[i, :, :2 * h]
        dgh[i, :, 2 * h:] = dnew * r
        dh = dh * z + dgh[i] @ back
    g = {"state": states[:-1].reshape(-1, h).T @ dgh.reshape(-1, 3 * h), "bias": dgx.sum((0, 1))}
    dgx = np.ascontiguousarray(dgx.transpose(1, 0, 2))
    g["input"] = x.reshape(-1, x.shape[-1]).T @ dgx.reshape(-1, 3 * h)
    dx = dgx @ w["input"].T
    g["embed"] = np.zeros_like(w["embed"])
    np.add.at(g["embed"], ids.reshape(-1), dx.reshape(-1, dx.shape[-1]))
    shown, best = shown
    source = patches.astype(x.dtype)[np.arange(len(best))[:, None], best]  # [N, D, V]
    g["patch"] = np.einsum("ndv,nd->vd", source, dx[shown])
    return g


class Batch:
    """Sequences side by side, padded at the end, and the places of the trained tokens."""

    def __init__(self, sequences):
        t = max(len(s.ids) for s in sequences)
        self.ids = np.zeros((len(sequences), t), np.int32)
        for i, s in enumerate(sequences):
            self.ids[i, :len(s.ids)] = s.ids
        self.patches = np.concatenate([s.patches for s in sequences])
        self.row = np.concatenate([np.full(s.trained.sum(), i) for i, s in enumerate(sequences)])
        self.at = np.concatenate([np.flatnonzero(s.trained) for s in sequences])  # predicted from the token before
        self.target = self.ids[self.row, self.at]

    def evaluate(self, w):
        """Log-probabilities of the trained tokens, and what gradient needs."""
        states, cache = forward(w, self.ids, self.patches)
        top = states[self.at, self.row]  # states[i] is after token i-1
        logits = top @ w["output"] + w["prior"]
        logits -= logits.max(1, keepdims=True)
        p = np.exp(logits)
        p /= p.sum(1, keepdims=True)
        return np.log(p[np.arange(len(p)), self.target]), (states, cache, top, p)

    def gradient(self, w, kept, dlog):
        """Gradients of all weights for gradients dlog of the log-probabilities."""
        states, cache, top, p = kept
        dlogits = -p * dlog[:, None]
        dlogits[np.arange(len(p)), self.target] += dlog
        dout = np.zeros_like(states)
        dout[self.at, self.row] = dlogits @ w["output"].T
        g = backward(w, states, cache, dout[1:])
        g["output"], g["prior"] = top.T @ dlogits, dlogits.sum(0)
        return g


def imitate(logp):
    """Cross-entropy, mean over tokens, and its gradient."""
    n = len(logp)
    return -logp.sum() / n, np.full(n, -1 / n, logp.dtype)


def clipped(logp, old, advantage, clip, tokens):
    """The clipped objective of GRPO, mean over tokens, and its gradient. advantage is that of
    each token's rollout; tokens counts those with advantage zero as well."""
    ratio = np.exp(logp - old)
    plain, held = ratio * advantage, np.clip(ratio, 1 - clip, 1 + clip) * advantage
    loss = -np.minimum(plain, held).sum() / tokens
    return loss, (-np.where(plain <= held, plain, 0) / tokens).astype(logp.dtype)


def kept_near(logp, reference, weight, tokens):
    """The penalty for leaving the reference policy, and its gradient: the estimate of their KL
    divergence from what was drawn that is never negative, exp(d) - d - 1 with d = reference - logp."""
    d = reference - logp
    return weight * (np.exp(d) - d - 1).sum() / tokens, (weight * (1 - np.exp(d)) / tokens).astype(logp.dtype)
