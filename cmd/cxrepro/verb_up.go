package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cxrepro/internal/temporalconn"
)

func newUpCommand(a *app) *cobra.Command {
	var f upFlags
	c := &cobra.Command{
		Use:   "up",
		Short: "Run the embedded services and a worker in the foreground",
		Long: `up starts the embedded Temporal server on the state directory, or joins the one that
runs there, starts a worker, prints the addresses and stays until it is told to stop
(Ctrl-C or SIGTERM). Everything listens on 127.0.0.1 only. With a cluster configured it
runs the worker alone.

If the process that runs the server ends while others use it, one of them takes over on
the same ports.

With --json it prints one object when everything runs: event ("ready"), temporal,
namespace, ui, embedded, owner, store, state, worker and pid.

Exit codes: 0 stopped as told; 1 failed; 2 usage; 6 store or Temporal unreachable.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.up(c.Context(), f) },
	}
	fl := c.Flags()
	fl.IntVar(&f.port, "port", 0, "port of the Temporal server (default: the one used last, else a free one)")
	fl.IntVar(&f.uiPort, "ui-port", 0, "port of its web interface (default: the one used last, else a free one)")
	fl.BoolVar(&f.noUI, "no-ui", false, "leave the web interface out")
	f.worker.add(fl)
	return c
}

// upFlags are the flags of `up`.
type upFlags struct {
	port, uiPort int
	noUI         bool
	worker       workerFlags
}

// upReady is the line that `up --json` prints when everything runs.
type upReady struct {
	Event     string `json:"event"` // "ready"
	Temporal  string `json:"temporal"`
	Namespace string `json:"namespace"`
	UI        string `json:"ui,omitempty"`
	Embedded  bool   `json:"embedded"`
	Owner     bool   `json:"owner"` // this process runs the embedded server
	Store     string `json:"store"`
	State     string `json:"state"`
	Worker    bool   `json:"worker"`
	PID       int    `json:"pid"`
}

func (a *app) up(ctx context.Context, f upFlags) (err error) {
	log, closeLog, err := a.openLog()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLog()) }()
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	a.startWorker = func(_ context.Context, conn *temporalconn.Conn) (func(context.Context) error, error) {
		w, err := a.runWorker(conn, store, log, f.worker)
		if err != nil {
			return nil, err
		}
		return func(context.Context) error { return w.Stop() }, nil
	}
	o := a.temporalOptions(log)
	o.Server.Port, o.Server.UIPort, o.Server.NoUI = f.port, f.uiPort, f.noUI
	conn, err := a.openTemporal(ctx, o)
	if err != nil {
		return err
	}
	defer func() {
		stopping, cancel := context.WithTimeout(context.Background(), stopPatience)
		defer cancel()
		err = errors.Join(err, conn.Close(stopping))
	}()
	if a.startWorker != nil {
		stop, werr := a.startWorker(ctx, conn)
		if werr != nil {
			return werr
		}
		defer func() {
			stopping, cancel := context.WithTimeout(context.Background(), stopPatience)
			defer cancel()
			err = errors.Join(err, stop(stopping))
		}()
	}
	if err := a.printReady(conn); err != nil {
		return err
	}
	var gone <-chan struct{}
	if conn.Server != nil {
		gone = conn.Server.Done()
	}
	select {
	case <-ctx.Done():
		a.say("stopping")
		return nil
	case <-gone:
		return &exitError{Code: exitUnreachable, Err: conn.Server.Err(), Hint: "run `cxrepro doctor`, then the same command again: recorded work is kept"}
	}
}

func (a *app) printReady(conn *temporalconn.Conn) error {
	r := upReady{
		Event: "ready", Temporal: conn.Address, Namespace: conn.Namespace, UI: conn.UIAddress, Embedded: conn.Embedded(),
		Owner: conn.Server != nil && conn.Server.Owner(), Store: a.storeAddress(), State: a.StateDir(), Worker: a.startWorker != nil, PID: os.Getpid(),
	}
	if a.JSON() {
		return json.NewEncoder(a.out).Encode(r)
	}
	lines := [][2]string{{"temporal", r.Temporal + "  namespace " + r.Namespace}, {"web interface", r.UI}, {"store", r.Store}, {"state", r.State}}
	for _, l := range lines {
		if l[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(a.out, "%-14s %s\n", l[0], l[1]); err != nil {
			return err
		}
	}
	a.say("ready; Ctrl-C stops")
	return nil
}

// storeAddress is where artifacts are kept: --store, or the folder in the state directory.
func (a *app) storeAddress() string {
	if s := a.StoreURL(); s != "" {
		return s
	}
	return filepath.Join(a.StateDir(), "store")
}
