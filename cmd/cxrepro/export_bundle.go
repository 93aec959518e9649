package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/bundle"
	"cxrepro/internal/export"
	"cxrepro/internal/report/evaluation"
)

// bundle writes the one file. It is written beside its name and renamed, so that no half of it
// is ever taken for a whole.
func (x *exporter) bundle(ctx context.Context) (err error) {
	key, err := x.a.signingKey()
	if err != nil {
		return err
	}
	r := x.effort.Receipt
	if key != nil {
		store, err := x.a.writeStore(ctx)
		if err == nil {
			err = x.a.attestReproduction(ctx, store, x.ref)
		}
		if err != nil {
			return err
		}
	}
	signed, err := attestationFiles(ctx, x.store, x.ref.Digest, x.ledger.Root)
	if err != nil {
		return err
	}
	ship, err := x.ships(ctx)
	if err != nil {
		return err
	}
	crate, err := export.Crate(x.effort, []export.File{
		{Name: bundle.ManifestFile, Title: "What the bundle is of, with the digests of its files", MediaType: "application/json"},
		{Name: bundle.LedgerFile, Title: "The ledger: every object with its digest", MediaType: "text/plain"},
		{Name: bundle.StorePrefix, Title: "The objects, as in a store of cxrepro"},
	})
	if err != nil {
		return err
	}
	files := []bundle.NamedFile{{Name: bundle.CrateFile, Data: crate}, {Name: bundle.PlanFile, Data: x.effort.PlanText}}
	for _, t := range x.effort.Tables {
		files = append(files, bundle.NamedFile{Name: t.Name, Data: t.Data})
	}
	w, err := writeBeside(x.out.Out, r.DataUse, func(f io.Writer) (bundle.Written, error) {
		return bundle.Write(ctx, f, bundle.Contents{
			Claim: claimOf(r, x.ref, x.ledger), DataUse: r.DataUse, Ledger: x.ledger, From: x.store.Bucket(), Ship: ship,
			Files: files, Attestations: signed, Key: key, Progress: x.a.slowly("wrote %d objects"),
		})
	})
	x.out.Bytes, x.out.Objects, x.out.Withheld, x.out.Root, x.out.Signed = w.Bytes, w.Objects, w.Withheld, x.ledger.Root, key != nil
	return err
}

// ships says which objects may go along: those without a class, and weights whose licence lets
// them be passed on.
func (x *exporter) ships(ctx context.Context) (func(bundle.Leaf) bool, error) {
	weights, err := passable(ctx, x.store, x.effort.Plan)
	return func(l bundle.Leaf) bool { return l.Class == "" || l.Class == activities.ClassWeights && weights }, err
}

// passable reports whether the licence of a plan's segmentation model lets its weights be passed
// on.
func passable(ctx context.Context, store *artifacts.Repository, p *experiments.Plan) (bool, error) {
	if p.Model == nil {
		return false, nil
	}
	data, err := store.Get(ctx, p.Model.Card)
	if err != nil {
		return false, storeError(err)
	}
	licence, err := licenceOf(data)
	if err != nil {
		return false, fmt.Errorf("card of model %s: %w", p.Model.Name, err)
	}
	return slices.Contains([]string{"Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CC-BY-4.0"}, licence), nil
}

// writeBeside writes a file under another name and renames it.
func writeBeside[T any](path, dataUse string, write func(io.Writer) (T, error)) (out T, err error) {
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		return out, usageError("give a file with --out", "%s is a folder", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return out, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".export-*")
	if err != nil {
		return out, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // it may be renamed already
		}
	}()
	out, err = write(f)
	err = errors.Join(err, f.Sync(), f.Chmod(modeFor(dataUse)), f.Close())
	if err != nil {
		return out, err
	}
	return out, os.Rename(f.Name(), path)
}

// modeFor is the mode of a file with what was made from data of a class.
func modeFor(dataUse string) os.FileMode {
	if _, local := evaluation.ClassNotice(dataUse); local {
		return 0o600
	}
	return 0o644
}
