package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newDoctorCommand(a *app) *cobra.Command {
	var f doctorFlags
	c := &cobra.Command{
		Use:   "doctor [--install] [--data NAME=PATH]...",
		Short: "Check everything a reproduction needs and say what to do",
		Long: `doctor looks at this machine, the state directory, the outside binaries, the artifact
store, Temporal and the data sets named by --data, and says for each whether it is ok and
what to do if not. It starts the embedded server for a moment in a temporary folder and
removes what it makes. With --install it fetches the outside binaries now instead of at
the first run.

With --json it prints one object: ok (nothing failed) and checks, a list of check, verdict
(ok, warn or fail), detail, hint and millis.

Exit codes: 0 nothing failed (there may be warnings); 1 something failed; 2 usage;
6 store or Temporal unreachable.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			data, err := parseData(f.data)
			if err != nil {
				return err
			}
			return a.doctor(c.Context(), f, data)
		},
	}
	fl := c.Flags()
	fl.BoolVar(&f.install, "install", false, "fetch the Temporal command and the ONNX Runtime library now")
	fl.StringArrayVar(&f.data, "data", nil, "check the layout of a data set: NAME=PATH, may be repeated")
	return c
}

// doctorFlags are the flags of `doctor`.
type doctorFlags struct {
	install bool
	data    []string
}

// verdict is the outcome of one check.
type verdict uint8

// Verdicts.
const (
	verdictOK   verdict = iota + 1
	verdictWarn         // works, but see the hint
	verdictFail         // a reproduction would not run
)

var verdictNames = [...]string{verdictOK: "ok", verdictWarn: "warn", verdictFail: "fail"}

// String is the verdict's stable name.
func (v verdict) String() string {
	if v < verdictOK || v > verdictFail {
		return fmt.Sprintf("verdict(%d)", uint8(v))
	}
	return verdictNames[v]
}

// MarshalText writes the stable name.
func (v verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// finding is one line of the doctor's report.
type finding struct {
	Check   string  `json:"check"`
	Verdict verdict `json:"verdict"`
	Detail  string  `json:"detail"`
	Hint    string  `json:"hint,omitempty"`
	Millis  int64   `json:"millis"`

	unreachable bool // a failure that means exit code 6
}

func ok(format string, args ...any) finding {
	return finding{Verdict: verdictOK, Detail: fmt.Sprintf(format, args...)}
}

func warn(hint, format string, args ...any) finding {
	return finding{Verdict: verdictWarn, Detail: fmt.Sprintf(format, args...), Hint: hint}
}

func fail(hint, format string, args ...any) finding {
	return finding{Verdict: verdictFail, Detail: fmt.Sprintf(format, args...), Hint: hint}
}

// doctorReport is what `doctor --json` prints.
type doctorReport struct {
	OK     bool      `json:"ok"` // nothing failed
	Checks []finding `json:"checks"`
}

// examination is one run of the doctor; later checks use what earlier ones found.
type examination struct {
	a       *app
	install bool
	scratch string // folder on the state directory's file system, removed at the end
	binary  string // of the Temporal command, empty when there is none
	found   []finding
}

// doctor runs every check and reports.
func (a *app) doctor(ctx context.Context, f doctorFlags, data []dataRoot) error {
	e := &examination{a: a, install: f.install}
	defer e.clean()
	checks := []struct {
		name string
		run  func(context.Context) finding
	}{
		{"program", e.program}, {"processors", e.processors}, {"memory", e.memory}, {"open files", e.openFiles},
		{"state directory", e.stateDir}, {"free space", e.freeSpace}, {"clock", e.clock}, {"state holder", e.holder},
		{"temporal command", e.temporalCommand}, {"onnx runtime", e.onnxRuntime}, {"store", e.store}, {"temporal", e.temporal},
	}
	for _, c := range checks {
		if err := e.check(ctx, c.name, c.run); err != nil {
			return err
		}
	}
	for _, d := range data {
		if err := e.check(ctx, "data "+d.name, func(ctx context.Context) finding { return checkData(ctx, d) }); err != nil {
			return err
		}
	}
	return e.report()
}

// check runs one check; in a terminal its line appears as soon as it is known.
func (e *examination) check(ctx context.Context, name string, run func(context.Context) finding) error {
	began := time.Now()
	f := run(ctx)
	if err := ctx.Err(); err != nil {
		return &exitError{Code: exitCancelled, Err: fmt.Errorf("doctor: %w", err)}
	}
	f.Check, f.Millis = name, time.Since(began).Milliseconds()
	e.found = append(e.found, f)
	if e.a.JSON() {
		return nil
	}
	_, err := fmt.Fprintf(e.a.out, "%-4s  %-16s  %s\n", f.Verdict, f.Check, indent(f.Detail))
	if err == nil && f.Hint != "" {
		_, err = fmt.Fprintf(e.a.out, "%-24s  hint: %s\n", "", indent(f.Hint))
	}
	return err
}

// indent puts the lines after the first under the detail column.
func indent(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n"+strings.Repeat(" ", 24))
}

func (e *examination) report() error {
	r := doctorReport{OK: true, Checks: e.found}
	failed, warned, unreachable := 0, 0, false
	for _, f := range e.found {
		switch f.Verdict {
		case verdictFail:
			failed++
			unreachable = unreachable || f.unreachable
		case verdictWarn:
			warned++
		}
	}
	r.OK = failed == 0
	if e.a.JSON() {
		if err := json.NewEncoder(e.a.out).Encode(r); err != nil {
			return err
		}
	}
	switch {
	case unreachable:
		return &exitError{Code: exitUnreachable, Err: fmt.Errorf("%d of %d checks failed", failed, len(r.Checks))}
	case failed > 0:
		return &exitError{Code: exitFailed, Err: fmt.Errorf("%d of %d checks failed", failed, len(r.Checks))}
	}
	e.a.say(fmt.Sprintf("%d checks, %d warnings, nothing failed", len(r.Checks), warned))
	return nil
}
