package main

import (
	"context"

	"cxrepro/infra/bench/program"
)

// runOurs runs the experiment with a state folder of its own: one model, one judge, Path 1.
func runOurs(ctx context.Context, o options, dir, url string) error {
	bin := o.cxrepro
	if bin == "" {
		var err error
		if bin, err = program.Build(ctx, dir); err != nil {
			return err
		}
	}
	e := program.Experiment{
		Name: "harness", Paper: "none; a measurement", Models: [][2]string{{"oracle", "oracle"}}, Snapshot: "harness",
		Sampling: "[greedy]", Paths: "[path1]", Bootstrap: 100, Benchmark: o.benchmark, URL: url, InFlight: o.inFlight, Pictures: o.rule, Tasks: o.tasks, Open: o.open,
	}
	c, err := e.Command(ctx, bin, dir)
	if err != nil {
		return err
	}
	return program.Quiet(c)
}
