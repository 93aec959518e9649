"""Write the rows in the order of the schedule, then become ms-swift.

Rows that are too long are refused here. truncation_strategy delete would leave them out in silence,
and shift every row after them into another step.
"""

import json
import os
import sys

import client

source, limit = sys.argv[1], int(sys.argv[2])
with open(os.path.join(client.FOLDER, source), encoding="utf-8") as f:
    rows = [json.loads(line) for line in f]
if limit:  # text alone: pictures are bounded by max_pixels, and truncation_strategy raise sees the whole
    from transformers import AutoProcessor

    tokenizer = AutoProcessor.from_pretrained(sys.argv[3]).tokenizer
    long = [r["item_id"] for r in rows if len(tokenizer("".join(str(m["content"]) for m in r["messages"]))["input_ids"]) > limit]
    if long:
        print(f"{len(long)} rows are longer than {limit} tokens, such as {long[0]}: leave them out of the training set, or raise max_length", file=sys.stderr)
        sys.exit(2)
with open(os.path.join(client.FOLDER, "train.jsonl.part"), "w", encoding="utf-8") as f:
    for step, row in client.deal(rows, lambda r: r["item_id"]):
        f.write(json.dumps(dict(row, step=step), ensure_ascii=False) + "\n")
os.replace(os.path.join(client.FOLDER, "train.jsonl.part"), os.path.join(client.FOLDER, "train.jsonl"))
os.execvp(sys.argv[4], sys.argv[4:])
