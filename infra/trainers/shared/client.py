"""What the recipes share: the services of the platform, the schedule, events. Standard library only.

A reward is never made up: whatever the service does not answer with a score raises, and the
trainer ends with an error that the platform sees.
"""

import json
import os
import time
import urllib.error
import urllib.request

ATTEMPT = int(os.environ.get("CXREPRO_ATTEMPT", "1"))
RUN = os.environ.get("CXREPRO_RUN", "")
FOLDER = os.environ.get("CXREPRO_FOLDER", ".")


def post(url, body, patience=600):
    """POST as JSON. Waits where the service asks for it or does not answer, raises on all else."""
    data = json.dumps(body).encode()
    head = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["CXREPRO_TOKEN"]}
    until = time.monotonic() + patience
    while True:
        wait = 2.0
        try:
            with urllib.request.urlopen(urllib.request.Request(url, data, head), timeout=120) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as e:
            if e.code not in (429, 503):
                raise RuntimeError(f"{url}: {e.code}: {e.read(2000).decode(errors='replace')}") from None
            wait = float(e.headers.get("Retry-After") or wait)
        except (urllib.error.URLError, ConnectionError, TimeoutError) as e:
            if time.monotonic() + wait > until:
                raise RuntimeError(f"{url}: {e}") from None
        if time.monotonic() + wait > until:
            raise RuntimeError(f"{url}: not ready within {patience} s")
        time.sleep(wait)


def observe(item, turn1, finish):
    """What follows a first turn: {ending, parts, observations, measurement, ...}."""
    return post(os.environ["OBSERVATIONS_URL"], {"schema": 1, "run_id": RUN, "item_id": item, "turn1": turn1, "finish_reason": finish})


def reward(samples):
    """The rewards of samples of [sample()], in their order."""
    out = []
    for lo in range(0, len(samples), 256):
        part = samples[lo:lo + 256]
        reply = post(os.environ["REWARD_URL"], {"schema": 1, "run_id": RUN, "reward_config": os.environ["REWARD_CONFIG"], "samples": part})
        got = {r["sample_id"]: r for r in reply["results"]}
        out += [got[s["sample_id"]] for s in part]  # a missing one raises
    return out


def sample(step, item, draw, truth, trajectory):
    """One trajectory of a step, with the id that tells attempts apart."""
    return {"sample_id": f"a{ATTEMPT}/{step}/{item}/{draw}", "item_id": item, "group_id": f"{step}/{item}", "step": step, "draw": draw,
            "trajectory": trajectory, "ground_truth": truth}


def trajectory(turn1, finish1, seen=None, turn2=None, finish2=None):
    """A trajectory as the reward service reads it; seen is the reply of observe()."""
    t = {"turn1": turn1, "turn2": turn2, "finish_reasons": [finish1] if turn2 is None else [finish1, finish2]}
    if turn2 is not None:
        t["observations"], t["measurement"] = seen["observations"], seen["measurement"]
    return t


def draw(step, item, group):
    """Which of the G draws of an item this is: the lowest number that no process of this attempt has taken."""
    for k in range(group):
        path = os.path.join(FOLDER, "draws", str(ATTEMPT), str(step), item.replace("/", "_") + f".{k}")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            return k
        except FileExistsError:
            continue
    raise RuntimeError(f"step {step}: item {item} is drawn more than {group} times")


def schedule():
    """Items by step, from schedule.jsonl."""
    with open(os.path.join(FOLDER, "schedule.jsonl"), encoding="utf-8") as f:
        return {s["step"]: s["items"] for s in map(json.loads, f)}


def deal(rows, key):
    """Rows in the order of the schedule, each as (step, row); key names a row's item. Missing items raise."""
    by = {key(r): r for r in rows}
    return [(step, by[item]) for step, items in sorted(schedule().items()) for item in items]


def event(step, optimizer_step, items, samples, loss, dropped=()):
    """Append a line to events.jsonl; a line that a killed attempt tore is ended first."""
    line = {"schema": 1, "run": RUN, "attempt": ATTEMPT, "step": step, "optimizer_step": optimizer_step, "item_ids": list(items),
            "samples": samples, "loss": loss}
    if dropped:
        line["dropped"] = list(dropped)
    with open(os.path.join(FOLDER, "events.jsonl"), "a+b") as f:
        if f.seek(0, 2):
            f.seek(-1, 2)
            if f.read(1) != b"\n":
                f.write(b"\n")
        f.write(json.dumps(line).encode() + b"\n")
        f.flush()
        os.fsync(f.fileno())
