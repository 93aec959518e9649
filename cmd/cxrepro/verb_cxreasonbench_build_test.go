package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/cxreasonbench"
)

// TestBenchmarkBuild builds a small benchmark from phantoms, twice, and walks every file and
// key that the authors' evaluation programs read.
func TestBenchmarkBuild(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "p")
	code, _, talk := runLine("phantom", "generate", "--n", "6", "--seed", "5", "--size", "400x480", "--cases", "--out", p)
	require.Equal(t, exitOK, code, talk)
	build := func(out string, more ...string) cxreasonbench.Manifest {
		t.Helper()
		code, text, talk := runLine(append([]string{"cxreasonbench", "build", "--cases", filepath.Join(p, "truth"), "--data", filepath.Join(p, "mimic-cxr-jpg"),
			"--per-task", "2", "--out", out, "--threshold", maskCountRow + "=25", "--json"}, more...)...)
		require.Contains(t, []int{exitOK, exitQuarantined}, code, talk)
		var m cxreasonbench.Manifest
		require.NoError(t, json.Unmarshal([]byte(text), &m))
		return m
	}
	one := build(filepath.Join(dir, "one"), "--workers", "1")
	build(filepath.Join(dir, "two"), "--workers", "3")
	require.Equal(t, tree(t, filepath.Join(dir, "one")), tree(t, filepath.Join(dir, "two")), "workers decide nothing")

	cases := checkLayout(t, filepath.Join(dir, "one"))
	require.GreaterOrEqual(t, cases, 18)
	require.Equal(t, one.Tally.Path2, 3*cases)

	released := build(filepath.Join(dir, "released"), "--preset", "as_released")
	require.Equal(t, cxreasonbench.ProfileOfficial, released.Profile)
	checkLayout(t, filepath.Join(dir, "released"))

	code, _, talk = runLine("cxreasonbench", "build", "--cases", p, "--out", filepath.Join(dir, "one"))
	require.Equal(t, exitUsage, code)
	require.Contains(t, talk, "is not empty")
	code, _, talk = runLine("cxreasonbench", "build", "--cases", filepath.Join(dir, "none"), "--out", filepath.Join(dir, "three"))
	require.Equal(t, exitUsage, code)
	require.Contains(t, talk, "no case files")
}

// tree returns the digest of every file below a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[rel] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	}))
	return files
}

// layoutKeys are the keys of each stage's files with the JSON types that the programs expect.
var layoutKeys = map[string]map[string]string{
	"path1/init":   {"question": "text", "answer": "text", "img_path": "list"},
	"path1/stage1": {"question": "list", "answer": "list"}, "path1/stage1.5": {"question": "text", "answer": "text"},
	"path1/stage2": {"question": "list", "answer": "list", "img_path": "lists"},
	"path1/stage3": {"question": "text", "option": "text", "answer": "text"}, "path1/stage4": {"question": "text", "answer": "text"},
	"path2/stage1": {"question": "list", "answer": "list", "img_path": "list"},
	"path2/stage2": {"question": "text", "answer": "text", "img_path": "list"}, "path2/stage3": {"question": "text", "answer": "text"},
	"re-path1/init":   {"question": "text", "answer": "text", "img_path": "list"},
	"re-path1/stage1": {"question": "list", "answer": "list"}, "re-path1/stage2": {"question": "list", "answer": "list", "img_path": "lists"},
	"re-path1/stage3": {"question": "text", "option": "text", "answer": "text"}, "re-path1/stage4": {"question": "text", "answer": "text"},
}

// expertTasks have a Stage 1.5.
const expertTasks = "inspiration projection mediastinal_widening aortic_knob_enlargement ascending_aorta_enlargement descending_aorta_enlargement descending_aorta_tortuous"

var radiographPath = regexp.MustCompile(`^p\d\d/p\d{8}/s\d{8}/[0-9a-f-]+\.jpg$`)

