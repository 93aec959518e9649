package trainer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/process"
)

// Job is a segment to be trained in a folder of this machine. The folder is the run's: its
// segments share plan, schedule, events and checkpoints, and one is trained at a time.
type Job struct {
	// Folder is absolute. plan.json, schedule.jsonl and data lie in it before (WriteFiles).
	Folder  string
	Spec    Spec
	Segment Segment
	Recipe  *Recipe
	// Values fill placeholders that are of this machine: addresses, python, base model.
	Values Values
	// Environment is the child's, as NAME=value; Secrets are values in it that no log shows.
	Environment []string
	Secrets     []string
}

// Options are how patiently a trainer is watched. None of them decides what it gives.
type Options struct {
	// Poll is the time between two looks. Default 1 s.
	Poll time.Duration
	// Stall is how long it may write nothing. Default 30 minutes.
	Stall time.Duration
	// Grace is how long it may take to end when asked. Default 2 minutes.
	Grace time.Duration
	// Idle is how many attempts in a row may end without a new step. Default 3.
	Idle int
	// Detach, when it closes, ends the watch and lets the trainer run.
	Detach <-chan struct{}
	// Beat, if set, hears of progress, from one goroutine, whenever the trainer wrote
	// something.
	Beat func(Progress)
	// Sync, if set, takes a complete checkpoint, once each in a call. It stays untouched until
	// Sync returns.
	Sync func(ctx context.Context, folder string, c Checkpoint) error
	// Restore, if set, brings the newest complete checkpoint of at most a step, and of at
	// least another, into the folder of checkpoints, if the store has one.
	Restore func(ctx context.Context, folder string, least, most int) error
	// Fault is called at named points; tests kill there.
	Fault func(name string)
	Now   func() time.Time
}

func (o Options) withDefaults() Options {
	def := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&o.Poll, time.Second)
	def(&o.Stall, 30*time.Minute)
	def(&o.Grace, 2*time.Minute)
	if o.Idle <= 0 {
		o.Idle = 3
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Fault == nil {
		o.Fault = func(string) {}
	}
	return o
}

// ErrDetached is the error of a watch that ended while its trainer runs on.
var ErrDetached = errors.New("the trainer runs on; another attempt attaches to it")

// StuckError says that attempt after attempt ended without a new step.
type StuckError struct {
	Attempts int
	Last     error
}

func (e *StuckError) Error() string {
	return fmt.Sprintf("%d attempts in a row made no new step: %v", e.Attempts, e.Last)
}
func (e *StuckError) Unwrap() error { return e.Last }

// MismatchError says that the folder holds another training than the one that is asked for.
type MismatchError struct{ File, Detail string }

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s: %s; hint: a changed spec is another training, with a folder and a base of its own", e.File, e.Detail)
}

// supervisor is one call of Supervise.
type supervisor struct {
	Job
	Options
	record record
	child  *child
	synced map[string]bool
}

// Supervise trains a segment, or goes on with one that was begun: it attaches to a trainer that
// still runs, else starts one from the newest complete checkpoint. It returns when the trainer
// is over and everything complete was handed to Sync; whether to believe it is Prove's to say.
//
// Cancelling ctx ends the trainer and its group. An exit code of 0 ends a segment whatever was
// reached; other ends are errors as long as the target is not reached.
//
// Errors: *Failure, *StuckError, *HeldError, *MismatchError, ErrDetached, the context's.
func Supervise(ctx context.Context, job Job, opts Options) error {
	s := &supervisor{Job: job, Options: opts.withDefaults(), synced: map[string]bool{}}
	if err := s.Segment.Validate(s.Spec); err != nil {
		return err
	}
	if err := s.checkPlan(); err != nil {
		return err
	}
	if err := s.open(ctx); err != nil || s.child == nil {
		return err
	}
	return s.watch(ctx)
}

// CheckpointsFolder is where the job's checkpoints lie.
func (j *Job) CheckpointsFolder() string {
	return filepath.Join(j.Folder, filepath.FromSlash(j.Recipe.Checkpoints))
}

// List returns the checkpoints that lie in the job's folder, with the steps of the schedule: a
// trainer that names its folders by updates has Updates of them in a step.
func (j *Job) List() ([]Checkpoint, error) {
	list, err := j.Recipe.layout.Checkpoints(j.CheckpointsFolder())
	if err != nil || j.Recipe.number(1, j.Spec.Updates) == 1 {
		return list, err
	}
	for i := range list {
		c := &list[i]
		if c.Step%j.Spec.Updates != 0 && c.Torn == "" {
			c.Torn = fmt.Sprintf("checkpoint %s lies in the middle of a step of %d updates", c.Path, j.Spec.Updates)
		}
		c.Step /= j.Spec.Updates
	}
	return list, nil
}

// Starts returns the starts of the job's segment so far.
func (j *Job) Starts() ([]Start, error) {
	r, err := readRecord(j.Folder)
	if r.Key != j.Segment.Key() {
		return nil, err
	}
	return r.Starts, err
}

