package dirstore_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/localhost"
)

const stepCount = 30

func stepKey(i int) (artifacts.Key, error) {
	return artifacts.KeyDoc{Step: "work", Version: 1, Params: map[string]any{"i": i}}.Key()
}

// steps computes what has no record yet, as a worker does, and dies where
// DIRSTORE_KILL_AT says (name:nth).
func steps(folder string) error {
	if name, nth, ok := strings.Cut(os.Getenv("DIRSTORE_KILL_AT"), ":"); ok {
		left, err := strconv.Atoi(nth)
		if err != nil {
			return err
		}
		artifacts.FaultHook = func(at string) {
			if at == name {
				if left--; left == 0 {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				}
			}
		}
	}
	b, err := dirstore.Open(folder, dirstore.Options{})
	if err != nil {
		return err
	}
	h := localhost.New()
	r, err := artifacts.New(b, artifacts.Options{Host: h})
	if err != nil {
		return err
	}
	for i := range stepCount {
		if err := oneStep(r, h.Owner(artifacts.Owner{Worker: "w"}), i); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}

func oneStep(r *artifacts.Repository, owner artifacts.Owner, i int) error {
	ctx := localContext()
	key, err := stepKey(i)
	if err != nil {
		return err
	}
	if _, err := r.Lookup(ctx, key); !errors.Is(err, artifacts.ErrNotFound) {
		return err
	}
	// A dead worker's claim must not be waited for: its process is known to be dead.
	c, err := r.Claim(ctx, key, owner, time.Hour)
	if err != nil {
		return err
	}
	res, err := r.Put(ctx, bytes.Repeat(fmt.Append(nil, i), 20_000), "text/plain")
	if err != nil {
		return err
	}
	st, err := r.PutStatement(ctx, fmt.Appendf(nil, `{"i":%d,"fence":%d,"pid":%d}`, i, c.Fence, os.Getpid()))
	if err != nil {
		return err
	}
	if _, err := r.CommitClaimed(ctx, c, artifacts.Record{Key: key, Result: res, Statement: st}); err != nil {
		return err
	}
	return r.Release(ctx, c)
}

// TestKilledAnywhere kills the worker with SIGKILL at every named point and at moments
// of no choice. The next worker goes on at once; at the end every record is there, whole,
// and the fences count the executions that the kills cost: at most one each.
func TestKilledAnywhere(t *testing.T) {
	folder := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kills := 0
	work := func(at string, after time.Duration) {
		t.Helper()
		c := exec.Command(exe)
		c.Env = append(os.Environ(), "DIRSTORE_STEPS_IN="+folder, "DIRSTORE_KILL_AT="+at)
		var out bytes.Buffer
		c.Stderr = &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if after > 0 {
			time.AfterFunc(after, func() { _ = c.Process.Kill() })
		}
		err := c.Wait()
		if c.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
			kills++
			return
		}
		if err != nil {
			t.Fatalf("worker: %v: %s", err, out.String())
		}
	}
	for _, at := range []string{artifacts.FaultBeforeBlobPut, artifacts.FaultAfterBlobPut, artifacts.FaultBeforeIndexPut, artifacts.FaultAfterIndexPut} {
		work(at+":1", 0)
		work(at+":2", 0)
	}
	if kills != 8 {
		t.Fatalf("%d kills at 8 named points", kills)
	}
	for i := range 6 {
		work("", time.Duration(8+3*i)*time.Millisecond)
	}
	work("", 0)

	r := repository(t, open(t, folder, dirstore.Options{}))
	report, err := r.Verify(t.Context(), artifacts.VerifyOptions{})
	if err != nil || len(report.Faults) != 0 || report.Entries != stepCount || report.Conflicts != 0 {
		t.Errorf("verify: %+v, %v", report, err)
	}
	repeated := 0
	for i := range stepCount {
		key, err := stepKey(i)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := r.Lookup(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		data, err := r.Statement(t.Context(), rec.Statement)
		if err != nil {
			t.Fatal(err)
		}
		var st struct{ Fence int }
		if err := json.Unmarshal(data, &st); err != nil {
			t.Fatal(err)
		}
		repeated += st.Fence - 1
	}
	// At "after-index-put" the record is there: nothing is repeated for those two kills.
	if repeated < 6 || repeated > kills-2 {
		t.Errorf("%d kills cost %d repeated executions", kills, repeated)
	}
	t.Logf("%d kills, %d executions repeated", kills, repeated)
}
