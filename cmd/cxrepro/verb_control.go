package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cxrepro/internal/contract"
)

// controlPatience bounds the wait for a worker to carry out a word of control.
const controlPatience = 20 * time.Second

func newPauseCommand(a *app) *cobra.Command {
	return a.controlCommand("pause", contract.UpdatePause, "Pause a reproduction",
		`pause stops handing out work. Images in hand are finished and recorded; chunks go back to
the queue. A `+"`cxrepro run`"+` of the reproduction ends with exit code 4.`)
}

func newResumeCommand(a *app) *cobra.Command {
	return a.controlCommand("resume", contract.UpdateResume, "Go on with a paused reproduction",
		`resume hands out work again, also after a pause that a refused credential caused.`)
}

func newCancelCommand(a *app) *cobra.Command {
	return a.controlCommand("cancel", contract.UpdateCancel, "Cancel a reproduction",
		`cancel ends a reproduction. Images in hand are finished; what is recorded stays, so the same
`+"`cxrepro run`"+` goes on from there.`)
}

func (a *app) controlCommand(verb, update, short, long string) *cobra.Command {
	return &cobra.Command{
		Use:   verb + " ID",
		Short: short,
		Long: long + `

ID is the reproduction id that run and status print, at least six digits of its beginning, the
name of its experiment, or latest. With --json: the progress after it.

Exit codes: 0 done; 1 refused (the message says why); 2 no such reproduction; 6 Temporal
unreachable, or no worker answers.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.controlOne(c.Context(), args[0], update) },
	}
}

func (a *app) controlOne(ctx context.Context, id, update string) (err error) {
	if id, err = a.named(ctx, id, unfinished); err != nil {
		return err
	}
	conn, err := a.joinTemporal(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeSoon(conn)) }()
	ctx, cancel := context.WithTimeout(ctx, controlPatience)
	defer cancel()
	if spec, ok := launchSpec(id); ok {
		return a.controlLaunch(ctx, conn.Client, id, spec, update)
	}
	p, err := control(ctx, conn.Client, id, update)
	if err != nil {
		return err
	}
	if a.JSON() {
		return json.NewEncoder(a.out).Encode(p)
	}
	_, err = fmt.Fprintf(a.out, "reproduction %s is %s\n", id, p.State)
	return err
}
