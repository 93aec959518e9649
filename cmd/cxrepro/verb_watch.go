package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"cxrepro/internal/contract"
)

func newWatchCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "watch ID",
		Short: "Show a reproduction's progress until it ends",
		Long: `watch shows rate and time left per stage of a reproduction that runs elsewhere. ID is that of
the reproduction, at least six digits of its beginning, the name of its experiment or latest,
or launch/... as start and status print it while the data set is read.

With --json it prints a line per change: reproduction, state, gate, started, stages[],
quarantined, benchmark, trouble[].

Exit codes: 0 done; 1 failed; 2 no such reproduction; 4 paused; 5 cancelled; 6 Temporal
unreachable.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.watch(c.Context(), args[0]) },
	}
}

func (a *app) watch(ctx context.Context, id string) (err error) {
	if id, err = a.named(ctx, id, unfinished); err != nil {
		return err
	}
	conn, err := a.joinTemporal(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeSoon(conn)) }()
	c := conn.Client
	d := a.newDisplay()
	if a.JSON() {
		d = &jsonLines{a: a}
	}
	id, err = a.watchOne(ctx, c, d, id)
	d.close()
	if ctx.Err() != nil {
		return nil
	}
	var paused *errPaused
	if errors.As(err, &paused) {
		return &exitError{Code: exitPaused, Err: paused, Hint: "go on with `cxrepro resume " + id + "`"}
	}
	var ee *exitError
	if err != nil && !errors.As(err, &ee) {
		return workflowError(err)
	}
	return err
}

// watchOne follows a reproduction, or a launch until its reproduction has ended, and
// returns that one's id.
func (a *app) watchOne(ctx context.Context, c client.Client, d display, id string) (string, error) {
	if spec, ok := launchSpec(id); ok {
		reproduction, err := a.followLaunch(ctx, c, d, spec)
		if err != nil {
			return id, err
		}
		id = reproduction
	}
	if _, err := c.DescribeWorkflow(ctx, contract.ReproductionWorkflowID(id), ""); gone(err) {
		return id, usageError("`cxrepro status` lists what there is", "no reproduction %s is known to this server", id)
	}
	_, err := follow(ctx, c, d, id)
	return id, err
}

// jsonLines prints every view that differs from the last one.
type jsonLines struct {
	a    *app
	last string
}

func (j *jsonLines) show(v view) {
	line, err := json.Marshal(v)
	if err != nil || string(line) == j.last {
		return
	}
	j.last = string(line)
	fmt.Fprintln(j.a.out, j.last)
}

func (j *jsonLines) note(line string) { j.a.say(line) }
func (j *jsonLines) close()           {}

func newStatusCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status [ID]",
		Short: "List reproductions, or describe one",
		Long: `status lists the reproductions that the server knows, newest first, and finished ones that
only the store remembers. With an ID (or at least six digits of its beginning, the name of the
experiment, or latest) it prints that one's progress; when it has ended, its tables and
receipt; when it was stopped before and no server knows it, what the store remembers.

With --json: an array of objects with id, name, state, started, closed, paper, data_use; with an
ID the progress (see watch), the receipt (see run), or id, name, state, started,
steps_recorded and calls_recorded.

Exit codes: 0 ok; 2 no such reproduction; 3 ended with quarantined images or undetermined
cases; 6 store or Temporal unreachable.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.statusOne(c.Context(), args[0])
			}
			return a.statusAll(c.Context())
		},
	}
}

// known is one line of `status`.
type known struct {
	ID      string     `json:"id"`
	Name    string     `json:"name,omitempty"`
	State   string     `json:"state"`
	Started time.Time  `json:"started"`
	Closed  *time.Time `json:"closed,omitempty"`
	Paper   string     `json:"paper,omitempty"`
	DataUse string     `json:"data_use,omitempty"`
}

// maybeJoin connects if a server runs; without one there is only the store to ask.
func (a *app) maybeJoin(ctx context.Context) (client.Client, func() error, error) {
	conn, err := a.joinTemporal(ctx)
	var ee *exitError
	if errors.As(err, &ee) && a.settings.GetString("temporal-address") == "" {
		a.say("no server runs on " + a.StateDir() + "; this is what the store remembers")
		return nil, func() error { return nil }, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return conn.Client, func() error { return closeSoon(conn) }, nil
}
