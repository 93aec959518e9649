"""The reward function that verl calls, once for each sample. It knows no reward: it asks."""

import client


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """solution_str is not read: it is decoded without special tokens, observations and all. What was
    generated comes from the agent loop."""
    sample = client.sample(*extra_info["xragent"]["place"], ground_truth, extra_info["xragent"]["trajectory"])
    got = client.reward([sample])[0]
    return {"score": got["score"], "acc": got["acc"], "format": got["format"], "cxr": got["cxr"], "n_calls": got["n_calls"]}
