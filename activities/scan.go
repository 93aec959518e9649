package activities

import (
	"context"
	"errors"
	"sort"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	ds "cxrepro/internal/dataset"
	"cxrepro/internal/datause"
	"cxrepro/internal/derive"
)

// reasonNotSampled is the reason of rows that the spec's sampling left out.
const reasonNotSampled = "not_sampled"

// ScanTables reads the tables of the plan's data set and stores the rows that enter, in
// table order, as chunks. Rows that the tables themselves spoil, and pictures without a
// row, go along with their reason, so that everything is accounted for.
func (a *Activities) ScanTables(ctx context.Context, in contract.ScanInput) (contract.ScanResult, error) {
	p := a.beat(ctx, 0)
	defer p.close()
	pl, err := a.plan(ctx, in.Plan)
	if err != nil {
		return contract.ScanResult{}, err
	}
	if err := a.launching(p, in.Plan); err != nil {
		return contract.ScanResult{}, err
	}
	src, err := a.openSource(pl)
	if err != nil {
		return contract.ScanResult{}, err
	}
	defer src.close()
	if err := a.checkDataUse(pl, src); err != nil {
		return contract.ScanResult{}, err
	}
	out := contract.ScanResult{}
	var rows []ds.Row
	for row, err := range src.mimic.Rows(0, -1) {
		if err != nil {
			return contract.ScanResult{}, tableFailure(err)
		}
		if out.In%1024 == 0 {
			if err := p.next(); err != nil {
				return contract.ScanResult{}, err
			}
		}
		p.progress()
		out.In++
		if row.Entry.Outcome.Status() == ds.StatusFiltered {
			out.Filtered = contract.AddCount(out.Filtered, row.Entry.Outcome.String(), 1)
			continue
		}
		rows = append(rows, row)
	}
	orphans := a.orphans(p, src, out.In)
	out.In += len(orphans)
	rows = append(rows, orphans...)
	rows, dropped := sample(rows, pl.Spec.Dataset.Sampling)
	out.Filtered = contract.AddCount(out.Filtered, reasonNotSampled, dropped)
	out.Count = len(rows)
	w := manifest.NewWriter(a.opts.Store.ForClass(pl.Class()), "rows", manifest.Limits{Items: contract.WindowImages, Bytes: 8 << 20})
	for _, row := range rows {
		if err := w.Add(p.work, row); err != nil {
			return contract.ScanResult{}, err
		}
		p.progress()
	}
	if out.Rows, err = w.Close(p.work); err != nil {
		return contract.ScanResult{}, err
	}
	if out.Lungs, err = a.scanLungs(p, pl, src); err != nil {
		return contract.ScanResult{}, err
	}
	out.Ingest = contract.IngestID(pl.Ref.Digest, out.Rows.Digest)
	return out, nil
}

// orphanRows is the longest table beside which pictures without a row are looked for:
// walking the folders of a large data set on a network share takes longer than reading its
// tables. `cxrepro dataset check --orphans` looks at any size.
const orphanRows = 20_000

// orphans returns the pictures that no row mentions, each to be accounted for.
func (a *Activities) orphans(p *pulse, src *source, rows int) []ds.Row {
	if rows > orphanRows {
		return nil
	}
	var out []ds.Row
	for row, err := range src.mimic.Orphans(rows + 1) {
		if err != nil {
			a.opts.Log.Warn("pictures without a row were not looked for", "err", clean("ScanTables", err))
			return nil
		}
		out = append(out, row)
		p.progress()
	}
	return out
}

// checkDataUse refuses a spec that gives the data a weaker class than their terms.
func (a *Activities) checkDataUse(pl *derive.Plan, src *source) error {
	asked, err := datause.Parse(pl.Spec.Dataset.DataUse)
	if err != nil {
		return fail(contract.ErrTypeSpec, "dataset.data_use: %w", err)
	}
	if _, err := ds.DataUse(src.root, ds.MIMICCXRJPG, pl.Spec.Dataset.Name, asked); err != nil {
		var lowered *ds.LoweredError
		if errors.As(err, &lowered) {
			return fail(contract.ErrTypeRefused, "dataset.data_use: %w", err)
		}
		return fail(contract.ErrTypeDataset, "%w", err)
	}
	return nil
}

// sample keeps what the spec's sampling takes of the rows that can become images, in table
// order, and says how many it left out. Spoilt rows stay: they are part of the account.
func sample(rows []ds.Row, s *experiments.Sampling) (kept []ds.Row, dropped int) {
	if s == nil {
		return rows, 0
	}
	var candidates []int
	for i, row := range rows {
		if row.Entry.Outcome == ds.Kept {
			candidates = append(candidates, i)
		}
	}
	if s.Order == experiments.OrderHash {
		sum := make(map[int]artifacts.Digest, len(candidates))
		for _, i := range candidates {
			sum[i] = artifacts.Sum([]byte(rows[i].Source.ID))
		}
		sort.Slice(candidates, func(x, y int) bool { return sum[candidates[x]].Hex() < sum[candidates[y]].Hex() })
	}
	taken := map[int]bool{}
	for n, i := range candidates {
		taken[i] = n < s.Limit
	}
	for i, row := range rows {
		if take, candidate := taken[i]; candidate && !take {
			dropped++
			continue
		}
		kept = append(kept, row)
	}
	return kept, dropped
}

// selection is the spec's choice of images.
func selection(d experiments.Dataset) (ds.Selection, error) {
	var s ds.Selection
	for _, text := range d.Views {
		v, ok := cxr.ParseView(text)
		if !ok {
			return s, fail(contract.ErrTypeSpec, "dataset.views: %q is not a view position", text)
		}
		s.Views = append(s.Views, v)
	}
	if d.Split == experiments.SplitAll {
		return s, nil
	}
	split, err := ds.ParseSplit(d.Split)
	if err != nil {
		return s, fail(contract.ErrTypeSpec, "dataset.split: %w", err)
	}
	s.Split = split
	return s, nil
}

// tableFailure types an error of a table: one that is not what the layout says is
// permanent, the storage's own may pass.
func tableFailure(err error) error {
	var te *ds.TableError
	if errors.As(err, &te) {
		return fail(contract.ErrTypeDataset, "%w", err)
	}
	return err
}
