"""Write the rows in the order of the schedule, then become verl."""

import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq

import client

rows = pq.read_table(os.path.join(client.FOLDER, "grpo.verl.parquet")).to_pylist()
dealt = []
for step, row in client.deal(rows, lambda r: r["extra_info"]["item_id"]):
    dealt.append(dict(row, extra_info=dict(row["extra_info"], step=step, index=len(dealt))))
pq.write_table(pa.Table.from_pylist(dealt), os.path.join(client.FOLDER, "train.parquet.part"))
os.replace(os.path.join(client.FOLDER, "train.parquet.part"), os.path.join(client.FOLDER, "train.parquet"))
os.execv(sys.executable, [sys.executable, "-m", "verl.trainer.main_ppo", *sys.argv[1:]])
