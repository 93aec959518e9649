package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func newWorkerCommand(a *app) *cobra.Command {
	var f workerFlags
	c := &cobra.Command{
		Use:   "worker [--data NAME=FOLDER]...",
		Short: "Serve a cluster's task queues, or join the embedded server",
		Long: `worker takes chunks from the task queues until it is stopped (Ctrl-C or SIGTERM), then
finishes the image in hand and leaves the rest to others. It needs the same --store as
whoever starts experiments, and the folders of the data sets it shall read.

Exit codes: 0 stopped as told; 1 failed; 2 usage; 6 store or Temporal unreachable.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.work(c.Context(), f)
		},
	}
	f.add(c.Flags())
	return c
}

func (a *app) work(ctx context.Context, f workerFlags) (err error) {
	log, closeLog, err := a.openLog()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLog()) }()
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	conn, err := a.joinTemporal(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeSoon(conn)) }()
	w, err := a.runWorker(conn, store, log, f)
	if err != nil {
		return err
	}
	a.say(fmt.Sprintf("serving %s at %s; Ctrl-C stops", f.queue, conn.Address))
	<-ctx.Done()
	a.say("stopping: finishing the images in hand")
	return w.Stop()
}
