package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cxrepro/internal/devserver"
)

// doctorRun runs the command in this process and returns exit code, report and talk.
func doctorRun(t *testing.T, args ...string) (int, doctorReport, string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := execute(t.Context(), append([]string{"doctor", "--json"}, args...), nil, &out, &errs)
	var r doctorReport
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("report: %v\n%s", err, out.String())
		}
	}
	return code, r, errs.String()
}

// UnmarshalText reads the stable name back.
func (v *verdict) UnmarshalText(b []byte) error {
	for i, name := range verdictNames {
		if name == string(b) {
			*v = verdict(i)
		}
	}
	return nil
}

// TestDoctor looks at a machine where everything is there, then at one thing wrong at a
// time: its line must fail, its exit code be right, and every failure but the last resort
// name a way out.
func TestDoctor(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	code, r, talk := doctorRun(t, "--install", "--state", state)
	if code != exitOK || !r.OK || len(r.Checks) != 12 {
		t.Fatalf("exit %d, %+v\n%s", code, r, talk)
	}
	if _, err := os.Stat(state); !os.IsNotExist(err) {
		t.Errorf("the doctor made the state directory (%v)", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".cxrepro*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, check string
		code        int
		hint        string
		args        []string
	}{
		{"state is a file", "state directory", exitUnreachable, "--state", []string{"--state", file}},
		{"no cluster", "temporal", exitUnreachable, "check the address", []string{"--state", state, "--temporal-address", "127.0.0.1:1"}},
		{"bad address", "temporal", exitFailed, "HOST:PORT", []string{"--state", state, "--temporal-address", "nowhere"}},
		{"no bucket", "store", exitUnreachable, "", []string{"--state", state, "--store", "s3://bucket/x?endpoint=http://127.0.0.1:1&region=eu-1"}},
		{"no data set", "data mimic", exitFailed, "point at", []string{"--state", state, "--data", "mimic=" + dir}},
		{"wrong binary", "temporal command", exitFailed, "CXREPRO_TEMPORAL", []string{"--state", state, "--temporal", "/bin/true"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("AWS_ACCESS_KEY_ID", "none")
			t.Setenv("AWS_SECRET_ACCESS_KEY", "none")
			code, r, talk := doctorRun(t, c.args...)
			if code != c.code || r.OK {
				t.Errorf("exit %d, want %d\n%s", code, c.code, talk)
			}
			found := false
			for _, f := range r.Checks {
				if f.Check == c.check {
					found = f.Verdict == verdictFail && strings.Contains(f.Hint, c.hint)
					t.Logf("%v %s: %s; hint: %s", f.Verdict, f.Check, f.Detail, f.Hint)
				}
			}
			if !found {
				t.Errorf("%q did not fail with a hint of %q: %+v", c.check, c.hint, r.Checks)
			}
		})
	}
	if code, _, _ := doctorRun(t, "--data", "x"); code != exitUsage {
		t.Errorf("--data x: exit %d, want %d", code, exitUsage)
	}
}

// TestUp starts the services, lets the doctor see them, and stops them by cancelling.
func TestUp(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	state := filepath.Join(t.TempDir(), "state")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var errs bytes.Buffer
	exit := make(chan int, 1)
	go func() {
		exit <- execute(ctx, []string{"up", "--state", state, "--json", "--no-ui"}, nil, in, &errs)
		in.Close()
	}()
	var ready upReady
	if err := json.NewDecoder(out).Decode(&ready); err != nil {
		t.Fatalf("no ready line: %v\n%s", err, errs.String())
	}
	if ready.Event != "ready" || !ready.Embedded || !ready.Owner || !ready.Worker || ready.UI != "" {
		t.Errorf("ready line %+v", ready)
	}
	_, r, _ := doctorRun(t, "--state", state)
	for _, f := range r.Checks {
		if f.Check == "state holder" && !strings.Contains(f.Detail, ready.Temporal) || f.Check == "temporal" && !strings.Contains(f.Detail, "running here") {
			t.Errorf("while it runs: %s: %s", f.Check, f.Detail)
		}
	}
	cancel()
	began := time.Now()
	if code := <-exit; code != exitOK {
		t.Errorf("exit %d\n%s", code, errs.String())
	}
	t.Logf("stopped in %v", time.Since(began).Round(time.Millisecond))
	if s, err := devserver.Inspect(state); err != nil || s.Running || s.LeftOver {
		t.Errorf("after the stop: %+v, %v", s, err)
	}
}
