package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/internal/casedata"
)

// TestRunSurvivesKills kills the whole process with SIGKILL at named points, twice in a row
// during a resume, and compares with an undisturbed run.
func TestRunSurvivesKills(t *testing.T) {
	calm := newBench(t, 6)
	code, want, talk := calm.run("--no-sticky-cache")
	if code != exitOK {
		t.Fatalf("exit %d\n%s", code, talk)
	}
	if want.Steps.Needed != 6+6+14+1 || want.Steps.Run != want.Steps.Needed || want.Steps.Repeated != 0 {
		t.Errorf("undisturbed steps %+v, want 27 needed and run", want.Steps)
	}
	b := newBench(t, 6)
	kills := []string{"after-blob-put:9", "before-index-put:3", "after-index-put:2", "before-blob-put:16", "in-heartbeat:1"}
	ended := false
	for _, k := range kills {
		b.environment = []string{"CXREPRO_FAULT=" + k}
		code, r, talk := b.run()
		if k == "in-heartbeat:1" && r != nil {
			ended = true // it was done before a heartbeat was due
			continue
		}
		if code != -1 {
			t.Fatalf("%s: exit %d, want killed\n%s", k, code, talk)
		}
	}
	b.environment = nil
	if out, err := b.command("status", "--json").Output(); err != nil || !ended && !strings.Contains(string(out), `"state":"unfinished"`) {
		t.Errorf("status after the kills: %v\n%s\nwant an unfinished reproduction", err, out)
	}
	code, got, talk := b.run()
	if code != exitOK {
		t.Fatalf("after the kills: exit %d\n%s", code, talk)
	}
	if got.ResultDigest != want.ResultDigest || got.Reproduction != want.Reproduction {
		t.Errorf("after kills %s of %s, undisturbed %s of %s", got.ResultDigest, got.Reproduction, want.ResultDigest, want.Reproduction)
	}
	if got.Steps.Needed != want.Steps.Needed || got.Steps.Run != want.Steps.Run || got.Steps.Reused != 0 {
		t.Errorf("after kills %+v, undisturbed %+v", got.Steps, want.Steps)
	}
	t.Logf("repeated %d: %+v", got.Steps.Repeated, got.Steps.Causes)

	_, again, _ := b.run()
	if again == nil || again.ResultDigest != got.ResultDigest || again.Ended != got.Ended {
		t.Errorf("run of a finished reproduction gave %+v, want the same receipt", again)
	}
	_, other, _ := b.run("--set", "thresholds.carina_angle.label.normal_range=[50, 70]")
	if other == nil || other.Steps.Run != 2 || other.Steps.Reused != other.Steps.Needed-2 {
		t.Errorf("another threshold: %+v, want one task and the summary", other)
	}
}

// TestRunQuarantines spoils files of a data set: each is one reason, and nothing else is lost.
func TestRunQuarantines(t *testing.T) {
	b := newBench(t, 6)
	spoil := func(i int, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(b.dir, "data", casedata.Path(i)), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(filepath.Join(b.dir, "data", casedata.Path(0)))
	if err != nil {
		t.Fatal(err)
	}
	spoil(0, whole[:len(whole)/2])
	spoil(1, nil)
	spoil(2, []byte("a text that calls itself a picture"))
	if err := os.Remove(filepath.Join(b.dir, "data", casedata.Path(3))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "data", "masks", casedata.ID(4)+".json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, r, talk := b.run()
	if code != exitQuarantined {
		t.Fatalf("exit %d, want %d\n%s", code, exitQuarantined, talk)
	}
	reasons := map[string]int{}
	for _, q := range r.Images.Quarantined {
		reasons[q.Name] = q.N
	}
	for _, want := range []string{"truncated", "zero_bytes", "not_an_image", "missing_file", "masks_damaged"} {
		if reasons[want] != 1 {
			t.Errorf("quarantine %v, want one %s", reasons, want)
		}
	}
	if r.Images.In != 6 || r.Images.Kept != 1 {
		t.Errorf("images %+v, want 6 in and 1 kept", r.Images)
	}
}

// TestRunRefuses holds that what is wrong before any work is said before any work.
func TestRunRefuses(t *testing.T) {
	b := newBench(t, 1)
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"no folder", []string{"run", "spec.yaml"}, `the spec reads data set "golden-cases" and no folder was given`},
		{"unread folder", []string{"run", "spec.yaml", "--data", "golden-cases=data", "--data", "chexmsk=data"}, `--data chexmsk: the spec does not read that name; it reads golden-cases, chest-imagenome, chexmask, masks`},
		{"unknown field", []string{"run", "spec.yaml", "--data", "golden-cases=data", "--set", "dataset.nam=x"}, `unknown field "nam" in dataset; known fields: boxes,`},
		{"wrong type", []string{"run", "spec.yaml", "--data", "golden-cases=data", "--set", "thresholds.rotation.label.not_rotated_min=high"}, "threshold rotation.label.not_rotated_min: want"},
		{"no spec", []string{"run", "nowhere.yaml"}, "nowhere.yaml: no such file"},
		{"bad fault", []string{"run", "spec.yaml", "--data", "golden-cases=nowhere"}, "nowhere"},
	} {
		out, err := b.command(c.args...).CombinedOutput()
		if err == nil || b.exit(err) != exitUsage || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v\n%s\nwant exit 2 and %q", c.name, err, out, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(b.state, "temporal")); err == nil {
		t.Error("a server was started for a command that was refused")
	}
}
