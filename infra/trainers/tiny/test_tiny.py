"""Holds hand-written gradients against finite differences, and the code of texts and pictures
against slow or simple ways. Run: python3 infra/trainers/tiny/test_tiny.py"""

import io
import struct
import sys
import unittest
import zlib

import numpy as np

import files
import picture
import policy
import serve
import words


def tiny_batch(r, n=3):
    out = []
    for i in range(n):
        s = words.Sequence([
            {"role": "user", "parts": [None, "Which sign marks velmara?\n\nA) ring\nB) wedge"]},
            {"role": "assistant", "parts": ["<think> look</think><no_tool/>"]},
            {"role": "user", "parts": ["<measurement>0.47 withheld</measurement>"] + [None] * (i % 2)},
            {"role": "assistant", "parts": ["<think> ring</think><answer> A) ring</answer>"], "finish": ["stop", "length"][i % 2]},
        ], [r.standard_normal((picture.COUNT, picture.VALUES)) for _ in range(2)])
        out.append(s)
    return policy.Batch(out)


class Gradients(unittest.TestCase):
    def hold(self, loss_of, gradient):
        r = np.random.default_rng(3)
        w, eps = self.w, 1e-6
        for name in w:
            flat = w[name].reshape(-1)
            live = np.flatnonzero(gradient[name].reshape(-1))
            self.assertGreater(len(live), 0, name)
            for k in r.choice(live, min(5, len(live)), replace=False):
                was = flat[k]
                flat[k] = was + eps
                up = loss_of()
                flat[k] = was - eps
                down = loss_of()
                flat[k] = was
                want, got = (up - down) / (2 * eps), gradient[name].reshape(-1)[k]
                self.assertLess(abs(want - got), 1e-6 * max(1, abs(want)) + 1e-7, f"{name}[{k}]: {got}, finite difference {want}")

    def setUp(self):
        self.addCleanup(setattr, policy, "HIDDEN", policy.HIDDEN)
        policy.HIDDEN = 12  # the same code; thousands of evaluations
        self.w = {k: v.astype(np.float64) for k, v in policy.fresh(5).items()}
        self.batch = tiny_batch(np.random.default_rng(1))

    def test_imitation(self):
        logp, kept = self.batch.evaluate(self.w)
        _, dlog = policy.imitate(logp)
        self.hold(lambda: policy.imitate(self.batch.evaluate(self.w)[0])[0], self.batch.gradient(self.w, kept, dlog))

    def test_clipped_objective(self):
        r = np.random.default_rng(2)
        logp, kept = self.batch.evaluate(self.w)
        old = logp + r.choice([-0.5, -0.1, 0.05, 0.1, 0.4], len(logp))  # some inside, some outside the clip
        advantage = np.array([0.7, -0.4, 0.2])[self.batch.row]
        loss = lambda lp: policy.clipped(lp, old, advantage, 0.2, 50)
        self.hold(lambda: loss(self.batch.evaluate(self.w)[0])[0], self.batch.gradient(self.w, kept, loss(logp)[1]))

    def test_kept_near_the_reference(self):
        logp, kept = self.batch.evaluate(self.w)
        near = logp + np.random.default_rng(4).choice([-0.6, -0.1, 0, 0.2, 0.5], len(logp))
        cost = lambda lp: policy.kept_near(lp, near, 0.3, 50)
        self.assertGreater(cost(logp)[0], 0)
        self.assertEqual(cost(near)[0], 0)
        self.hold(lambda: cost(self.batch.evaluate(self.w)[0])[0], self.batch.gradient(self.w, kept, cost(logp)[1]))

    def test_size(self):
        self.doCleanups()
        self.assertLess(sum(v.size for v in policy.fresh(1).values()), 10 ** 5)

    def test_padding_changes_nothing(self):
        long = tiny_batch(np.random.default_rng(1), 2)
        logp = long.evaluate(self.w)[0]
        r = np.random.default_rng(1)
        alone = tiny_batch(r, 1).evaluate(self.w)[0]
        np.testing.assert_allclose(alone, logp[long.row == 0], rtol=1e-12)

    def test_served_states_are_those_of_training(self):
        b = tiny_batch(np.random.default_rng(1), 1)
        states = policy.forward(self.w, b.ids, b.patches)[0]
        x, _ = policy.inputs(self.w, b.ids[0], b.patches)
        h = np.zeros(policy.HIDDEN)
        for g in x @ self.w["input"] + self.w["bias"]:
            h = policy.step(self.w, g, h)[0]
        np.testing.assert_allclose(h, states[-1, 0], rtol=1e-10)


