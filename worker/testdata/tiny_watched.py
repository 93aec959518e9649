"""Runs the small trainer as it is, counts the requests that its server answers, and kills it once
at a named point: TINY_KILL is "gradient" (in an update) or "save" (after it, before a checkpoint)."""

import os
import runpy
import signal
import sys

folder, verb = sys.argv[1], sys.argv[2]
sys.argv = sys.argv[1:]
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # as the trainer sets it, before numpy is imported
sys.path.insert(0, folder)

import files
import policy
import serve


def once(do):
    """do, but killed the first time in the whole training."""
    def killed(*args, **named):
        try:
            os.close(os.open(os.environ["TINY_KILLED"], os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return do(*args, **named)
        os.kill(os.getpid(), signal.SIGKILL)
    return killed


def counted(do):
    def answer(*args, **named):
        with open(os.environ["TINY_REQUESTS"], "a") as f:
            f.write("\n")
        return do(*args, **named)
    return answer


point = os.environ.get("TINY_KILL") if verb == "update" else None
if point == "gradient":
    policy.Batch.gradient = once(policy.Batch.gradient)
if point == "save":
    files.save = once(files.save)
serve.Server.complete = counted(serve.Server.complete)
runpy.run_path(folder, run_name="__main__")