// checkLayout walks a benchmark the way the authors' programs do: case list, then for each case
// and stage the one format folder that has the case, its keys and its pictures.
func checkLayout(t *testing.T, dir string) (cases int) {
	t.Helper()
	var lists map[string][]string
	data, err := os.ReadFile(filepath.Join(dir, "dx_by_dicoms.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &lists))
	require.Len(t, lists, 12)
	for task, ids := range lists {
		for _, id := range ids {
			cases++
			for stage, keys := range layoutKeys {
				found, err := filepath.Glob(filepath.Join(dir, "qa", task, filepath.FromSlash(stage), "*", id+".json"))
				require.NoError(t, err)
				if stage == "path1/stage1.5" && !strings.Contains(" "+expertTasks+" ", " "+task+" ") {
					require.NoDirExists(t, filepath.Join(dir, "qa", task, "path1", "stage1.5"))
					continue
				}
				require.Len(t, found, 1, "%s %s", task, stage)
				checkQuestionFile(t, dir, found[0], stage, keys)
				checkReference(t, found[0], task, stage)
			}
		}
	}
	return cases
}

// structureCounts are the structures that a task's Stage 2 is about.
var structureCounts = map[string]int{"carina_angle": 1, "inclusion": 1, "descending_aorta_tortuous": 1, "inspiration": 3}

var (
	oneRange  = regexp.MustCompile(`^\([a-e]\) \[[0-9.e-]+ - [0-9.e-]+\]$`)
	sideRange = regexp.MustCompile(`^\([a-e]\) Right: \[[0-9.e-]+ - [0-9.e-]+\], \([f-j]\) Left: \[[0-9.e-]+ - [0-9.e-]+\]$`)
)

// checkReference checks format folder, rounds, options and the form of the reference answers.
func checkReference(t *testing.T, file, task, stage string) {
	t.Helper()
	var q struct{ Question, Answer any }
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &q))
	texts := func(v any) (list []string) {
		if s, one := v.(string); one {
			return []string{s}
		}
		for _, s := range v.([]any) {
			list = append(list, s.(string))
		}
		return list
	}
	questions, answers := texts(q.Question), texts(q.Answer)
	structures := structureCounts[task]
	if structures == 0 {
		structures = 2
	}
	format := filepath.Base(filepath.Dir(file))
	rounds, formats := 1, []string{"basic"}
	switch name := filepath.Base(stage); {
	case name == "stage1" && stage != "path2/stage1":
		formats = append(formats, "two-round")
	case name == "stage2" && stage != "path2/stage2":
		formats = append(formats, "two-round_none_included")
		if structures > 1 {
			formats = append(formats, "two-round_partial_inclusion")
		}
	}
	require.Contains(t, formats, format, file)
	switch {
	case stage == "path2/stage1":
		rounds = structures
	case format != "basic":
		rounds = 2
		require.True(t, strings.HasSuffix(answers[0], "(e) Need new options."), "%s: %s", file, answers[0])
	}
	require.Len(t, questions, rounds, file)
	for i, a := range answers {
		require.Regexp(t, `^\([a-j]\) `, a, file)
		for _, l := range regexp.MustCompile(`\([a-j]\)`).FindAllString(a, -1) {
			lost := stage == "path2/stage3" && task == "cardiomegaly" // the released question has no options
			require.True(t, lost || strings.Contains(questions[i], l), "%s: %s is no option", file, l)
		}
	}
	switch {
	case stage == "path1/stage1.5":
		require.Equal(t, "(a) Yes", answers[0])
	case filepath.Base(stage) == "stage3" && stage != "path2/stage3" || stage == "path2/stage2":
		switch task {
		case "projection":
			require.Regexp(t, sideRange, answers[0])
		case "inclusion", "inspiration", "trachea_deviation", "ascending_aorta_enlargement":
		default:
			require.Regexp(t, oneRange, answers[0])
		}
	}
}

func checkQuestionFile(t *testing.T, dir, file, stage string, keys map[string]string) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, c := range data {
		require.Less(t, c, byte(0x80), file)
	}
	require.Contains(t, string(data), "\n    \"question\"", file)
	var q map[string]any
	require.NoError(t, json.Unmarshal(data, &q))
	require.Len(t, q, len(keys), file)
	var pictures []string
	for key, kind := range keys {
		switch kind {
		case "text":
			require.IsType(t, "", q[key], "%s %s", file, key)
			continue
		case "lists":
			for _, round := range q[key].([]any) {
				require.Len(t, round, 4, file)
				for _, p := range round.([]any) {
					pictures = append(pictures, p.(string))
				}
			}
			require.Len(t, q["question"], len(q[key].([]any)), file)
			continue
		}
		require.IsType(t, []any{}, q[key], "%s %s", file, key)
		if key == "img_path" {
			for _, p := range q[key].([]any) {
				pictures = append(pictures, p.(string))
			}
		}
	}
	if keys["question"] == "list" {
		require.Len(t, q["answer"], len(q["question"].([]any)), file)
	}
	for _, p := range pictures {
		folder := "segmask_bodypart" // glued to the path without a separator
		switch {
		case strings.HasSuffix(stage, "/init"):
			require.Regexp(t, radiographPath, p)
			folder = "files/"
		case stage == "path2/stage2":
			folder = "pnt_on_cxr"
		}
		require.FileExists(t, filepath.Join(dir, filepath.FromSlash(folder+p)), file)
	}
}
