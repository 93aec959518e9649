package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"cxrepro/internal/casedata"
	"cxrepro/internal/contract"
	"cxrepro/internal/devserver"
)

// asCommand makes this test binary behave as the command, so that tests can kill it.
const asCommand = "CXREPRO_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	devserver.Trampoline()
	if os.Getenv(asCommand) == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

// bench is a state directory with a data set of golden cases and a spec over it.
type bench struct {
	t           *testing.T
	dir, state  string
	environment []string
	// spec and data are what run gets.
	spec string
	data []string
	// store, if set, replaces the folder in the state directory; credentials are for it.
	store       string
	credentials []string
	// hear, if set, gets what run says as it says it.
	hear io.Writer
}

func newBench(t *testing.T, cases int) *bench {
	t.Helper()
	if testing.Short() {
		t.Skip("starts servers")
	}
	b := &bench{t: t, dir: t.TempDir(), spec: "spec.yaml", data: []string{"--data", "golden-cases=data"}}
	b.state = filepath.Join(b.dir, "state")
	casedata.Write(t, filepath.Join(b.dir, "data"), casedata.Files(t, cases))
	if err := os.WriteFile(filepath.Join(b.dir, "spec.yaml"), []byte(casedata.Spec), 0o644); err != nil {
		t.Fatal(err)
	}
	return b
}

// command is one run of the command as a process of its own.
func (b *bench) command(args ...string) *exec.Cmd {
	b.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	args = append(args, "--state", b.state)
	if b.store != "" {
		args = append(args, "--store", b.store)
	}
	c := exec.Command(exe, args...)
	c.Dir = b.dir
	c.Env = slices.Concat(os.Environ(), []string{asCommand + "=1"}, b.credentials, b.environment)
	return c
}

// run runs the experiment to its end and returns exit code, receipt and talk.
func (b *bench) run(args ...string) (int, *contract.Receipt, string) {
	b.t.Helper()
	var out, errs bytes.Buffer
	all := append([]string{"run", b.spec, "--json", "--heartbeat-timeout", "2s", "--retry-interval", "100ms"}, b.data...)
	c := b.command(append(all, args...)...)
	c.Stdout, c.Stderr = &out, &errs
	if b.hear != nil {
		c.Stderr = io.MultiWriter(&errs, b.hear)
	}
	err := c.Run()
	code := c.ProcessState.ExitCode()
	if err != nil && code < 0 && c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		b.t.Fatalf("run: %v\n%s", err, errs.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if code != exitOK && code != exitQuarantined {
		return code, nil, errs.String()
	}
	var r contract.Receipt
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		b.t.Fatalf("last line is no receipt: %v\n%s\n%s", err, out.String(), errs.String())
	}
	if wrong := r.Check(); len(wrong) > 0 {
		b.t.Errorf("receipt: %v", wrong)
	}
	return code, &r, errs.String()
}

// exit returns the exit code behind an error of a command.
func (b *bench) exit(err error) int {
	b.t.Helper()
	if ee, ok := err.(*exec.ExitError); ok {
		return ee.ExitCode()
	}
	return -1
}
