package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lineageShelf is a state directory whose store is the committed fixture of statements: five
// checkpoints, and one reproduction that judges them.
func lineageShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{t: t, state: filepath.Join(t.TempDir(), "state")}
	if err := os.CopyFS(filepath.Join(s.state, "store"), os.DirFS("../../internal/checkpoint/testdata/store")); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOverlapBlocks: the command compares every recorded checkpoint, says which planted overlap
// each has, and leaves records that other verbs read.
func TestOverlapBlocks(t *testing.T) {
	s := lineageShelf(t)
	out, talk := s.do(exitFailed, "overlap", "--json")
	var said struct {
		Images int
		Unread int
		Models []struct{ Model, State, Detail string }
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		t.Fatal(err)
	}
	states := map[string]string{}
	for _, m := range said.Models {
		states[m.Model] = m.State + " " + m.Detail
	}
	for model, want := range map[string]string{
		"saw-the-file": "same_bytes", "saw-a-copy": "near_duplicate", "saw-a-sibling": "same_study", "child": "same_bytes",
	} {
		if !strings.HasPrefix(states[model], "overlap ") || !strings.Contains(states[model], want) {
			t.Errorf("%s: %q, want an overlap of %s", model, states[model], want)
		}
	}
	if !strings.HasPrefix(states["clean"], "clear ") || !strings.HasPrefix(states["elsewhere"], "unknown ") || said.Images != 6 || said.Unread != 0 {
		t.Errorf("%s", out)
	}
	if !strings.Contains(talk, "4 of 6 models") {
		t.Errorf("%s", talk)
	}
	list, _ := s.do(exitOK, "checkpoints", "ls")
	if strings.Count(list, "\n") != 5 || !strings.Contains(list, "saw-a-copy") {
		t.Errorf("%s", list)
	}
	shown, _ := s.do(exitOK, "checkpoints", "show", "child")
	for _, word := range []string{"parent", "saw-the-file", "tiny policy, seed 1", "asked by 0123456789abcdef  overlap-fixture", "overlap: 1 same_bytes"} {
		if !strings.Contains(shown, word) {
			t.Errorf("checkpoints show lacks %q:\n%s", word, shown)
		}
	}
	var file struct {
		Chain    []struct{ Weights string }
		Training []struct {
			Name       string
			Descending []struct{ At int }
		}
		Overlaps []struct{ Pairs int }
	}
	var one struct {
		Models []struct {
			Reports []struct{ Digest string }
		}
	}
	if err := json.Unmarshal([]byte(out), &one); err != nil {
		t.Fatal(err)
	}
	var report struct{ Findings []struct{ Evaluation string } }
	text, _ := s.do(exitOK, "artifacts", "cat", one.Models[0].Reports[0].Digest)
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatal(err)
	}
	text, _ = s.do(exitOK, "checkpoints", "show", "child", "--json", "--image", report.Findings[0].Evaluation)
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Chain) != 2 || len(file.Training) != 2 || len(file.Training[0].Descending) != 0 || len(file.Training[1].Descending) != 2 || file.Training[1].Descending[0].At != 6 || len(file.Overlaps) != 1 {
		t.Errorf("examples of the child that descend from the image: %s", text)
	}
	if again, _ := s.do(exitFailed, "overlap", "--json"); again != out {
		t.Errorf("a second comparison says %s", again)
	}
	if info, err := os.Stat(filepath.Join(s.state, groupingFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key of studies and patients: %v, %v", info, err)
	}
}

// TestDatasetsShow: data sets lead to what ran over them and to what was trained on them.
func TestDatasetsShow(t *testing.T) {
	s := lineageShelf(t)
	list, _ := s.do(exitOK, "datasets", "ls", "--json")
	if strings.Count(list, "\n") != 2 {
		t.Fatalf("%s", list)
	}
	type data struct {
		Version       string
		Reproductions []string
		Training      []struct{ Name string } `json:"training_sets"`
		Checkpoints   []struct{ Name string }
		Record        struct{ Digest string }
	}
	for _, line := range strings.Split(strings.TrimSpace(list), "\n") {
		var d data
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		shown, _ := s.do(exitOK, "datasets", "show", d.Record.Digest)
		switch d.Version {
		case "evaluation":
			if len(d.Reproductions) != 1 || len(d.Checkpoints) != 0 || !strings.Contains(shown, "ran       0123456789abcdef") {
				t.Errorf("%s\n%s", line, shown)
			}
		case "training":
			if len(d.Reproductions) != 0 || len(d.Checkpoints) != 5 || len(d.Training) != 5 || !strings.Contains(shown, "saw-a-sibling") {
				t.Errorf("%s\n%s", line, shown)
			}
		}
	}
	for args, say := range map[string]string{"phantom": "may mean", "nothing": "no data set is called"} {
		if _, talk := s.do(exitUsage, "datasets", "show", args); !strings.Contains(talk, say) {
			t.Errorf("%s: %s", args, talk)
		}
	}
	if _, talk := s.do(exitUsage, "checkpoints", "show", "nobody"); !strings.Contains(talk, "no checkpoint is called") {
		t.Errorf("%s", talk)
	}
}
