package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/storeurl"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
)

// TestCheckpointsAdd: a checkpoint that was trained elsewhere is recorded from its files, with what
// the data sets of the store know of the images that it was trained on.
func TestCheckpointsAdd(t *testing.T) {
	s := lineageShelf(t)
	image := s.evaluated()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	recipe := write("train.yaml", "steps: 500\n")
	examples := write("examples.jsonl", fmt.Sprintf("{\"images\": [%q], \"text\": \"a\"}\n{\"images\": []}\n", image))
	weights := write("model.safetensors", "weights")
	add := func(code int, more ...string) (string, string) {
		t.Helper()
		return s.do(code, append([]string{"checkpoints", "add", "--name", "mine", "--base", "tiny policy, seed 1", "--trainer", "verl@0.4", "--recipe", recipe,
			"--examples", examples, "--step", "500", "--json"}, more...)...)
	}
	out, _ := add(exitOK, weights, "--parent", "saw-the-file")
	var said struct {
		Weights                           artifacts.Digest
		Files, Examples, Images, Unlisted int
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		t.Fatal(err)
	}
	if said.Weights != artifacts.Sum([]byte("weights")) || said.Files != 1 || said.Examples != 2 || said.Images != 1 || said.Unlisted != 0 {
		t.Errorf("%s", out)
	}
	shown, _ := s.do(exitOK, "checkpoints", "show", "mine", "--image", image)
	for _, word := range []string{"mine, step 500, by verl 0.4, 1 files", "saw-the-file, step 100", "mine: 2 examples of 1 images\n             example 0"} {
		if !strings.Contains(shown, word) {
			t.Errorf("no %q in\n%s", word, shown)
		}
	}
	if again, _ := add(exitOK, weights, "--parent", "saw-the-file"); again != out {
		t.Errorf("again: %s, first %s", again, out)
	}

	write("whole/a/model.safetensors", "weights")
	write("whole/config.json", "{}")
	out, _ = add(exitOK, filepath.Join(folder, "whole"), "--name", "two")
	want, err := contract.WeightsDigest([]contract.CheckpointFile{
		{Name: "config.json", Digest: artifacts.Sum([]byte("{}")), Size: 2}, {Name: "a/model.safetensors", Digest: artifacts.Sum([]byte("weights")), Size: 7},
	})
	if err != nil || !strings.Contains(out, want.String()) {
		t.Errorf("of a folder: %s, want %s, %v", out, want, err)
	}

	examples = write("other.jsonl", `{"images": ["`+artifacts.Sum([]byte("elsewhere")).String()+`"]}`)
	if _, talk := add(exitUsage, weights, "--name", "strange"); !strings.Contains(talk, "--data-use is one of synthetic") {
		t.Errorf("images of no data set: %s", talk)
	}
	if _, talk := add(exitQuarantined, weights, "--name", "strange", "--data-use", "credentialed"); !strings.Contains(talk, "1 of 1 images are in no recorded data set") {
		t.Errorf("images of no data set: %s", talk)
	}
	for say, more := range map[string][]string{
		"--base is missing":            {weights, "--base", ""},
		"two files are called":         {weights, filepath.Join(folder, "whole/a/model.safetensors")},
		"no such file":                 {filepath.Join(folder, "nothing")},
		"no checkpoint is called":      {weights, "--parent", "nobody"},
		"--base-weights":               {weights, "--base-weights", "sha256:12"},
		"line 1: it has no images":     {weights, "--examples", write("bad.jsonl", `{"text": "x"}`)},
		"empty.jsonl holds no example": {weights, "--examples", write("empty.jsonl", "\n")},
	} {
		if _, talk := add(exitUsage, more...); !strings.Contains(talk, say) {
			t.Errorf("%v: %s, want %q", more, talk, say)
		}
	}
}

// evaluated is an image that the fixture's reproduction judges models on.
func (s *shelf) evaluated() string {
	s.t.Helper()
	store, err := storeurl.Open(s.t.Context(), filepath.Join(s.state, "store"), storeurl.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	sets, err := checkpoint.Datasets(s.t.Context(), store)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, d := range sets {
		if d.Value.Version == "evaluation" {
			list, err := checkpoint.Images(s.t.Context(), store, d.Value.Images)
			if err != nil {
				s.t.Fatal(err)
			}
			return list.Images[0].Image.String()
		}
	}
	s.t.Fatal("the fixture has no data set of an evaluation")
	return ""
}
