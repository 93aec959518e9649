package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"cxrepro/infra/bench/program"
)

// The experiment: the benchmark as a release, one model, one judge.
const spec = `name: harness
paper: "none; a measurement"
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
  models: [oracle.yaml]
  judge: judge.yaml
  scoring: judge
  sampling: [greedy]
  paths: [path1]
  seed: 1
  bootstrap: 100
`

const card = `name: %s
title: "%[1]s"
adapter: openai
identity: {provider: cxrepro-responder, snapshot: "harness"}
pictures: original
greedy: {temperature: 0, max_tokens: 1024}
retries: 2
simulated: true
`

const endpoints = `endpoints:
- name: responder
  adapter: openai
  url: %s
  models: {oracle: oracle, judge: judge}
  limits: {concurrency: %d, timeout: 60s}
  attestation: {local: true}
`

// runOurs runs the experiment with a state folder of its own.
func runOurs(ctx context.Context, o options, dir, url string) error {
	bin := o.cxrepro
	if bin == "" {
		var err error
		if bin, err = program.Build(ctx, dir); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"spec.yaml": spec, "oracle.yaml": fmt.Sprintf(card, "oracle"), "judge.yaml": fmt.Sprintf(card, "judge"),
		"endpoints.yaml": fmt.Sprintf(endpoints, url, o.inFlight)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	release, radiographs := filepath.Join(dir, "release"), filepath.Join(dir, "radiographs")
	if err := errors.Join(program.Declare(o.benchmark, release), program.Declare(filepath.Join(o.benchmark, "files"), radiographs)); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, bin, "run", "spec.yaml", "--state", filepath.Join(dir, "state"), "--endpoints", "endpoints.yaml", "--evaluation-tasks", fmt.Sprint(o.tasks),
		"--data", "bench="+release, "--data", "radiographs="+radiographs)
	c.Dir = dir
	return program.Quiet(c)
}
