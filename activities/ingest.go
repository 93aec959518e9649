package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	ds "cxrepro/internal/dataset"
	"cxrepro/internal/derive"
)

// chunk is one IngestChunk at work.
type chunk struct {
	a     *Activities
	plan  *derive.Plan
	src   *source
	store *artifacts.Repository
	index *ds.CheXmaskIndex
	pulse *pulse
	tally *tally
	out   contract.Ingested
}

// IngestChunk reads the images of a range of rows: digest, decoding, pixel facts, boxes and
// contours. A file that is broken becomes one quarantined row with a reason; nothing else
// of the chunk is lost.
func (a *Activities) IngestChunk(ctx context.Context, in contract.IngestChunkInput) (contract.ChunkResult, error) {
	pl, err := a.plan(ctx, in.Plan)
	if err != nil {
		return contract.ChunkResult{}, err
	}
	p := a.beat(ctx, in.Count)
	defer p.close()
	c := &chunk{
		a: a, plan: pl, pulse: p, store: a.opts.Store.ForClass(pl.Class()), tally: &tally{effort: effort{ingest: in.Ingest, id: in.Ingest}},
		out: contract.Ingested{Kept: []contract.Entry{}, Quarantined: []contract.Quarantined{}},
	}
	if err := a.launching(p, in.Plan); err != nil {
		return contract.ChunkResult{}, err
	}
	rows, err := a.rows(ctx, in)
	if err != nil {
		return contract.ChunkResult{}, err
	}
	if c.src, err = a.source(pl, in.Rows.Digest); err != nil {
		return contract.ChunkResult{}, err
	}
	if !in.Lungs.IsZero() {
		if c.index, err = load(ctx, a.docs, in.Lungs, a.lungIndex); err != nil {
			return contract.ChunkResult{}, err
		}
	}
	for _, row := range rows {
		if err := p.next(); err != nil {
			return contract.ChunkResult{}, err
		}
		if err := c.row(row); err != nil {
			return contract.ChunkResult{}, err
		}
		p.step(1)
	}
	ref, err := putJSON(p.work, c.store, c.out, contract.ChunkOutMediaType)
	if err != nil {
		return contract.ChunkResult{}, err
	}
	c.tally.totals.Items = len(rows)
	c.tally.totals.Workers = contract.AddCount(nil, a.opts.Owner.Worker, 1)
	return contract.ChunkResult{Output: ref, Totals: c.tally.totals}, nil
}

func (a *Activities) lungIndex(ctx context.Context, ref artifacts.Ref) (*ds.CheXmaskIndex, error) {
	data, err := a.opts.Store.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	return ds.DecodeCheXmaskIndex(data)
}

