package main

import (
	"github.com/spf13/pflag"

	"cxrepro/internal/contract"
)

// addTuningFlags adds how fast and how patiently a reproduction runs. None of it can change
// a number.
func addTuningFlags(fl *pflag.FlagSet, t *contract.Tuning) {
	*t = contract.DefaultTuning()
	fl.DurationVar(&t.Heartbeat, "heartbeat-timeout", t.Heartbeat, "an attempt that is silent for longer is given up")
	fl.DurationVar(&t.Chunk, "chunk-timeout", t.Chunk, "longest attempt of a chunk; finished images stay")
	fl.DurationVar(&t.Table, "table-timeout", t.Table, "longest attempt of reading tables or summarising")
	fl.DurationVar(&t.Retry, "retry-interval", t.Retry, "pause before the second attempt; doubles from there")
	fl.DurationVar(&t.RetryMax, "retry-max", t.RetryMax, "longest pause between attempts")
	fl.IntVar(&t.InFlight, "in-flight", t.InFlight, "chunks handed out at a time per stage")
	fl.IntVar(&t.Page, "page-windows", t.Page, "windows between two reconciliations with the index")
	fl.IntVar(&t.Shard, "shard-windows", t.Shard, "windows of one stage workflow")
	fl.IntVar(&t.Events, "history-events", t.Events, "history length after which a workflow continues as new")
	fl.IntVar(&t.Shards, "shards", t.Shards, "shards worked on at a time")
}
