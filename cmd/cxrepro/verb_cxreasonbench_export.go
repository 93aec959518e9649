package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/dataset"
	"cxrepro/internal/datause"
)

// hasBenchmark fits a reproduction with a benchmark, finished or with undetermined cases.
func hasBenchmark(r *remembered) bool { return r.receipt != nil && !r.receipt.Benchmark.IsZero() }

// exportBenchmark writes the benchmark of a reproduction in the official layout.
func (a *app) exportBenchmark(ctx context.Context, f benchmarkFlags) error {
	store, list, err := a.remembers(ctx)
	if err != nil {
		return err
	}
	chosen, err := chooseReproduction(list, f.run, hasBenchmark)
	if err != nil {
		return err
	}
	r := chosen.receipt
	switch {
	case r == nil:
		return usageError("the same `cxrepro run` goes on with it", "reproduction %s (%s) was stopped before it wrote down its benchmark", chosen.ID, chosen.Name)
	case r.Benchmark.IsZero():
		return usageError("give a reproduction whose spec has a benchmark section", "reproduction %s has no benchmark", r.Reproduction)
	}
	var doc contract.Benchmark
	var plan experiments.Plan
	if err := errors.Join(readJSON(ctx, store, r.Benchmark, &doc), readJSON(ctx, store, r.Plan, &plan)); err != nil {
		return err
	}
	if doc.Source != experiments.SourceBuild {
		return usageError("use the folder that it was read from", "the benchmark of reproduction %s was read from a release, which has the official layout already", r.Reproduction)
	}
	recipe, quotas, err := experiments.BenchmarkRecipe(&plan.Spec)
	if err != nil {
		return err
	}
	e := &benchmarkExport{store: store, write: func(name string, data []byte) error { return writeBelow(f.out, name, data) }, workers: f.workers}
	w := &cxreasonbench.LayoutWriter{Write: e.write}
	if err := e.cases(ctx, w, doc.Cases); err != nil {
		return err
	}
	if got := w.Tally(); got != doc.Tally {
		return fmt.Errorf("the cases hold %+v, the manifest of the benchmark says %+v", got, doc.Tally)
	}
	m := cxreasonbench.Manifest{Recipe: recipe, Tasks: doc.Tasks, Tally: doc.Tally, Pairs: doc.Tally.Pairs()}
	m.Prompts.Digest = doc.Prompts
	if m.Prompts.Version, err = packVersion(ctx, store, plan.Prompts); err != nil {
		return err
	}
	if err := w.Close(m); err != nil {
		return err
	}
	if err := e.declare(r.Name, doc.DataUse); err != nil {
		return err
	}
	b := &benchmarkBuild{app: a, flags: f}
	return b.tell(m, quotas)
}

// packVersion reads the version of a stored prompt pack.
func packVersion(ctx context.Context, store *artifacts.Repository, ref artifacts.Ref) (int, error) {
	data, err := store.Get(ctx, ref)
	if err != nil {
		return 0, storeError(err)
	}
	p, err := cxreasonbench.ParsePack(data)
	if err != nil {
		return 0, err
	}
	return p.Version(), nil
}

// benchmarkExport writes stored cases as files.
type benchmarkExport struct {
	store   *artifacts.Repository
	write   func(name string, data []byte) error
	workers int
}

func (e *benchmarkExport) cases(ctx context.Context, w *cxreasonbench.LayoutWriter, cases []contract.BenchmarkCase) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(e.workers)
	for _, c := range cases {
		var doc contract.CaseDoc
		if err := readJSON(ctx, e.store, c.Doc, &doc); err != nil {
			return errors.Join(err, g.Wait())
		}
		if err := w.Case(c.Task, c.ID, doc.Items); err != nil {
			return errors.Join(err, g.Wait())
		}
		g.Go(func() error { return e.pictures(ctx, &doc) })
	}
	return g.Wait()
}

func (e *benchmarkExport) pictures(ctx context.Context, doc *contract.CaseDoc) error {
	written := map[string]bool{}
	for _, it := range doc.Items {
		for _, q := range it.Questions {
			for _, p := range q.Pictures {
				if written[p.Path] {
					continue
				}
				written[p.Path] = true
				data, err := e.store.Get(ctx, doc.Pictures[p.Path])
				if err != nil {
					return storeError(err)
				}
				if err := e.write(cxreasonbench.PictureFile(p), data); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// declare says in the folder what class its files are of.
func (e *benchmarkExport) declare(name, class string) error {
	use, err := datause.Parse(class)
	if err != nil {
		return err
	}
	data, err := dataset.Declaration{Name: name, DataUse: use, MadeBy: "cxrepro cxreasonbench build"}.Encode()
	if err != nil {
		return err
	}
	return e.write(dataset.DeclarationFile, data)
}

// writeBelow writes a file below a folder, with '/' as separator.
func writeBelow(dir, name string, data []byte) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	return nil
}