// checkPlan refuses a folder of another run.
func (s *supervisor) checkPlan() error {
	path := filepath.Join(s.Folder, "plan.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	p, err := DecodePlan(data)
	if err != nil {
		return err
	}
	if p.Run != s.Segment.Run {
		return &MismatchError{File: path, Detail: fmt.Sprintf("it is of run %s, and the spec is run %s", p.Run.Short(), s.Segment.Run.Short())}
	}
	return nil
}

// open attaches to the trainer that runs here, or starts one. child stays nil when there is
// nothing left to train.
func (s *supervisor) open(ctx context.Context) (err error) {
	lock, err := process.TryLock(filepath.Join(s.Folder, lockName))
	if errors.Is(err, process.ErrLocked) {
		return s.attach(ctx)
	}
	if err != nil {
		return err
	}
	passed := false
	defer func() {
		if !passed {
			err = errors.Join(err, lock.Close())
		}
	}()
	if s.record, err = readRecord(s.Folder); err != nil {
		return err
	}
	quiet, err := s.unwatched()
	if err != nil {
		return err
	}
	if err := s.bring(ctx); err != nil || quiet {
		return err
	}
	resume, done, err := s.position()
	if err != nil || done {
		return err
	}
	if err := s.patience(); err != nil {
		return err
	}
	passed = true
	return s.start(resume, lock)
}

// unwatched closes a start that ended while nobody watched. quiet says that it ended with 0,
// which ends the segment.
func (s *supervisor) unwatched() (quiet bool, err error) {
	a := s.record.last()
	if a == nil || a.Ended != "" || s.record.Key != s.Segment.Key() {
		return false, nil
	}
	code, ok := exitCode(s.Folder)
	switch {
	case !ok:
		return false, s.closeStart("it and its watcher were killed")
	case code == 0:
		return true, s.closeStart("exit code 0")
	}
	return false, s.closeStart(classify(code, redact(s.said(), s.Secrets)).Error())
}

// attach takes over the watch of a running trainer.
func (s *supervisor) attach(ctx context.Context) (err error) {
	if s.record, err = readRecord(s.Folder); err != nil {
		return err
	}
	switch {
	case s.record.Machine != process.Machine():
		return &HeldError{Folder: s.Folder, Detail: "a process of another machine, or of another start of it, is named there"}
	case s.record.Key != s.Segment.Key():
		return &HeldError{Folder: s.Folder, Detail: fmt.Sprintf("steps (%d, %d] are trained there now", s.record.Segment.From, s.record.Segment.To)}
	}
	last := s.record.last()
	resume := ""
	if last != nil && last.From > 0 {
		resume, err = s.folderOf(last.From)
		if err != nil {
			return err
		}
	}
	command, _, _, err := s.command(resume)
	if err != nil {
		return err
	}
	if last == nil || s.record.Command != command {
		return &HeldError{Folder: s.Folder, Detail: "another command line was started there"}
	}
	s.child, err = attach(ctx, s.Folder, s.record.Shell)
	return err
}

// command is the digest of the command line, and the line with the environment, both with
// {attempt} left in.
func (s *supervisor) command(resume string) (digest artifacts.Digest, argv, env []string, err error) {
	values := Values{"run": s.Folder, "checkpoints": s.CheckpointsFolder(), "attempt": "{attempt}"}
	for k, v := range s.Values {
		values[k] = v
	}
	argv, env, err = s.Recipe.Argv(s.Spec, s.Segment, values, resume)
	if err != nil {
		return digest, nil, nil, err
	}
	text, err := artifacts.Canonical(map[string]any{"argv": argv, "key": s.Segment.Key(), "recipe": s.Recipe.Digest()})
	return artifacts.Sum(text), argv, env, err
}

// start starts the trainer.
func (s *supervisor) start(resume *Checkpoint, lock *os.File) error {
	from, folder := s.Segment.From, ""
	if resume != nil {
		from, folder = resume.Step, filepath.Join(s.CheckpointsFolder(), resume.Path)
	}
	command, argv, env, err := s.command(folder)
	if err != nil {
		return errors.Join(err, lock.Close())
	}
	if s.record.Key != s.Segment.Key() {
		s.record.Starts = nil
	}
	a := Start{Attempt: Attempt{N: len(s.record.Starts) + 1, From: from}, Reached: from, Started: s.Now().UTC(),
		Out: sizeOf(filepath.Join(s.Folder, outName)), Err: sizeOf(filepath.Join(s.Folder, errName))}
	s.record = record{Segment: s.Segment, Key: s.Segment.Key(), Command: command, Machine: process.Machine(), Starts: append(s.record.Starts, a)}
	if err := s.record.write(s.Folder); err != nil {
		return errors.Join(err, lock.Close())
	}
	if argv, env, err = numbered(argv, env, a.N); err != nil {
		return errors.Join(err, lock.Close())
	}
	if s.child, err = launch(s.Folder, argv, append(env, s.Environment...), lock); err != nil {
		return err
	}
	s.Fault(FaultStarted)
	s.record.Shell = process.ID{PID: s.child.group, Start: s.child.start}
	return s.record.write(s.Folder)
}

// numbered fills the attempt into a command line, whose digest is the same for all attempts.
func numbered(argv, env []string, attempt int) ([]string, []string, error) {
	v := Values{"attempt": fmt.Sprint(attempt)}
	argv, err := v.fillAll(argv)
	if err != nil {
		return nil, nil, err
	}
	env, err = v.fillAll(env)
	return argv, env, err
}

// FaultStarted is the fault point between the start of a trainer and the record of it.
const FaultStarted = "trainer-started"

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
