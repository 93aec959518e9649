package devserver

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cxrepro/internal/process"
)

// TestKill sends SIGKILL to owner, supervisor and server, alone, in pairs and all three in
// every order, while the second of four activities is at work. The workflow must end with
// its result, under the same run, and no finished activity may run again.
func TestKill(t *testing.T) {
	for _, order := range []string{
		"owner", "supervisor", "server",
		"owner supervisor", "supervisor owner", "owner server", "server owner", "supervisor server", "server supervisor",
		"owner supervisor server", "owner server supervisor", "supervisor owner server",
		"supervisor server owner", "server owner supervisor", "server supervisor owner",
	} {
		t.Run(strings.ReplaceAll(order, " ", "-"), func(t *testing.T) {
			t.Parallel()
			killInFlight(t, hostInput{}, strings.Fields(order))
		})
	}
}

// TestKillLeavesOrphan does the same where the kernel does not end the server together
// with its supervisor: the orphan must be found and ended before its file is opened. It is
// stopped, so that nothing but a kill can end it.
func TestKillLeavesOrphan(t *testing.T) {
	for _, order := range []string{"supervisor", "supervisor owner"} {
		t.Run(strings.ReplaceAll(order, " ", "-"), func(t *testing.T) {
			t.Parallel()
			said := killInFlight(t, hostInput{KeepOrphans: true}, strings.Fields(order))
			found := false
			for _, l := range said {
				found = found || l.Event == "notice" && strings.Contains(l.Text, "left behind")
			}
			if !found {
				t.Errorf("nobody said that an orphan was ended: %+v", said)
			}
		})
	}
}

// killInFlight returns what the host that saw the result said.
func killInFlight(t *testing.T, in hostInput, order []string) []hostLine {
	in.State = t.TempDir()
	in.Journal = filepath.Join(t.TempDir(), "journal")
	h := startHost(t, in)
	first := h.await("ready")
	awaitStep(t, in.Journal, 2)
	time.Sleep(stepTime / 3) // in the middle of it
	r := readRecord(paths{in.State}.record())
	if r.Owner.PID != first.PID || !r.Supervisor.Alive() || !r.Server.Alive() {
		t.Fatalf("lock.json does not name the living: %+v", r)
	}
	if in.KeepOrphans { // or it would end by itself when it logs into the broken pipe
		if err := syscall.Kill(r.Server.PID, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	for _, who := range order {
		p := map[string]process.ID{"owner": r.Owner, "supervisor": r.Supervisor, "server": r.Server}[who]
		if p.Alive() { // the first kill may have ended the others already
			if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
				t.Fatalf("kill %s: %v", who, err)
			}
		}
	}
	for _, who := range order {
		if who == "owner" {
			h = startHost(t, in)
			if again := h.await("ready"); again.RunID != first.RunID {
				t.Errorf("run %s after the restart, want %s", again.RunID, first.RunID)
			}
		}
	}
	last := h.await("result")
	if last.Text != wantResult || last.RunID != first.RunID {
		t.Errorf("result %q of run %s, want %q of %s", last.Text, last.RunID, wantResult, first.RunID)
	}
	checkJournal(t, in.Journal)
	t.Logf("result %d ms after the process that saw it began", last.Millis)
	checkGone(t, h, in.State)
	return h.seen
}

// checkGone waits for the host's end and demands that nothing of the server is left.
func checkGone(t *testing.T, h *host, state string) {
	t.Helper()
	for l := range h.lines {
		h.seen = append(h.seen, l)
	}
	nothingLeft(t, state)
	if r := readRecord(paths{state}.record()); r.State != stateStopped {
		t.Errorf("after the end lock.json says %s", r.State)
	}
}

// TestOwnerEndsJoinerTakesOver runs two hosts on one state directory. The second joins;
// the first is killed in mid-activity; the second finishes the workflow on the same
// address.
func TestOwnerEndsJoinerTakesOver(t *testing.T) {
	t.Parallel()
	in := hostInput{State: t.TempDir(), Journal: filepath.Join(t.TempDir(), "journal")}
	owner := startHost(t, in)
	first := owner.await("ready")
	joiner := startHost(t, in)
	if l := joiner.await("ready"); l.Owner || l.RunID != first.RunID {
		t.Errorf("second process: owner %t, run %s; want a joiner on run %s", l.Owner, l.RunID, first.RunID)
	}
	before := readRecord(paths{in.State}.record())
	if err := owner.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	last := joiner.await("result")
	if last.Text != wantResult || last.RunID != first.RunID || !last.Owner {
		t.Errorf("joiner's end: %+v", last)
	}
	after := readRecord(paths{in.State}.record())
	if after.Address != before.Address || after.Owner.PID != last.PID {
		t.Errorf("lock.json before and after the takeover: %+v, %+v", before, after)
	}
	checkJournal(t, in.Journal)
	checkGone(t, joiner, in.State)
}

// TestKillAnyTime kills some of the three processes at random times from the very start
// on, while files are made, locks taken and the server comes up, again and again. The
// workflow must end as if nothing had happened, under the run that was first seen.
func TestKillAnyTime(t *testing.T) {
	t.Parallel()
	const rounds = 14
	rng := rand.New(rand.NewPCG(20, 26))
	in := hostInput{State: t.TempDir(), Journal: filepath.Join(t.TempDir(), "journal")}
	runID := ""
	same := func(l hostLine) {
		if l.RunID != "" && runID == "" {
			runID = l.RunID
		}
		if l.RunID != "" && l.RunID != runID {
			t.Errorf("run %s, want %s as before", l.RunID, runID)
		}
	}
	for round := range rounds {
		h := startHost(t, in)
		time.Sleep(time.Duration(rng.IntN(1600)) * time.Millisecond)
		r := readRecord(paths{in.State}.record())
		victims := []process.ID{r.Server, r.Supervisor}[:rng.IntN(3)]
		rng.Shuffle(len(victims), func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
		for _, p := range victims {
			if p.Alive() {
				_ = syscall.Kill(p.PID, syscall.SIGKILL)
			}
		}
		if round%2 == 0 { // let the owner notice and begin to repair
			time.Sleep(time.Duration(rng.IntN(700)) * time.Millisecond)
		}
		_ = h.cmd.Process.Kill()
		for l := range h.lines {
			same(l)
			if l.Event == "failed" {
				t.Errorf("round %d: %s", round, l.Text)
			}
		}
	}
	h := startHost(t, in)
	last := h.await("result")
	same(last)
	if last.Text != wantResult {
		t.Errorf("result %q, want %q", last.Text, wantResult)
	}
	checkJournal(t, in.Journal)
	checkGone(t, h, in.State)
	t.Logf("%d rounds of kills; steps begun: %d", rounds, len(readJournal(t, in.Journal)))
}
