"""init, sft and update."""

import math
from pathlib import Path

import numpy as np

import files
import picture
import policy
import words

SFT = {"learning_rate": 1.2e-2, "warmup_steps": 20, "final_share": 0.05, "weight_decay": 0.0}
GRPO = {"learning_rate": 3e-3, "final_share": 0.3, "clip": 0.2, "minibatch_items": 8, "kl": 0.01}


def init(a):
    folder = Path(a.out)
    w = policy.fresh(a.seed)
    run = f"init of seed {a.seed}"
    d = files.save(folder, w, {}, {"global_step": 0, "max_steps": 0, "optimizer_step": 0, "stage": "init", "run": run, "parent": ""})
    print(d)


class Adam:
    """Adam with gradients cut to norm 1."""

    def __init__(self, weights, moments, step):
        self.w, self.n = weights, step
        self.m = {k: moments.get("m." + k, np.zeros_like(v)) for k, v in weights.items()}
        self.v = {k: moments.get("v." + k, np.zeros_like(v)) for k, v in weights.items()}

    def step(self, g, rate, decay=0.0):
        self.n += 1
        norm = math.sqrt(sum(float((v.astype(np.float64) ** 2).sum()) for _, v in sorted(g.items())))
        cut = min(1.0, 1.0 / (norm + 1e-12))
        for k, v in self.w.items():
            d = g[k] * np.float32(cut)
            self.m[k] = np.float32(0.9) * self.m[k] + np.float32(0.1) * d
            self.v[k] = np.float32(0.99) * self.v[k] + np.float32(0.01) * d * d
            up = self.m[k] / np.float32(1 - 0.9 ** self.n) / (np.sqrt(self.v[k] / np.float32(1 - 0.99 ** self.n)) + np.float32(1e-8))
            self.w[k] = v - np.float32(rate) * (up + np.float32(decay) * v)

    def moments(self):
        return {**{"m." + k: v for k, v in self.m.items()}, **{"v." + k: v for k, v in self.v.items()}}


class Reader:
    """Examples and samples as sequences."""

    def __init__(self, run, thumbs):
        self.run, self.eye = Path(run), picture.Eye(thumbs or Path(run) / "thumbs")

    def sequence(self, line):
        messages, images = [dict(m, parts=words.parts(m["content"])) for m in line["messages"]], line.get("images") or []
        marks = sum(p is None for m in messages for p in m["parts"])
        if marks != len(images):
            raise files.Unreadable(f"{line.get('id') or line.get('item_id')}: {marks} <image> for {len(images)} images")
        return words.Sequence(messages, [self.eye.patches((self.run / p).read_bytes()) for p in images])


def sft(a):
    plan = files.Plan(a.run, "sft", SFT)
    start = files.Checkpoint(a.start)
    step, count, moments = plan.begin(start)
    reader, last = Reader(a.run, a.thumbs), plan.plan["to_step"]
    lines = {e["id"]: e for e in files.read_lines(a.data or plan.run / "examples.jsonl")}
    cache, adam, parent = {}, Adam(start.weights, moments, count), start.digest
    while step < last:
        step += 1
        ids = plan.schedule[step]
        for i in ids:
            if i not in cache:
                if i not in lines:
                    raise files.Contradiction(f"schedule.jsonl: step {step}: no example {i!r}")
                cache[i] = reader.sequence(lines[i])
        batch = policy.Batch([cache[i] for i in ids])
        logp, kept = batch.evaluate(adam.w)
        loss, dlog = policy.imitate(logp)
        s = plan.set
        rate = s["learning_rate"] * min(1, step / max(1, s["warmup_steps"]))
        rate *= s["final_share"] + (1 - s["final_share"]) * 0.5 * (1 + math.cos(math.pi * step / last))
        adam.step(batch.gradient(adam.w, kept, dlog), rate, s["weight_decay"])
        if step % plan.plan["save_every"] == 0 or step == last:
            parent = files.save(plan.checkpoint(step), adam.w, adam.moments(), plan.state(step, adam.n, parent))
        event(plan, a.attempt, step, adam, ids, len(ids), loss)
    print(files.digest(files.pack(adam.w)))


def update(a):
    plan = files.Plan(a.run, "grpo", GRPO)
    start = files.Checkpoint(a.start)
    step, count, moments = plan.begin(start)
    step += 1
    lines = files.read_lines(a.batch)
    check(plan, lines, step, start.digest)
    reader, group, s = Reader(a.run, a.thumbs), plan.plan["group_size"], plan.set
    adam, total = Adam(start.weights, moments, count), 0.0
    held = reference(plan, a.reference)
    old_weights, size = dict(adam.w), s["minibatch_items"] * group
    rate = s["learning_rate"] * (1 - (1 - s["final_share"]) * (step - 1) / plan.plan["to_step"])
    for lo in range(0, len(lines), size):
        part = lines[lo:lo + size]
        pairs = [(reader.sequence(e), e["advantage"]) for e in part]
        tokens = int(sum(q.trained.sum() for q, _ in pairs))
        pairs = [(q, v) for q, v in pairs if (held or v != 0) and q.trained.any()]  # others have no gradient
        gradient = {k: np.zeros_like(v) for k, v in adam.w.items()}
        if pairs:
            batch = policy.Batch([q for q, _ in pairs])
            advantage = np.array([v for _, v in pairs], np.float32)[batch.row]
            logp, kept = batch.evaluate(adam.w)
            old = logp if lo == 0 else batch.evaluate(old_weights)[0]
            loss, dlog = policy.clipped(logp, old, advantage, np.float32(s["clip"]), tokens)
            if held:
                cost, away = policy.kept_near(logp, batch.evaluate(held)[0], np.float32(s["kl"]), tokens)
                loss, dlog = loss + cost, dlog + away
            gradient = batch.gradient(adam.w, kept, dlog)
            total += float(loss)
        adam.step(gradient, rate)  # every minibatch counts as a step of the optimizer
    files.save(plan.checkpoint(step), adam.w, adam.moments(), plan.state(step, adam.n, start.digest))
    event(plan, a.attempt, step, adam, plan.schedule[step], len(lines), total, sum(e["reward"] for e in lines))
    print(files.digest(files.pack(adam.w)))


def reference(plan, folder):
    """Weights that the policy is kept near, None without a term for it."""
    want = plan.plan.get("reference")
    if not want:
        return None
    held = files.Checkpoint(folder) if folder else None
    if held is None or held.digest != want:
        raise files.Contradiction(f"plan.json: reference {want} is not the checkpoint of --reference, {folder}")
    return held.weights


def check(plan, lines, step, generated_by):
    """A batch is the whole of its step, from the weights that are trained, in order."""
    group = plan.plan["group_size"]
    want = [(i, d) for i in plan.schedule.get(step, []) for d in range(group)]
    if [(e["item_id"], e["draw"]) for e in lines] != want or any(e["step"] != step for e in lines):
        raise files.Contradiction(f"the batch is not step {step} of schedule.jsonl: {group} draws of each item in order")
    for e in lines:
        if e["model"] != generated_by:
            raise files.Contradiction(f"{e['item_id']} draw {e['draw']} was generated by {e['model']}, not by {generated_by}: a stale batch")


def event(plan, attempt, step, adam, ids, samples, loss, reward=None):
    e = {"schema": 1, "run": plan.plan["run"], "attempt": attempt, "step": step, "optimizer_step": adam.n, "item_ids": ids,
         "samples": samples, "loss": float(loss), "weights_digest": files.digest(files.pack(adam.w))}
    if reward is not None:
        e["reward_sum"] = reward
    files.append(plan.run / "events.jsonl", e)