class Texts(unittest.TestCase):
    def test_every_generation_is_cut_in_one_way(self):
        r = np.random.default_rng(4)
        for _ in range(3000):
            tokens = list(r.integers(1, words.SPOKEN, r.integers(1, 20)))
            self.assertEqual(words.spoken(words.text(tokens)), tokens)

    def test_numbers_fall_into_buckets(self):
        for text, want in [("0.47", ["0.45"]), ("0.88", ["0.90"]), ("-0.01", []), ("0.99", [])]:
            self.assertEqual([words.WORDS[i] for i in words.heard(text)], want)

    def test_unknown_words(self):
        self.assertEqual(words.heard("Colourless green ideas"), [])
        with self.assertRaises(ValueError):
            words.spoken("<think> colourless</think>")


def encoded(pix, kinds):
    """A PNG whose rows have the given filters, written pixel by pixel."""
    h, w, n = pix.shape
    raw = bytearray()
    for y in range(h):
        raw.append(kinds[y])
        for x in range(w):
            for k in range(n):
                a = int(pix[y, x - 1, k]) if x else 0
                b = int(pix[y - 1, x, k]) if y else 0
                c = int(pix[y - 1, x - 1, k]) if x and y else 0
                p = a + b - c
                best = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
                raw.append((int(pix[y, x, k]) - [0, a, b, (a + b) // 2, best][kinds[y]]) & 255)

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    colour = {1: 0, 2: 4, 3: 2, 4: 6}[n]
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, colour, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(bytes(raw))) + chunk(b"IEND", b""))


class Pictures(unittest.TestCase):
    def test_all_filters(self):
        r = np.random.default_rng(6)
        for h, w, n in [(7, 5, 1), (4, 9, 1), (12, 12, 3), (1, 1, 1), (5, 3, 2)]:
            pix = r.integers(0, 256, (h, w, n)).astype(np.uint8)
            for kinds in (r.integers(0, 5, h), np.minimum(2, r.integers(0, 5, h)), np.full(h, 4)):
                want = pix[..., :3].astype(float).mean(2) if n > 2 else pix[..., 0]
                np.testing.assert_allclose(picture.decode(encoded(pix, list(kinds))), want)

    def test_mean_of_boxes(self):
        r = np.random.default_rng(7)
        grey = r.integers(0, 256, (256, 256)).astype(float)
        want = np.floor(grey.reshape(32, 8, 32, 8).mean((1, 3)) + 0.5)
        np.testing.assert_array_equal(picture.shrunk(grey), want)
        np.testing.assert_array_equal(picture.shrunk(np.full((37, 90), 201.0)), np.full((32, 32), 201))

    def test_refuses_what_is_no_png(self):
        for data in (b"", b"GIF89a", b"\x89PNG\r\n\x1a\n"):
            with self.assertRaises(ValueError):
                picture.decode(data)


class Files(unittest.TestCase):
    def test_weights_come_back_and_bytes_are_the_same(self):
        w = policy.fresh(1)
        data = files.pack(w)
        self.assertEqual(data, files.pack(dict(reversed(list(policy.fresh(1).items())))))
        for k, v in files.unpack(data).items():
            np.testing.assert_array_equal(v, w[k])


class Choices(unittest.TestCase):
    def test_shares(self):
        r = np.random.default_rng(8)
        logits = np.log(np.array([0.5, 0.3, 0.15, 0.05]))
        def shares(*how):
            return np.bincount([serve.choose(logits, *how, r) for _ in range(8000)], minlength=4) / 8000
        np.testing.assert_allclose(shares(1, 1), [0.5, 0.3, 0.15, 0.05], atol=0.03)
        np.testing.assert_allclose(shares(1, 0.79), [0.625, 0.375, 0, 0], atol=0.03)
        self.assertEqual(shares(0, 1)[0], 1)

    def test_requests_that_are_refused(self):
        for body in (b"", b"[]", b'{"model":"m"}', b'{"model":"m","messages":[],"tools":[]}', b'{"model":"m","messages":[],"temperature":-1}',
                     b'{"model":"m","messages":[],"n":2}'):
            with self.assertRaises(serve.Refused):
                serve.request(body)


if __name__ == "__main__":
    unittest.main()