// rows loads a range of the row list.
func (a *Activities) rows(ctx context.Context, in contract.IngestChunkInput) ([]ds.Row, error) {
	list, err := load(ctx, a.docs, in.Rows, func(ctx context.Context, ref artifacts.Ref) (*manifest.Manifest, error) {
		return manifest.Open(ctx, a.opts.Store, ref)
	})
	if err != nil {
		return nil, err
	}
	rows := make([]ds.Row, 0, in.Count)
	err = list.Each(ctx, int64(in.Offset), int64(in.Count), func(at int64, item json.RawMessage) error {
		var row ds.Row
		if err := json.Unmarshal(item, &row); err != nil {
			return fmt.Errorf("row %d: %w", at, err)
		}
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// row ingests one row.
func (c *chunk) row(row ds.Row) error {
	if row.Entry.Outcome != ds.Kept {
		c.quarantine(row, row.Entry.Outcome, row.Entry.Detail, artifacts.Digest{}, 0)
		return nil
	}
	e, done, err := c.known(row)
	if err != nil {
		return err
	}
	if !done {
		var ok bool
		if e, ok, err = c.read(row); err != nil || !ok {
			return err
		}
	}
	if err := c.copyInput(e); err != nil {
		return err
	}
	if err := c.companions(&e); err != nil {
		return err
	}
	if ok, err := c.maskFiles(row, &e); err != nil || !ok {
		return err
	}
	c.out.Kept = append(c.out.Kept, e)
	return nil
}

func (c *chunk) quarantine(row ds.Row, o ds.Outcome, detail string, d artifacts.Digest, size int64) {
	c.reject(row, o.String(), detail, d, size)
}

func (c *chunk) reject(row ds.Row, reason, detail string, d artifacts.Digest, size int64) {
	c.tally.totals.Quarantined = contract.AddCount(c.tally.totals.Quarantined, reason, 1)
	c.out.Quarantined = append(c.out.Quarantined, contract.Quarantined{
		Case: row.Entry.Case, ID: row.Source.ID, Path: row.Source.Path, Reason: reason, Detail: detail, Image: d, Size: size,
	})
}

// entry fills in what row and facts say.
func entry(row ds.Row, d artifacts.Digest, size int64, facts artifacts.Ref, width, height int) contract.Entry {
	e := contract.Entry{
		Image: d, Size: size, Case: row.Entry.Case, ID: row.Source.ID, Subject: row.Source.Subject, Study: row.Source.Study,
		Path: row.Source.Path, View: row.Entry.View.String(), Width: width, Height: height, Facts: facts,
	}
	if row.Entry.Split.Valid() {
		e.Split = row.Entry.Split.String()
	}
	return e
}

// known returns the entry of a file whose digest is remembered and whose facts have a
// record, without reading it. done is false when the file must be read.
func (c *chunk) known(row ds.Row) (e contract.Entry, done bool, err error) {
	cache := c.a.opts.Digests
	if cache == nil {
		return e, false, nil
	}
	info, err := fs.Stat(c.src.root, row.Source.Path)
	if err != nil {
		return e, false, nil // reading it says what is wrong
	}
	d, ok := cache.Lookup(c.plan.Spec.Dataset.Name, row.Source.Path, info.Size(), info.ModTime())
	if !ok || (!row.Entry.Published.IsZero() && row.Entry.Published != d) {
		return e, false, nil
	}
	key, err := contract.PixelFactsKey(d, c.plan.Decoding).Key()
	if err != nil {
		return e, false, err
	}
	rec, err := c.a.opts.Store.Lookup(c.pulse.work, key)
	if errors.Is(err, artifacts.ErrNotFound) {
		return e, false, nil
	}
	if err != nil {
		return e, false, err
	}
	data, err := c.a.opts.Store.Get(c.pulse.work, rec.Result)
	if errors.Is(err, artifacts.ErrDigestMismatch) || errors.Is(err, artifacts.ErrNotFound) {
		return e, false, nil
	}
	if err != nil {
		return e, false, err
	}
	facts, err := chexstruct.DecodeFacts(data)
	if err != nil {
		return e, false, err
	}
	if w, h := row.Entry.Width, row.Entry.Height; w > 0 && w != facts.Width || h > 0 && h != facts.Height {
		return e, false, nil
	}
	e = entry(row, d, info.Size(), rec.Result, facts.Width, facts.Height)
	return e, true, c.a.steps.count(c.pulse.work, rec, c.tally)
}

// read decodes a file and records its facts. ok is false when it went into quarantine.
func (c *chunk) read(row ds.Row) (e contract.Entry, ok bool, err error) {
	before, statErr := fs.Stat(c.src.root, row.Source.Path)
	loaded, err := c.src.mimic.Load(row, ds.LoadOptions{Limits: c.plan.Limits})
	if err != nil {
		return e, false, err
	}
	if loaded.Outcome != ds.Kept {
		c.quarantine(row, loaded.Outcome, loaded.Detail, loaded.Digest, loaded.Size)
		return e, false, nil
	}
	rec, err := c.a.steps.once(c.pulse, contract.PixelFactsKey(loaded.Digest, c.plan.Decoding), c.tally, c.plan.Class(), func(context.Context) (product, error) {
		facts := chexstruct.Facts(loaded.Image)
		return product{data: facts.Encode(), mediaType: chexstruct.FactsMediaType}, nil
	})
	if err != nil {
		return e, false, err
	}
	if cache := c.a.opts.Digests; cache != nil && statErr == nil {
		// A digest that is not remembered costs one more reading, nothing else.
		if err := cache.Store(c.plan.Spec.Dataset.Name, row.Source.Path, before.Size(), before.ModTime(), loaded.Digest); err != nil {
			c.a.opts.Log.Warn("digest not remembered", "err", err)
		}
	}
	return entry(row, loaded.Digest, loaded.Size, rec.Result, loaded.Image.Width, loaded.Image.Height), true, nil
}

// inputMediaType is the media type of an image's stored copy.
const inputMediaType = "application/octet-stream"

// inputRef is where a copy of an entry's file is, if there is one.
func inputRef(e contract.Entry) artifacts.Ref {
	return artifacts.Ref{Digest: e.Image, Size: e.Size, MediaType: inputMediaType}
}

// copyInput stores an entry's file, where that is wanted and not done. The manifest names
// images by digest with and without copies, so copying changes no key.
func (c *chunk) copyInput(e contract.Entry) error {
	if !c.a.opts.CopyInputs {
		return nil
	}
	if has, err := c.store.Has(c.pulse.work, e.Image); err != nil || has {
		return err
	}
	data, err := fs.ReadFile(c.src.root, e.Path)
	if err != nil {
		return fmt.Errorf("copy case %d: %w", e.Case, err)
	}
	ref, err := c.store.Put(c.pulse.work, data, inputMediaType)
	if err != nil {
		return err
	}
	if ref.Digest != e.Image {
		return fail(contract.ErrTypeInputChanged, "case %d: the file changed while it was read; run again to read the folder anew", e.Case)
	}
	return nil
}
