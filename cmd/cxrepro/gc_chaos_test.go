package main

import (
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// TestGCBesideChaos collects garbage in a loop from another process, with a grace period of two
// seconds, while a reproduction is killed and resumed. The reproduction reuses records that are
// two days old and that nothing pins. Its result is the undisturbed one, no record that it
// needed was lost or made again, and what nobody needs was collected all the same.
// CXREPRO_GC_KILLS says how often it is killed; `task gc` asks for 20.
func TestGCBesideChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	c := &chaos{bench: phantomBench(t, 4), rng: rand.New(rand.NewPCG(number(t, chaosSeed, 1), 8)), t: t, kinds: map[string]int{}}
	code, old, talk := c.run("--set", "thresholds.carina_angle.label.normal_range=[50, 70]")
	if code != exitOK {
		t.Fatalf("earlier run: exit %d\n%s", code, talk)
	}
	// The undisturbed run and the disturbed one begin with the same records.
	disturbed := filepath.Join(c.dir, "state-gc")
	if err := os.CopyFS(filepath.Join(disturbed, "store"), os.DirFS(filepath.Join(c.state, "store"))); err != nil {
		t.Fatal(err)
	}
	code, calm, talk := c.run()
	if code != exitOK {
		t.Fatalf("undisturbed run: exit %d\n%s", code, talk)
	}
	c.state = disturbed
	if out, err := c.command("artifacts", "unpin", contract.PinPrefix+old.Reproduction).CombinedOutput(); err != nil {
		t.Fatalf("unpin: %v\n%s", err, out)
	}
	garbage := c.litter()
	c.age(48 * time.Hour)
	if !c.killed("when it began", func(cmd *exec.Cmd) {
		for until := time.Now().Add(time.Minute); !c.pinned() && time.Now().Before(until); {
			time.Sleep(5 * time.Millisecond)
		}
		_ = cmd.Process.Kill()
	}) {
		t.Fatal("the run ended before it was killed")
	}
	stop := c.collect()
	for kills := int(number(t, "CXREPRO_GC_KILLS", 3)); c.kills < kills && c.strike(); {
	}
	c.environment = nil
	code, got, talk := c.run()
	runs := stop()
	if code != exitOK {
		t.Fatalf("exit %d after the kills\n%s", code, talk)
	}
	if got.ResultDigest != calm.ResultDigest || got.Reproduction != calm.Reproduction {
		t.Errorf("result %s of %s, undisturbed %s of %s", got.ResultDigest, got.Reproduction, calm.ResultDigest, calm.Reproduction)
	}
	// One task and the summary are not those of the earlier run.
	for _, r := range []*contract.Receipt{calm, got} {
		if r.Steps.Needed != calm.Steps.Needed || r.Steps.Run != 2 || r.Steps.Reused != r.Steps.Needed-2 {
			t.Errorf("steps %+v, want all but 2 reused", r.Steps)
		}
	}
	c.noneAgain(0)
	beside, freed := 0, int64(0)
	for _, r := range runs {
		if !r.Since.IsZero() {
			beside++
		}
		freed += r.Freed
		if len(r.Missing) > 0 {
			t.Errorf("pinned but missing: %v", r.Missing)
		}
	}
	if beside == 0 || freed == 0 {
		t.Errorf("of %d collections %d ran beside the reproduction and %d bytes were freed", len(runs), beside, freed)
	}
	for _, file := range garbage {
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s was not collected", file)
		}
	}
	out, err := c.command("artifacts", "verify").CombinedOutput()
	if err != nil || !strings.Contains(string(out), ": 0 faults") {
		t.Errorf("verify: %v\n%s", err, out)
	}
	if code, again, talk := c.run(); code != exitOK || again.ResultDigest != got.ResultDigest {
		t.Errorf("the finished run again: exit %d\n%s", code, talk)
	}
	t.Logf("%d kills (%v), %d collections, %d of them beside the reproduction, %d bytes freed; %d steps were in hand at a kill", c.kills, c.kinds, len(runs), beside, freed, got.Steps.Repeated)
}

// litter leaves what killed processes leave: a blob without a record, half an upload.
func (c *chaos) litter() (files []string) {
	c.t.Helper()
	data := []byte("nobody's blob")
	hex := artifacts.Sum(data).Hex()
	for _, name := range []string{filepath.Join("blobs", "sha256", hex[:2], hex), filepath.Join("tmp", "half-an-upload")} {
		file := filepath.Join(c.state, "store", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			c.t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			c.t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// age makes everything in the store look that much older.
func (c *chaos) age(by time.Duration) {
	c.t.Helper()
	err := filepath.WalkDir(filepath.Join(c.state, "store"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chtimes(path, time.Time{}, info.ModTime().Add(-by))
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// pinned reports whether something is under way.
func (c *chaos) pinned() bool {
	found, err := filepath.Glob(filepath.Join(c.state, "store", "pins", "*"))
	return err == nil && len(found) > 0
}

// collect runs one collection after another until it is stopped, and returns what each did.
func (c *chaos) collect() (stop func() []artifacts.GCReport) {
	c.t.Helper()
	b := *c.bench // strikes change the environment of the other
	b.environment = nil
	end, done := make(chan struct{}), make(chan struct{})
	var runs []artifacts.GCReport
	go func() {
		defer close(done)
		for {
			select {
			case <-end:
				return
			default:
			}
			out, err := b.command("artifacts", "gc", "--apply", "--grace", "2s", "--json").Output()
			var r artifacts.GCReport
			if err == nil {
				err = json.Unmarshal(out, &r)
			}
			if err != nil {
				c.t.Errorf("gc: %v\n%s", err, out)
				return
			}
			runs = append(runs, r)
		}
	}()
	return func() []artifacts.GCReport { close(end); <-done; return runs }
}
