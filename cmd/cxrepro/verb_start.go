package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"cxrepro/internal/contract"
)

func newStartCommand(a *app) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "start SPEC [--set path=value]...",
		Short: "Start an experiment and do not wait",
		Long: `start hands an experiment to workers that run elsewhere: in a ` + "`cxrepro up`" + ` on the same
state directory, or on a cluster. It returns when the server has it. The workers need the
data set's folder (--data) and, for a model, its library.

With --json: one object with spec_id, name, workflow, plan, store.

Exit codes: 0 started, or running already; 2 usage or spec; 6 store or Temporal unreachable.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.start(c.Context(), args[0], f) },
	}
	fl := c.Flags()
	f.plan.add(fl)
	addQueueFlag(fl, &f.worker.queue)
	addTuningFlags(fl, &f.tuning)
	return c
}

// started is what `start --json` prints.
type started struct {
	SpecID   string `json:"spec_id"`
	Name     string `json:"name"`
	Workflow string `json:"workflow"`
	Plan     string `json:"plan"`
	Store    string `json:"store"`
}

func (a *app) start(ctx context.Context, file string, f runFlags) (err error) {
	conn, err := a.joinTemporal(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeSoon(conn)) }()
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	p, err := a.prepare(ctx, store, file, f.plan)
	if err != nil {
		return err
	}
	if p.spec.Training != nil {
		return usageError("`cxrepro run` trains it: the trainer and the server of its checkpoints run beside the worker", "%s has a training section, and start leaves the work to others", p.spec.Name)
	}
	run, err := launch(ctx, conn.Client, p, f.worker.queue, f.tuning)
	if err != nil {
		return err
	}
	s := started{SpecID: p.id, Name: p.spec.Name, Workflow: run.GetID(), Plan: p.plan.Digest.String(), Store: store.URL()}
	if a.JSON() {
		return json.NewEncoder(a.out).Encode(s)
	}
	fmt.Fprintf(a.out, "started %s; follow it with `cxrepro watch %s`\n", s.Name, launchPrefix+p.id)
	if n, err := pollers(ctx, conn.Client, contract.QueueCPU(f.worker.queue)); err == nil && n == 0 {
		a.say("no worker serves this queue yet: start one with `cxrepro up --data " + p.spec.Dataset.Name + "=FOLDER` or `cxrepro worker`")
	}
	return nil
}
