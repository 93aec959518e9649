package activities

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"cxrepro/artifacts"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/derive"
)

// SegmentChunk makes or imports the masks of one window, one record per image. Images that
// have a record are not touched.
func (a *Activities) SegmentChunk(ctx context.Context, in contract.WindowInput) (contract.ChunkResult, error) {
	pl, err := a.plan(ctx, in.Plan)
	if err != nil {
		return contract.ChunkResult{}, err
	}
	data, err := a.dataset(ctx, in.Manifest)
	if err != nil {
		return contract.ChunkResult{}, err
	}
	entries, err := data.Window(ctx, in.Window)
	if err != nil {
		return contract.ChunkResult{}, err
	}
	p := a.beat(ctx, len(entries))
	defer p.close()
	t := &tally{effort: effort{reproduction: in.Reproduction, ingest: in.Ingest, id: in.Reproduction}}
	return sideBySide(p, entries, t, func(e contract.Entry) error {
		if err := a.reachable(p.work, pl, e); err != nil {
			return err
		}
		_, err := a.steps.once(p, pl.MasksKey(e), t, pl.Class(), func(ctx context.Context) (product, error) {
			return a.masks(ctx, pl, e)
		})
		return err
	})
}

// sideBySide works on the images of a chunk, as many at a time as the worker reads ahead: while
// the model works on one the next is read and decoded. After a failure, or when the attempt shall
// end, it begins none and waits for those in hand.
func sideBySide[T any](p *pulse, images []T, t *tally, work func(image T) error) (contract.ChunkResult, error) {
	var g errgroup.Group
	g.SetLimit(p.a.opts.Ahead)
	var failed atomic.Bool
	var stop error
	for _, image := range images {
		if stop = p.next(); stop != nil || failed.Load() {
			break
		}
		g.Go(func() error {
			if err := work(image); err != nil {
				failed.Store(true)
				return err
			}
			p.step(1)
			return nil
		})
	}
	if err := errors.Join(g.Wait(), stop); err != nil {
		return contract.ChunkResult{}, err
	}
	t.totals.Items = len(images)
	t.totals.Workers = contract.AddCount(nil, p.a.opts.Owner.Worker, 1)
	return contract.ChunkResult{Totals: t.totals}, nil
}

// masks computes or reads the masks of one image.
func (a *Activities) masks(ctx context.Context, pl *derive.Plan, e contract.Entry) (product, error) {
	if pl.Spec.Masks.Import != nil {
		m, err := a.importMasks(pl, e)
		return product{data: encodeMasks(m), mediaType: anatomy.MediaType}, err
	}
	return a.segmented(ctx, pl, e.Image, func() (*cxr.Image, error) { return a.pixels(ctx, pl, e) })
}

// segmented computes the masks of an image, which is read only where this worker has the model.
func (a *Activities) segmented(ctx context.Context, pl *derive.Plan, image artifacts.Digest, pixels func() (*cxr.Image, error)) (product, error) {
	engine, err := a.engine(ctx, pl)
	if err != nil {
		return product{}, err
	}
	img, err := pixels()
	if err != nil {
		return product{}, err
	}
	m, err := engine.Segmenter.Segment(ctx, img)
	if err != nil {
		return product{}, fmt.Errorf("segment image %s: %w", image.Short(), err)
	}
	return product{data: m.Encode(), mediaType: anatomy.MediaType, runtime: engine.Runtime, provider: engine.Identity.Provider}, nil
}

func encodeMasks(m *anatomy.Masks) []byte {
	if m == nil {
		return nil
	}
	return m.Encode()
}

// engine returns the plan's model, refusing one that would give masks of another identity.
func (a *Activities) engine(ctx context.Context, pl *derive.Plan) (*Engine, error) {
	if a.opts.Engine == nil {
		return nil, fail(contract.ErrTypeModel, "this worker has no inference; start one with a GPU queue")
	}
	e, err := a.opts.Engine(ctx, pl.Plan)
	if err != nil {
		return nil, err
	}
	if e.Identity != pl.Inference() {
		return nil, fail(contract.ErrTypeModel, "the worker's model code is %s with decoder %d, the plan was made for %s with decoder %d; start worker and plan from the same version",
			e.Identity.Preprocessing, e.Identity.Decoder, pl.Model.Preprocessing, cxr.DecoderVersion)
	}
	return e, nil
}

// root returns the folder of the plan's data set, or of a companion that lies elsewhere.
func (a *Activities) root(pl *derive.Plan, companion string) (fs.FS, error) {
	if root, ok := a.opts.Data[companion]; ok && companion != "" {
		return root, nil
	}
	if root, ok := a.opts.Data[pl.Spec.Dataset.Name]; ok {
		return root, nil
	}
	return nil, fail(contract.ErrTypeNoData, "this worker has no folder for data set %q; start it with --data %s=FOLDER", pl.Spec.Dataset.Name, pl.Spec.Dataset.Name)
}

// pixels reads and decodes an entry's file, which must have the bytes that ingest saw. A
// worker without the folder takes the stored copy.
func (a *Activities) pixels(ctx context.Context, pl *derive.Plan, e contract.Entry) (*cxr.Image, error) {
	_, img, err := a.radiograph(ctx, pl, e)
	return img, err
}

// reachable returns why a worker cannot get at an entry's file, before it claims the key: a
// claim counts as an execution. What has its record needs no file.
func (a *Activities) reachable(ctx context.Context, pl *derive.Plan, e contract.Entry) error {
	_, noFolder := a.root(pl, "")
	if noFolder == nil {
		return nil
	}
	if has, err := a.opts.Store.Has(ctx, e.Image); err != nil || has {
		return err
	}
	key, err := pl.MasksKey(e).Key()
	if err != nil {
		return err
	}
	_, err = a.opts.Store.Lookup(ctx, key)
	if errors.Is(err, artifacts.ErrNotFound) {
		return noFolder
	}
	return err
}

func (a *Activities) input(ctx context.Context, pl *derive.Plan, e contract.Entry) ([]byte, error) {
	root, noFolder := a.root(pl, "")
	if noFolder != nil {
		data, err := a.opts.Store.Get(ctx, inputRef(e))
		if errors.Is(err, artifacts.ErrNotFound) {
			return nil, noFolder
		}
		return data, err
	}
	data, err := fs.ReadFile(root, e.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fail(contract.ErrTypeInputChanged, "case %d: the file that ingest read is gone; run again to read the folder anew", e.Case)
	}
	return data, err
}
