"""Holds the dialogues of a plan with inspect-ai, the harness of the UK AI Security Institute:
every question to the model, every reply to the judge, until a reply is not right.

usage: peer.py PLAN.json URL IN_FLIGHT LOG_DIR

The plan is written by `go run -C infra/bench ./cmd/harness`: cases with their questions, the
paths of their pictures, and what the judge is told. It prints one JSON object.
"""

import base64
import json
import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    ContentImage,
    ContentText,
    GenerateConfig,
    get_model,
)
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.solver import solver


def served(name, url, in_flight):
    config = GenerateConfig(temperature=0, max_tokens=1024, max_connections=in_flight)
    return get_model(f"openai-api/responder/{name}", base_url=url, api_key="none", config=config)


def shown(path):
    kind = "png" if path.endswith(".png") else "jpeg"
    with open(path, "rb") as f:
        return f"data:image/{kind};base64," + base64.b64encode(f.read()).decode()


@solver
def dialogue(judge):
    async def solve(state, generate):
        right = 0
        state.messages = [ChatMessageSystem(content=state.metadata["system"])]
        for q in state.metadata["questions"]:
            content = [ContentText(text=q["text"])]
            content += [ContentImage(image=shown(path)) for path in q["pictures"]]
            state.messages.append(ChatMessageUser(content=content))
            state = await generate(state)
            reply = state.output.completion
            verdict = await judge.generate(
                [ChatMessageSystem(content=q["judge"]), ChatMessageUser(content=q["compare"] + reply)]
            )
            if q["extract"]:
                await judge.generate(
                    [ChatMessageSystem(content=q["extract"]), ChatMessageUser(content="- Response: " + reply)]
                )
            if verdict.completion.strip() != "True":
                break
            right += 1
        state.metadata["right"] = right
        return state

    return solve


@scorer(metrics=[mean()])
def passed():
    async def score(state, target):
        return Score(value=state.metadata["right"] / len(state.metadata["questions"]))

    return score


def main():
    plan, url, in_flight, logs = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    with open(plan) as f:
        cases = json.load(f)
    samples = [Sample(id=i, input="-", metadata=c) for i, c in enumerate(cases)]
    task = Task(dataset=MemoryDataset(samples), solver=dialogue(served("judge", url, in_flight)), scorer=passed())
    [log] = eval(
        task,
        model=served("oracle", url, in_flight),
        log_dir=logs,
        display="none",
        log_images=False,
        log_samples=True,
        max_samples=max(128, in_flight),
        fail_on_error=True,
    )
    score = log.results.scores[0].metrics["mean"].value if log.results else None
    if log.error:
        print(log.error.message)
    print(json.dumps({"status": log.status, "score": score, "samples": len(samples)}))
    sys.exit(0 if log.status == "success" else 1)


main()
