package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBenchmarkOfRun builds a benchmark in a run, writes it in the official layout, walks that as
// the authors' programs do, and reads it back in an experiment over a release.
func TestBenchmarkOfRun(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	b := &bench{t: t, dir: t.TempDir(), spec: "spec.yaml"}
	b.state = filepath.Join(b.dir, "state")
	p := filepath.Join(b.dir, "p")
	code, _, talk := runLine("phantom", "generate", "--n", "8", "--seed", "5", "--size", "400x480", "--cases", "--out", p)
	require.Equal(t, exitOK, code, talk)
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o644))
	}
	write("spec.yaml", `
name: phantoms
paper: test
preset: as_released
thresholds: {global.mask_count.mask_num_min: 25}
tasks: [inclusion, inspiration, rotation, projection, cardiomegaly, mediastinal_widening, carina_angle, trachea_deviation,
  aortic_knob_enlargement, ascending_aorta_enlargement, descending_aorta_tortuous, descending_aorta_enlargement]
dataset: {name: phantom, layout: mimic-cxr-jpg, views: [PA, AP], split: all, boxes: chest-imagenome, lungs: chexmask, lungs_min_dice: 0,
  data_use: synthetic, limits: {max_bytes: 67108864, max_pixels: 36000000}}
masks: {source: import, import: {kind: case, folder: truth}}
benchmark: {source: build, cases: 24, sample: random, pictures: official, seed: 2}
`)
	for name, folder := range map[string]string{"phantom": "mimic-cxr-jpg", "chest-imagenome": "chest-imagenome", "chexmask": "chexmask", "masks": ""} {
		b.data = append(b.data, "--data", name+"="+filepath.Join(p, folder))
	}
	code, built, talk := b.run()
	require.Equal(t, exitOK, code, talk)
	require.False(t, built.Benchmark.IsZero())

	out := filepath.Join(b.dir, "benchmark")
	code, _, talk = b.ask("cxreasonbench", "build", "--run", built.Reproduction, "--out", out)
	require.Contains(t, []int{exitOK, exitQuarantined}, code, talk)
	cases := checkLayout(t, out)
	require.GreaterOrEqual(t, cases, 20)

	write("release.yaml", `
name: release
paper: test
preset: as_released
dataset: {name: written, layout: cxreasonbench, data_use: synthetic}
benchmark: {source: release, radiographs: phantom, counts: any}
`)
	b.spec = "release.yaml"
	b.data = []string{"--data", "written=" + out, "--data", "phantom=" + filepath.Join(p, "mimic-cxr-jpg")}
	code, read, talk := b.run()
	require.Equal(t, exitOK, code, talk)
	require.Equal(t, cases, read.Steps.Run)
	require.NotEqual(t, built.ResultDigest, read.ResultDigest)
	code, again, talk := b.run("--set", "paper=once more")
	require.Equal(t, exitOK, code, talk)
	require.Equal(t, cases, again.Steps.Reused, "what was read is found")
	require.Equal(t, read.Benchmark, again.Benchmark)

	for _, c := range []struct {
		want string
		args []string
	}{
		{"was read from a release", []string{"--run", read.Reproduction, "--out", filepath.Join(b.dir, "x")}},
		{"--seed does not go with --run", []string{"--run", built.Reproduction, "--out", filepath.Join(b.dir, "x"), "--seed", "3"}},
		{"is not empty", []string{"--run", built.Reproduction, "--out", out}},
		{"--out DIR is missing", []string{"--run", built.Reproduction}},
	} {
		code, _, talk := b.ask(append([]string{"cxreasonbench", "build"}, c.args...)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, talk, c.want)
	}
	b.data[1] = "cxreasonbench=" + out
	code, _, talk = b.run("--set", "dataset.data_use=public", "--set", "dataset.name=cxreasonbench")
	require.Equal(t, exitUsage, code)
	require.Contains(t, talk, "is weaker than credentialed")
}
