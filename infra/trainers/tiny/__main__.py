"""The small trainer: init, sft, update, serve (docs/trainer-contract.md, docs/tiny-policy.md).

A policy of under 10^5 parameters that proves the machinery of rollouts and training; it says
nothing about any published figure. Needs Python 3.9 or later and numpy.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # sums in one order: the same inputs give the same bits

import argparse
import sys

import files
import serve
import train


def main():
    p = argparse.ArgumentParser(prog="tiny", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = p.add_subparsers(dest="verb", required=True)
    v = verbs.add_parser("init", help="write checkpoint 0 with random weights")
    v.add_argument("--seed", type=int, required=True)
    v.add_argument("--out", required=True, help="folder named checkpoint-0")
    for name, text in (("sft", "train on examples"), ("update", "one round of GRPO")):
        v = verbs.add_parser(name, help=text)
        v.add_argument("--run", required=True, help="folder of the run: plan.json, schedule.jsonl, ...")
        v.add_argument("--from", dest="start", required=True, help="checkpoint to go on from")
        v.add_argument("--attempt", type=int, default=1)
        v.add_argument("--thumbs", help="folder that keeps pictures as the policy sees them (default: RUN/thumbs)")
        if name == "update":
            v.add_argument("--batch", required=True, help="scored samples of one step")
            v.add_argument("--reference", help="checkpoint that the policy is kept near, if the plan names a reference")
        else:
            v.add_argument("--data", help="examples (default: RUN/examples.jsonl)")
    v = verbs.add_parser("serve", help="answer chat completions as any complete checkpoint")
    v.add_argument("--checkpoints", action="append", required=True, help="folder of checkpoints; may be repeated")
    v.add_argument("--port", type=int, default=0)
    v.add_argument("--thumbs", help="folder that keeps pictures as the policy sees them")
    v.add_argument("--stdin", action="store_true", help="end when standard input closes")
    a = p.parse_args()
    try:
        {"init": train.init, "sft": train.sft, "update": train.update, "serve": serve.serve}[a.verb](a)
    except files.Contradiction as e:
        sys.exit(say(e, 4))
    except (files.Unreadable, OSError, KeyError, TypeError) as e:
        sys.exit(say(e if not isinstance(e, KeyError) else f"field {e} is missing", 2))
    except Exception as e:  # the last line is what the platform quotes
        import traceback
        traceback.print_exc()
        sys.exit(say(e, 1))


def say(error, code):
    print(f"tiny: {error}", file=sys.stderr, flush=True)
    return code


main()
