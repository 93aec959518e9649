package plan

import (
	"context"

	"golang.org/x/sync/errgroup"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// images are the images of a window, with the keys of their masks and then of their facts.
type images struct {
	entries []contract.Entry
	docs    []artifacts.KeyDoc
	keys    []artifacts.Digest
}

// Windows of a block, whose keys are looked up at once, and how many are read side by side.
const (
	blockWindows = 64
	readers      = 4
)

// eachBlock calls fn for the windows in order, some at a time. While it runs the next ones are
// read and their keys derived.
func (p *planner) eachBlock(ctx context.Context, fn func(first int, block []images) error) error {
	g, gctx := errgroup.WithContext(ctx)
	blocks := make(chan []images)
	g.Go(func() error {
		defer close(blocks)
		for first := 0; first < len(p.windows); first += blockWindows {
			block := make([]images, min(blockWindows, len(p.windows)-first))
			each, ectx := errgroup.WithContext(gctx)
			each.SetLimit(readers)
			for i := range block {
				each.Go(func() (err error) { block[i], err = p.imagesOf(ectx, first+i); return err })
			}
			if err := each.Wait(); err != nil {
				return err
			}
			select {
			case blocks <- block:
			case <-gctx.Done():
				return gctx.Err()
			}
		}
		return nil
	})
	g.Go(func() error {
		first := 0
		for block := range blocks {
			if err := fn(first, block); err != nil {
				return err
			}
			first += len(block)
		}
		return nil
	})
	return g.Wait()
}

func (p *planner) imagesOf(ctx context.Context, window int) (in images, err error) {
	if in.entries, err = p.data.Window(ctx, window); err != nil {
		return in, err
	}
	in.docs = make([]artifacts.KeyDoc, 0, 2*len(in.entries))
	for _, e := range in.entries {
		in.docs = append(in.docs, p.pl.MasksKey(e))
	}
	for _, e := range in.entries {
		in.docs = append(in.docs, contract.PixelFactsKey(e.Image, p.pl.Decoding))
	}
	in.keys, err = digests(in.docs)
	return in, err
}

func digests(docs []artifacts.KeyDoc) ([]artifacts.Digest, error) {
	out := make([]artifacts.Digest, len(docs))
	for i, doc := range docs {
		key, err := doc.Key()
		if err != nil {
			return nil, err
		}
		out[i] = key.Digest
	}
	return out, nil
}
