package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/viper"
)

// Exit codes of every verb.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitQuarantined = 3
	exitPaused      = 4
	exitCancelled   = 5
	exitUnreachable = 6
)

// exitError carries the exit code a verb wants, the message, nil for none, and a hint that names
// the way out.
type exitError struct {
	Code int
	Err  error
	Hint string
}

// Error is the message; empty where the exit code says it all.
func (e *exitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *exitError) Unwrap() error { return e.Err }

// usageError reports wrong arguments, flags or spec contents (exit code 2).
func usageError(hint, format string, args ...any) error {
	return &exitError{Code: exitUsage, Err: fmt.Errorf(format, args...), Hint: hint}
}

// app is what every verb shares: streams and the where-and-how-fast settings.
// Nothing in settings can change a number; that lives in the experiment spec.
type app struct {
	in       io.Reader
	out, err io.Writer
	settings *viper.Viper

	talk        sync.Mutex    // one line of talk at a time
	startWorker workerStarter // nil: `up` runs no worker
}

// StateDir is where the embedded profile keeps store, Temporal data, caches and logs.
func (a *app) StateDir() string { return a.settings.GetString("state") }

// StoreURL names the artifact store: a folder, s3:// or minio://. Empty means the
// folder "store" inside the state directory.
func (a *app) StoreURL() string { return a.settings.GetString("store") }

// JSON reports whether machine-readable output was asked for.
func (a *app) JSON() bool { return a.settings.GetBool("json") }

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	a := &app{in: in, out: out, err: errw, settings: viper.New()}
	root, err := newRootCommand(a)
	if err != nil {
		fmt.Fprintf(errw, "cxrepro: error: %v\n", err)
		return exitFailed
	}
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	err = root.ExecuteContext(ctx)
	if err != nil && strings.HasPrefix(err.Error(), "unknown command") { // the library has no type for it
		err = usageError("see `cxrepro --help`", "%s", strings.TrimSpace(err.Error()))
	}
	return report(errw, err)
}

// report prints err the way people read it and returns its exit code.
func report(w io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	code, hint := exitFailed, ""
	var ee *exitError
	if !errors.As(err, &ee) && fullDisk(err) {
		err = storeError(err)
	}
	if errors.As(err, &ee) {
		code, hint, err = ee.Code, ee.Hint, ee.Err
	}
	message := ""
	if err != nil {
		message = err.Error()
	}
	message, said := splitHint(tame(message))
	if message != "" {
		fmt.Fprintf(w, "cxrepro: error: %s\n", message)
	}
	for _, h := range []string{said, tame(hint)} {
		if h != "" {
			fmt.Fprintf(w, "cxrepro: hint: %s\n", h)
		}
	}
	return code
}

// splitHint cuts off the hint that an error of a lower layer carries in its text.
func splitHint(message string) (string, string) {
	for _, mark := range []string{"; hint: ", "\nhint: "} {
		if head, tail, ok := strings.Cut(message, mark); ok {
			return head, tail
		}
	}
	return message, ""
}

func newRootCommand(a *app) (*cobra.Command, error) {
	root := &cobra.Command{
		Use:   "cxrepro",
		Short: "Reproduce chest-X-ray papers, resume exactly, prove every number",
		Long: `cxrepro launches the full reproduction of a chest-X-ray paper, resumes it exactly
after any crash, and proves number by number what was run on what.

Exit codes: 0 ok; 1 failed; 2 usage or spec; 3 done with quarantined or undetermined
items; 4 paused; 5 cancelled; 6 store or Temporal unreachable.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	flags := root.PersistentFlags()
	flags.String("state", defaultState(), "state directory of the embedded profile (or CXREPRO_STATE)")
	flags.String("store", "", "artifact store: folder, s3://bucket/prefix?..., minio://bucket/prefix?... (or CXREPRO_STORE; default <state>/store)")
	flags.String("catalog", "", "catalog database: postgres://USER@HOST/DATABASE (or CXREPRO_CATALOG; default a file in <state>/cache)")
	flags.String("durability", "process", "what a stored object in a folder survives: the death of any process, or a power cut (process, power)")
	addTemporalFlags(flags)
	addInferenceFlags(flags)
	flags.Bool("json", false, "machine-readable output on standard output")
	a.settings.SetEnvPrefix("CXREPRO")
	a.settings.SetEnvKeyReplacer(strings.NewReplacer("-", "_", ".", "_"))
	a.settings.AutomaticEnv()
	if err := a.settings.BindPFlags(flags); err != nil {
		return nil, err
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError("see `"+c.CommandPath()+" --help`", "%v", err)
	})
	root.AddCommand(commands(a)...)
	usageOfArguments(root)
	return root, nil
}

// usageOfArguments makes wrong arguments and unknown verbs of every command usage errors.
func usageOfArguments(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			var ee *exitError
			if err == nil || errors.As(err, &ee) {
				return err
			}
			return usageError("see `"+c.CommandPath()+" --help`; usage: "+c.UseLine(), "%v", err)
		}
	}
	if c.HasSubCommands() && !c.Runnable() && c.HasParent() {
		c.RunE = func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return usageError("see `"+c.CommandPath()+" --help`", "unknown command %q for %q", args[0], c.CommandPath())
		}
	}
	for _, sub := range c.Commands() {
		usageOfArguments(sub)
	}
}

// commands lists every verb, one line each, in alphabetical order.
func commands(a *app) []*cobra.Command {
	return []*cobra.Command{
		newArtifactsCommand(a),
		newCancelCommand(a),
		newCatalogCommand(a),
		newCheckCommand(a),
		newCheckpointsCommand(a),
		newChexstructCommand(a),
		newCxreasonbenchCommand(a),
		newDatasetCommand(a),
		newDatasetsCommand(a),
		newDemoCommand(a),
		newDiffCommand(a),
		newDoctorCommand(a),
		newExplainCommand(a),
		newExportCommand(a),
		newKeysCommand(a),
		newLineageCommand(a),
		newOverlapCommand(a),
		newPauseCommand(a),
		newPhantomCommand(a),
		newPlanCommand(a),
		newReceiptCommand(a),
		newReportCommand(a),
		newReproduceCommand(a),
		newRescoreCommand(a),
		newResponderCommand(a),
		newResumeCommand(a),
		newRunCommand(a),
		newSegmentCommand(a),
		newStartCommand(a),
		newStatusCommand(a),
		newUpCommand(a),
		newVerifyCommand(a),
		newVersionCommand(a),
		newWatchCommand(a),
		newWhyCommand(a),
		newWorkerCommand(a),
		newXragentCommand(a),
	}
}

func defaultState() string {
	if s := os.Getenv("CXREPRO_STATE"); s != "" {
		return s
	}
	return ".cxrepro"
}
