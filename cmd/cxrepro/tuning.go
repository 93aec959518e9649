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
	fl.IntVar(&t.Calls.Evaluations, "evaluations", t.Calls.Evaluations, "models, each in one way of sampling, asked at a time")
	fl.IntVar(&t.Calls.Tasks, "evaluation-tasks", t.Calls.Tasks, "tasks of an evaluation worked on at a time")
	fl.IntVar(&t.Calls.Open, "open-dialogues", t.Calls.Open, "dialogues of a task that are open at a time")
	fl.DurationVar(&t.Calls.Patience, "call-patience", t.Calls.Patience, "how long a call to a model is tried before its case is left undetermined")
	fl.DurationVar(&t.Calls.Attempt, "call-timeout", t.Calls.Attempt, "longest attempt of a call, waiting for its turn included")
	fl.DurationVar(&t.Calls.Heartbeat, "call-heartbeat", t.Calls.Heartbeat, "a call that is silent for longer is given up")
	fl.Var(budgetValue{&t.Calls.Budget}, "budget", "AMOUNT: the most that the calls to models may cost, in the currency of the endpoints' prices, 0 for no limit")
}
