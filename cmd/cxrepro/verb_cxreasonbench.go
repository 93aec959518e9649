package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cxrepro/internal/cxreasonbench"
	tables "cxrepro/internal/report"
)

func newCxreasonbenchCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "cxreasonbench",
		Short: "Build CXReasonBench, score evaluations, print its tables",
		Args:  cobra.NoArgs,
	}
	c.AddCommand(newBenchmarkBuildCommand(a), newScoreCommand(a))
	c.RunE = func(c *cobra.Command, _ []string) error {
		var names []string
		for _, sub := range c.Commands() {
			names = append(names, sub.Name())
		}
		return usageError("see `"+c.CommandPath()+" --help`", "cxreasonbench needs a subcommand: %s", strings.Join(names, ", "))
	}
	return c
}

// scoreOptions are the flags of cxreasonbench score.
type scoreOptions struct {
	inference string
	scoring   string
	preset    string
	set       []string
	cells     bool
}

func newScoreCommand(a *app) *cobra.Command {
	var o scoreOptions
	c := &cobra.Command{
		Use:   "score --inference DIR --scoring DIR",
		Short: "Score the result folders of the authors' evaluation programs",
		Long: `Reads what the authors' programs wrote for one model, computes every figure of the paper
and prints it with its counts, and beside it the textbook reading of the same counts.

  --inference  <save>/inference/reasoning/<model>  or  <save>/inference/guidance/<model>
  --scoring    <save>/scoring/reasoning/<judge>/<model>  or  .../guidance/<judge>/<model>

Folders of tasks give Path 1; folders idk_init and idk_custom give Path 2 and the
re-evaluated Path 1. With --json one object: path, tasks and groups, figures by name, null
where there is no value; --cells adds k, n, formula and the textbook interval of each.

Exit codes: 0 ok; 1 a file could not be read; 2 usage; 3 some cases have replies but no
scores (they are in no denominator).`,
		Example: `  cxrepro cxreasonbench score --inference out/inference/reasoning/m --scoring out/scoring/reasoning/gemini-2.0-flash/m --json`,
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runScore(a, o) },
	}
	f := c.Flags()
	f.StringVar(&o.inference, "inference", "", "folder of one model's replies")
	f.StringVar(&o.scoring, "scoring", "", "folder of the judge's scores for that model")
	f.StringVar(&o.preset, "preset", cxreasonbench.Corrected.String(), "reading of the method: as_released, corrected")
	f.StringArrayVar(&o.set, "set", nil, "override a switch, switch=value; repeatable")
	f.BoolVar(&o.cells, "cells", false, "with --json: every figure with k, n and formula")
	return c
}

func runScore(a *app, o scoreOptions) error {
	rules, err := cxreasonbenchRules(o.preset, o.set)
	if err != nil {
		return err
	}
	for _, d := range []struct{ flag, dir string }{{"inference", o.inference}, {"scoring", o.scoring}} {
		if d.dir == "" {
			return usageError("see `cxrepro cxreasonbench score --help`", "--%s DIR is missing", d.flag)
		}
		if info, err := os.Stat(d.dir); err != nil || !info.IsDir() {
			return usageError("the folder of one model, <save>/"+d.flag+"/...", "--%s %s is no folder", d.flag, d.dir)
		}
	}
	if o.cells && !a.JSON() {
		return usageError("add --json", "--cells is about the machine-readable output")
	}
	results, err := cxreasonbench.ReadFolders(rules, os.DirFS(o.inference), os.DirFS(o.scoring), expectedPaths(o.inference, o.scoring))
	if errors.Is(err, cxreasonbench.ErrNoResults) {
		return usageError("both folders belong to one model: they hold folders named after tasks, or idk_init and idk_custom",
			"%s and %s hold no results", o.inference, o.scoring)
	}
	if err != nil {
		return err
	}
	if err := printScores(a, o, rules, results); err != nil {
		return err
	}
	for _, name := range results.Ignored {
		fmt.Fprintf(a.err, "ignored: folder %s is no task\n", name)
	}
	if n := len(results.Unscored); n > 0 {
		return &exitError{Code: exitQuarantined, Err: fmt.Errorf("%d cases have replies but no scores, the first is %s; they are in no denominator", n, results.Unscored[0]),
			Hint: "score them with the authors' program, or remove their replies"}
	}
	return nil
}

// expectedPaths reads from the names of the folders which path they hold, for folders that are
// empty: a model none of whose cases came to Path 2.
func expectedPaths(dirs ...string) []cxreasonbench.Path {
	for _, dir := range dirs {
		if full, err := filepath.Abs(dir); err == nil {
			dir = full
		}
		for _, part := range strings.Split(filepath.ToSlash(dir), "/") {
			switch part {
			case "reasoning":
				return []cxreasonbench.Path{cxreasonbench.Path1}
			case "guidance":
				return []cxreasonbench.Path{cxreasonbench.Path2}
			}
		}
	}
	return nil
}

func printScores(a *app, o scoreOptions, rules cxreasonbench.Rules, results *cxreasonbench.FolderResults) error {
	scores := results.Score(rules)
	if a.JSON() {
		encode := cxreasonbench.ResultsJSON
		if o.cells {
			encode = cxreasonbench.CellsJSON
		}
		data, err := encode(scores)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.out, "%s\n", data)
		return err
	}
	for _, p := range scores {
		paper, standard := cxreasonbench.PathTables(p)
		paper.Notes = append(paper.Notes, "Preset: "+rules.String()+".")
		for _, t := range []*tables.Table{&paper, &standard} {
			if err := t.WriteText(a.out); err != nil {
				return err
			}
			fmt.Fprintln(a.out)
		}
	}
	return nil
}

// cxreasonbenchRules reads --preset and --set.
func cxreasonbenchRules(preset string, set []string) (cxreasonbench.Rules, error) {
	p, ok := cxreasonbench.ParsePreset(preset)
	if !ok {
		return cxreasonbench.Rules{}, usageError("the presets are as_released, corrected", "no preset is called %q", preset)
	}
	overrides := map[string]string{}
	for _, s := range set {
		name, value, found := strings.Cut(s, "=")
		if !found {
			return cxreasonbench.Rules{}, usageError("write --set switch=value", "--set %s has no value", s)
		}
		overrides[name] = value
	}
	rules, err := cxreasonbench.NewRules(p, overrides)
	if err != nil {
		return cxreasonbench.Rules{}, usageError("see `cxrepro cxreasonbench score --help`", "%v", err)
	}
	return rules, nil
}
