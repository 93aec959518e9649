package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"cxrepro/internal/dataset"
	"cxrepro/internal/datause"
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
	program := o.cxrepro
	if program == "" {
		program = filepath.Join(dir, "cxrepro")
		if err := quiet(exec.CommandContext(ctx, "go", "build", "-C", "../..", "-o", program, "./cmd/cxrepro"), "."); err != nil {
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
	if err := errors.Join(declare(o.benchmark, release), declare(filepath.Join(o.benchmark, "files"), radiographs)); err != nil {
		return err
	}
	return quiet(exec.CommandContext(ctx, program, "run", "spec.yaml", "--state", filepath.Join(dir, "state"), "--endpoints", "endpoints.yaml", "--evaluation-tasks", fmt.Sprint(o.tasks),
		"--data", "bench="+release, "--data", "radiographs="+radiographs), dir)
}

// declare links what a folder holds into a new one that says that it is synthetic: a folder that
// says nothing counts as the licensed data set.
func declare(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	data, err := dataset.Declaration{Name: filepath.Base(to), DataUse: datause.Synthetic, MadeBy: "cxreasonbench build, of phantoms"}.Encode()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, dataset.DeclarationFile), data, 0o600)
}
