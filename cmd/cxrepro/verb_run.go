package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/temporalconn"
	"cxrepro/worker"
)

// runFlags are the flags of `run`.
type runFlags struct {
	plan   planFlags
	worker workerFlags
	tuning contract.Tuning
	// budgetGiven: --budget was written, so a reproduction under way gets it.
	budgetGiven bool
	// watch, if set, sees the progress as the display does.
	watch func(view)
}

func newRunCommand(a *app) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run SPEC [--data NAME=FOLDER]... [--set path=value]...",
		Short: "Run an experiment to its end, or go on with it",
		Long: `run reads an experiment spec (a file, or a folder with a spec.yaml), starts the embedded
server and a worker in this process, runs the reproduction to its end and prints tables and
receipt. The same command after a crash, a Ctrl-C or a pause goes on where it stopped; of a
finished reproduction it prints the receipt again.

--set changes one field of the spec for this run, before anything is hashed; a threshold
row is --set thresholds.cardiomegaly.label.PA_min=0.55.

With --json the last line of standard output is the receipt: reproduction_id,
result_digest, steps{needed,run,reused,repeated} and more (docs/schemas.md).

An experiment with an evaluation asks models: --endpoints names the file that says where they
run, --budget what the calls may cost. A call is asked once, whatever happens: what is recorded
is never asked again. A case whose call failed for good is undetermined: exit code 3, and the
same command asks what is missing and nothing else. A refused credential, an empty purse and a
used up budget pause the run (exit code 4) until the same command goes on with it.

Exit codes: 0 done; 1 failed; 2 usage, spec or data; 3 done, with quarantined images or
undetermined cases; 4 paused; 5 cancelled or interrupted; 6 store or Temporal unreachable.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.budgetGiven = c.Flags().Changed("budget")
			return a.run(c.Context(), args[0], f)
		},
	}
	fl := c.Flags()
	f.plan.add(fl)
	f.worker.add(fl)
	fl.BoolVar(&f.worker.onlyRecorded, "recorded", false, "answer every call to a model from what is recorded, without any network; what is not recorded pauses the run")
	addTuningFlags(fl, &f.tuning)
	return c
}

// session is everything a verb with a worker in this process holds open.
type session struct {
	store *artifacts.Repository
	conn  *temporalconn.Conn
	log   *slog.Logger
	work  *worker.Worker
	close func() error
}

// open opens log, server and worker in this order; session.close ends them in the other.
// The worker finishes its image in hand.
func (a *app) open(ctx context.Context, store *artifacts.Repository, f workerFlags) (s *session, err error) {
	var closers []func() error
	closeAll := func() error {
		var errs []error
		for i := len(closers) - 1; i >= 0; i-- {
			errs = append(errs, closers[i]())
		}
		return errors.Join(errs...)
	}
	s = &session{store: store, close: closeAll}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	log, closeLog, err := a.openLog()
	if err != nil {
		return nil, err
	}
	s.log = log
	closers = append(closers, closeLog)
	if s.conn, err = a.openTemporal(ctx, a.temporalOptions(log)); err != nil {
		return nil, err
	}
	conn := s.conn
	closers = append(closers, func() error {
		stopping, cancel := context.WithTimeout(context.Background(), stopPatience)
		defer cancel()
		return conn.Close(stopping)
	})
	w, err := a.runWorker(s.conn, s.store, log, f)
	if err != nil {
		return nil, err
	}
	s.work = w
	closers = append(closers, w.Stop)
	return s, nil
}

func (a *app) run(ctx context.Context, file string, f runFlags) error {
	o, err := a.runSpec(ctx, file, f)
	if err != nil {
		return err
	}
	return a.printOutcome(ctx, o.store, o.receipt, o.summary)
}

// outcome is a finished reproduction.
type outcome struct {
	store   *artifacts.Repository
	receipt *contract.Receipt
	summary *contract.Summary
}

// runSpec runs a spec to its end. When it returns, nothing runs any more.
func (a *app) runSpec(ctx context.Context, file string, f runFlags) (*outcome, error) {
	store, err := a.openStore(ctx)
	if err != nil {
		return nil, err
	}
	p, err := a.prepare(ctx, store, file, f.plan)
	if err != nil {
		return nil, err
	}
	return a.runPlanned(ctx, store, p, f)
}

// runPlanned runs a plan that is in the store to its end.
func (a *app) runPlanned(ctx context.Context, store *artifacts.Repository, p *planned, f runFlags) (out *outcome, err error) {
	if p.over == nil {
		if err := needData(p, f.worker.data); err != nil {
			return nil, err
		}
	}
	if err := f.worker.readEndpoints(); err != nil {
		return nil, err
	}
	if p.spec.Training != nil {
		unlock, lockErr := a.equipTraining(p, &f.worker, p.trainers)
		if lockErr != nil {
			return nil, lockErr
		}
		defer func() { err = errors.Join(err, unlock()) }()
	}
	if err := needEndpoints(p.doc, f.worker, f.tuning.Calls.Budget); err != nil {
		return nil, err
	}
	f.worker.recorded = recordedCards(p.doc, f.worker)
	s, err := a.open(ctx, store, f.worker)
	if err != nil {
		return nil, err
	}
	if !f.worker.noGPU() && p.over == nil {
		if err := s.work.Preload(ctx, p.doc); err != nil {
			return nil, errors.Join(modelError(err), s.close())
		}
	}
	d := a.newDisplay()
	if f.watch != nil {
		d = watched{d, f.watch}
	}
	undisk, unlease := a.watchDisk(ctx, d), a.watchEndpoints(ctx, s, d, p, f.worker.queue)
	ref, err := a.reproduce(ctx, s, d, p, f)
	undisk()
	unlease()
	d.close()
	if err != nil {
		if ctx.Err() != nil {
			a.say("stopping: finishing the images in hand")
		}
		closeErr := s.close()
		return nil, errors.Join(a.ended(ctx, err), closeErr)
	}
	r, sum, err := loadReceipt(ctx, s.store, ref)
	if err := errors.Join(err, s.close()); err != nil {
		return nil, err
	}
	if !r.Incomplete() {
		if err := a.attestReproduction(ctx, store, ref); err != nil {
			a.say("not signed: " + err.Error())
		}
	}
	return &outcome{store: store, receipt: r, summary: sum}, nil
}

// needData refuses a run whose worker lacks the data set's folder, or gets one under a name that
// the spec does not read.
func needData(p *planned, values []string) error {
	roots, err := parseData(values)
	if err != nil {
		return err
	}
	names := []string{p.spec.Dataset.Name}
	if p.spec.Dataset.Quiz != nil {
		names = nil // drawn, not read
	}
	if b := p.spec.Benchmark; b != nil && b.Source == experiments.SourceRelease {
		names = append(names, b.Radiographs)
	}
	for _, name := range names {
		if !slices.ContainsFunc(roots, func(r dataRoot) bool { return r.name == name }) {
			return usageError(fmt.Sprintf("add --data %s=FOLDER", name), "the spec reads data set %q and no folder was given for it", name)
		}
	}
	names = append(names, companions...)
	for _, r := range roots {
		if !slices.Contains(names, r.name) {
			return usageError("correct the name, or leave it out", "--data %s: the spec does not read that name; it reads %s", r.name, strings.Join(names, ", "))
		}
	}
	return nil
}

// reproduce launches the plan and follows it to its receipt. An effort that the server has
// forgotten is launched again: what is recorded is in the store.
func (a *app) reproduce(ctx context.Context, s *session, d display, p *planned, f runFlags) (artifacts.Ref, error) {
	const forgotten = 3
	for again := 0; ; again++ {
		ref, err := a.reproduceOnce(ctx, s, d, p, f)
		if gone(err) && again < forgotten {
			d.note("the server has no memory of this run; starting it again from what is recorded")
			continue
		}
		return ref, err
	}
}

func (a *app) reproduceOnce(ctx context.Context, s *session, d display, p *planned, f runFlags) (artifacts.Ref, error) {
	c := s.conn.Client
	if p.over != nil {
		return a.reproduceOver(ctx, s, d, p, f)
	}
	run, err := launch(ctx, c, p, f.worker.queue, f.tuning)
	if err != nil {
		return artifacts.Ref{}, err
	}
	var launched contract.LaunchResult
	err = waitFor(ctx, d, func(ctx context.Context) (view, error) { return lookIngest(ctx, c, p.id) }, result(ctx, run, &launched))
	if err != nil {
		return artifacts.Ref{}, err
	}
	if !launched.Finished.IsZero() {
		d.note(fmt.Sprintf("reproduction %s is finished; this is its receipt", launched.Reproduction))
		return launched.Finished, nil
	}
	d.note("reproduction " + launched.Reproduction)
	if err := takeUp(ctx, c, d, launched.Reproduction, f); err != nil {
		return artifacts.Ref{}, err
	}
	return follow(ctx, c, d, launched.Reproduction)
}

// ended gives the end of a run that has no receipt its exit code and hint.
func (a *app) ended(ctx context.Context, err error) error {
	var stopped *errPaused
	switch {
	case errors.As(err, &stopped):
		return paused(stopped.gate)
	case ctx.Err() != nil:
		return &exitError{Code: exitCancelled, Err: errors.New("interrupted"), Hint: "the same command goes on where this one stopped"}
	}
	return workflowError(err)
}
