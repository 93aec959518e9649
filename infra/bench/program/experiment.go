package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Experiment is an evaluation of simulated models over a benchmark folder, as the program takes
// it: a spec, a card for each model and the judge, one endpoint that serves all of them.
type Experiment struct {
	Name, Paper string
	// Models are the names that the responder knows, with the titles of their rows.
	Models [][2]string
	// Snapshot says what the replies come from; %s stands for the model's name.
	Snapshot string
	// Sampling and Paths are lists as a spec writes them.
	Sampling, Paths string
	Bootstrap       int
	// Pictures is the rule of the cards, empty for original: as they are stored.
	Pictures string
	// Benchmark is a folder written by cxreasonbench build.
	Benchmark string
	// URL is the responder's, InFlight how many requests it gets at a time.
	URL      string
	InFlight int
	// Tasks are worked on at a time, each with so many open dialogues, 0 for as many as usual.
	Tasks, Open int
}

const spec = `name: %s
paper: "%s"
preset: corrected
dataset:
  name: bench
  layout: cxreasonbench
  data_use: synthetic
benchmark:
  source: release
  radiographs: radiographs
  counts: any
evaluation:
  models: [%s]
  judge: judge.yaml
  scoring: judge
  sampling: %s
  paths: %s
  seed: 1
  bootstrap: %d
`

const card = `name: %s
title: "%s"
adapter: openai
identity: {provider: cxrepro-responder, snapshot: "%s"}
pictures: %s
greedy: {temperature: 0, max_tokens: 1024}
draws: {temperature: 0.7, top_p: 0.95, max_tokens: 1024, seed: 1}
retries: 2
simulated: true
`

const endpoints = `endpoints:
- name: responder
  adapter: openai
  url: %s
  models: {%s}
  limits: {concurrency: %d, timeout: 60s}
  attestation: {local: true}
`

// Command writes the experiment into dir and returns the command that runs it there, with its
// state in dir/state. What an earlier call wrote is written anew, the state is kept.
func (e *Experiment) Command(ctx context.Context, bin, dir string, args ...string) (*exec.Cmd, error) {
	release, radiographs := filepath.Join(dir, "release"), filepath.Join(dir, "radiographs")
	for to, from := range map[string]string{release: e.Benchmark, radiographs: filepath.Join(e.Benchmark, "files")} {
		if err := errors.Join(os.RemoveAll(to), declare(from, to)); err != nil {
			return nil, err
		}
	}
	var cards, served []string
	files := map[string]string{}
	for _, m := range append([][2]string{{"judge", "Simulated judge"}}, e.Models...) {
		files[m[0]+".yaml"] = fmt.Sprintf(card, m[0], m[1], strings.ReplaceAll(e.Snapshot, "%s", m[0]), cmp.Or(e.Pictures, "original"))
		served = append(served, m[0]+": "+m[0])
	}
	for _, m := range e.Models {
		cards = append(cards, m[0]+".yaml")
	}
	files["spec.yaml"] = fmt.Sprintf(spec, e.Name, e.Paper, strings.Join(cards, ", "), e.Sampling, e.Paths, e.Bootstrap)
	files["endpoints.yaml"] = fmt.Sprintf(endpoints, e.URL, strings.Join(served, ", "), e.InFlight)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	line := []string{"run", "spec.yaml", "--state", filepath.Join(dir, "state"), "--endpoints", "endpoints.yaml",
		"--evaluation-tasks", fmt.Sprint(e.Tasks), "--data", "bench=" + release, "--data", "radiographs=" + radiographs}
	if e.Open > 0 {
		line = append(line, "--open-dialogues", fmt.Sprint(e.Open))
	}
	c := exec.CommandContext(ctx, bin, append(line, args...)...)
	c.Dir = dir
	return c, nil
}
