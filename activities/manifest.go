package activities

import (
	"context"
	"fmt"
	"math"

	"cxrepro/artifacts/manifest"
	"cxrepro/internal/contract"
)

// BuildManifest joins the ingested chunks into the data set manifest and checks the
// account: every row of the tables is kept, filtered or quarantined.
func (a *Activities) BuildManifest(ctx context.Context, in contract.ManifestInput) (contract.ManifestResult, error) {
	p := a.beat(ctx, in.Scan.Count)
	defer p.close()
	pl, err := a.plan(ctx, in.Plan)
	if err != nil {
		return contract.ManifestResult{}, err
	}
	store := a.opts.Store.ForClass(pl.Class())
	entries, rejected, err := a.collect(p, in)
	if err != nil {
		return contract.ManifestResult{}, err
	}
	doc := contract.Dataset{
		Format: contract.DatasetFormat, Images: len(entries), In: in.Scan.In, DataUse: pl.Spec.Dataset.DataUse,
		Filtered: emptyNotNil(in.Scan.Filtered), Quarantined: []contract.Count{},
	}
	for _, q := range rejected {
		doc.Quarantined = contract.AddCount(doc.Quarantined, q.Reason, 1)
	}
	if got := doc.Images + contract.Total(doc.Filtered) + contract.Total(doc.Quarantined); got != doc.In {
		return contract.ManifestResult{}, fmt.Errorf("the account does not balance: %d rows in, %d kept + %d filtered + %d quarantined",
			doc.In, doc.Images, contract.Total(doc.Filtered), contract.Total(doc.Quarantined))
	}
	if doc.Images == 0 {
		return contract.ManifestResult{}, fail(contract.ErrTypeDataset, "no image is left: of %d rows %s were filtered and %s quarantined; check dataset.views, dataset.split and the folder",
			doc.In, contract.CountsInWords(doc.Filtered), contract.CountsInWords(doc.Quarantined))
	}
	windows := cut(entries, contract.WindowImages)
	w := manifest.NewWriter(store, "dataset", manifest.Limits{Items: math.MaxInt32, Bytes: math.MaxInt32})
	for _, win := range windows {
		for _, e := range win.entries {
			if err := w.Add(p.work, e); err != nil {
				return contract.ManifestResult{}, err
			}
		}
		if err := w.Cut(p.work, win.name()); err != nil {
			return contract.ManifestResult{}, err
		}
		p.step(len(win.entries))
	}
	if doc.Windows, err = w.Close(p.work); err != nil {
		return contract.ManifestResult{}, err
	}
	if len(rejected) > 0 {
		if doc.Rejected, err = putJSON(p.work, store, rejected, contract.QuarantineMediaType); err != nil {
			return contract.ManifestResult{}, err
		}
	}
	ref, err := putJSON(p.work, store, doc, contract.DatasetMediaType)
	if err != nil {
		return contract.ManifestResult{}, err
	}
	return contract.ManifestResult{
		Manifest: ref, Reproduction: contract.ReproductionID(pl.Ref.Digest, ref.Digest), Windows: len(windows),
		Images: doc.Images, In: doc.In, Filtered: doc.Filtered, Quarantined: doc.Quarantined,
	}, nil
}

// collect loads every chunk's output, in row order.
func (a *Activities) collect(p *pulse, in contract.ManifestInput) (entries []contract.Entry, rejected []contract.Quarantined, err error) {
	var packed contract.Packed
	if !in.Chunks.IsZero() {
		if packed, err = getJSON[contract.Packed](p.work, a.opts.Store, in.Chunks); err != nil {
			return nil, nil, err
		}
	}
	want := (in.Scan.Count + contract.WindowImages - 1) / contract.WindowImages
	if len(packed.Items) != want {
		return nil, nil, fmt.Errorf("%d ingested chunks, want %d", len(packed.Items), want)
	}
	for i, item := range packed.Items {
		if item.Index != i {
			return nil, nil, fmt.Errorf("ingested chunk %d stands at place %d", item.Index, i)
		}
		out, err := getJSON[contract.Ingested](p.work, a.opts.Store, item.Ref)
		if err != nil {
			return nil, nil, err
		}
		entries = append(entries, out.Kept...)
		rejected = append(rejected, out.Quarantined...)
		p.progress()
	}
	return entries, rejected, nil
}

func emptyNotNil(c []contract.Count) []contract.Count {
	if c == nil {
		return []contract.Count{}
	}
	return c
}
