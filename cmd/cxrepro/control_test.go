package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"cxrepro/internal/contract"
)

// background starts a command and waits until its first line of output.
func (b *bench) background(args ...string) (first string, stop func()) {
	b.t.Helper()
	c := b.command(args...)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	return line, func() {
		b.t.Helper()
		if err := c.Process.Signal(os.Interrupt); err != nil {
			b.t.Fatal(err)
		}
		if err := c.Wait(); err != nil {
			b.t.Errorf("%v ended with %v\n%s", args, err, errs.String())
		}
	}
}

// ask runs a short command and returns exit code and output.
func (b *bench) ask(args ...string) (int, string, string) {
	b.t.Helper()
	c := b.command(args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		b.t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

// TestControl starts an experiment on a server whose only worker has no accelerator, so
// that it waits for segmentation, and pauses, resumes, cancels and finishes it from other
// processes.
func TestControl(t *testing.T) {
	b := newBench(t, 3)
	if code, _, talk := b.ask("start", "spec.yaml"); code != exitUnreachable || !strings.Contains(talk, "cxrepro up") {
		t.Errorf("start without a server: exit %d\n%s", code, talk)
	}
	_, down := b.background("up", "--json", "--no-ui", "--only", "cpu", "--data", "golden-cases=data")
	if code, out, talk := b.ask("start", "spec.yaml", "--json"); code != exitOK || !strings.Contains(out, `"workflow":"cxrepro/launch/`) {
		t.Fatalf("start: exit %d\n%s%s", code, out, talk)
	}
	id := b.awaitReproduction()
	for _, step := range []struct {
		verb  string
		code  int
		state string
	}{
		{"resume", exitFailed, "not paused"},
		{"pause", exitOK, "is paused"},
		{"pause", exitFailed, "paused already"},
		{"watch", exitPaused, "paused"},
		{"resume", exitOK, "is running"},
		{"cancel", exitOK, "is cancelled"},
		{"watch", exitCancelled, "cancelled"},
	} {
		code, out, talk := b.ask(step.verb, id)
		if code != step.code || !strings.Contains(out+talk, step.state) {
			t.Errorf("%s: exit %d, want %d and %q\n%s%s", step.verb, code, step.code, step.state, out, talk)
		}
	}
	if code, _, talk := b.ask("pause", "0000000000000000"); code != exitUsage || !strings.Contains(talk, "no reproduction") {
		t.Errorf("pause of nothing: exit %d\n%s", code, talk)
	}
	down()
	code, r, talk := b.run()
	if code != exitOK || r.Reproduction != id {
		t.Fatalf("run after a cancellation: exit %d\n%s", code, talk)
	}
	if r.Steps.Run != r.Steps.Needed {
		t.Errorf("steps %+v, want all run by this reproduction", r.Steps)
	}
	code, out, talk := b.ask("status", id, "--json")
	var again contract.Receipt
	if err := json.Unmarshal([]byte(out), &again); err != nil || code != exitOK || again.ResultDigest != r.ResultDigest {
		t.Errorf("status of a finished one: exit %d, %v\n%s%s", code, err, out, talk)
	}
}

// awaitReproduction waits until status shows a reproduction that runs.
func (b *bench) awaitReproduction() string {
	b.t.Helper()
	var last string
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(300 * time.Millisecond) {
		code, out, talk := b.ask("status", "--json")
		last = out + talk
		var list []known
		if code != exitOK || json.Unmarshal([]byte(out), &list) != nil {
			continue
		}
		for _, k := range list {
			if k.State == contract.StateRunning {
				return k.ID
			}
		}
	}
	b.t.Fatalf("no reproduction came up: %s", last)
	return ""
}
