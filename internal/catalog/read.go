package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"cxrepro/artifacts"
)

// Bounds of what is written together, and of what a reader gathers before it hands it over.
const (
	entriesAtOnce = 16384
	handedOver    = 256
)

// fresh is an entry or a document on its way to a reader. There may be millions, so it is small.
type fresh struct {
	key      artifacts.Key
	modified int64
	// again is true where the tables have rows of the key already.
	again bool
	// removed is set for entries that garbage collection removed, doc for documents.
	removed *artifacts.Tombstone
	doc     *artifacts.Ref
}

// pass reads what feed hands out with several readers, which turn it into rows, and writes the
// rows in batches. feed runs in a goroutine of its own.
func (b *builder) pass(ctx context.Context, feed func(ctx context.Context, out chan<- fresh) error, read func(ctx context.Context, rows *batch, f fresh) error) error {
	g, gctx := errgroup.WithContext(ctx)
	in, out := make(chan fresh, 256), make(chan *batch, b.opts.Readers)
	g.Go(func() error { defer close(in); return feed(gctx, in) })
	g.Go(func() error {
		defer close(out)
		readers, rctx := errgroup.WithContext(gctx)
		for range b.opts.Readers {
			readers.Go(func() error {
				rows := newBatch()
				for f := range in {
					if f.again {
						rows.again = append(rows.again, number(f.key.Digest))
					}
					if err := read(rctx, rows, f); err != nil {
						return err
					}
					if rows.size() < handedOver {
						continue
					}
					rows.sort()
					if err := send(rctx, out, rows); err != nil {
						return err
					}
					rows = newBatch()
				}
				return send(rctx, out, rows)
			})
		}
		return readers.Wait()
	})
	g.Go(func() error {
		rows := newBatch()
		for more := range out {
			b.noted(more)
			if rows.take(more); rows.size() < entriesAtOnce {
				continue
			}
			if err := b.load.write(gctx, rows); err != nil {
				return err
			}
			rows = newBatch()
		}
		if err := gctx.Err(); err != nil {
			return err
		}
		return b.load.write(gctx, rows)
	})
	return g.Wait()
}

// noted counts the entries of a batch, and keeps the documents that it leads to for later.
func (b *builder) noted(rows *batch) {
	if b.read += rows.entries; b.opts.Progress != nil && rows.entries > 0 {
		b.opts.Progress(b.read)
	}
	b.documents = append(b.documents, rows.waiting...)
}

// entries reads the keys that are new or were written again, while they are listed, and takes
// all that are there out of known.
func (b *builder) entries(ctx context.Context, known map[int64]int64) error {
	changed := false
	err := b.pass(ctx, func(ctx context.Context, out chan<- fresh) error {
		return b.store.Keys(ctx, "", func(key artifacts.Key, info artifacts.Info) error {
			id, at := number(key.Digest), info.Modified.UnixNano()
			was, ok := known[id]
			delete(known, id)
			if ok && was == at {
				return nil
			}
			changed = changed || ok
			return send(ctx, out, fresh{key: key, modified: at, again: ok})
		})
	}, b.readEntry)
	b.changed = b.changed || changed
	return err
}

// give hands out a list.
func give(list []fresh) func(context.Context, chan<- fresh) error {
	return func(ctx context.Context, out chan<- fresh) error {
		for _, f := range list {
			if err := send(ctx, out, f); err != nil {
				return err
			}
		}
		return nil
	}
}

func send[T any](ctx context.Context, out chan<- T, v T) error {
	select {
	case out <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readEntry reads one entry and its statement. A damaged entry is left out, and verify names
// it; one whose statement is gone keeps what it says itself.
func (b *builder) readEntry(ctx context.Context, rows *batch, f fresh) error {
	rec, err := b.store.Entry(ctx, f.key)
	if errors.Is(err, artifacts.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := b.readStatement(ctx, rows, &entry{record: rec, modified: f.modified}); err != nil {
		return err
	}
	if b.mayRefer(rec.Result) {
		rows.waiting = append(rows.waiting, rec.Result)
	}
	return nil
}

func (b *builder) readGrave(ctx context.Context, rows *batch, f fresh) error {
	return b.readStatement(ctx, rows, &entry{record: f.removed.Record(), removed: true, modified: f.modified})
}

func (b *builder) readStatement(ctx context.Context, rows *batch, e *entry) error {
	data, err := b.store.StatementOf(ctx, e.record)
	if err != nil && !errors.Is(err, artifacts.ErrNotFound) && !errors.Is(err, artifacts.ErrDigestMismatch) {
		return err
	}
	if err == nil {
		e.read(data)
	}
	rows.add(e)
	return nil
}

// tombstones reads the keys that garbage collection removed and nobody computed again.
func (b *builder) tombstones(ctx context.Context, known map[int64]int64) error {
	there := map[int64]bool{}
	var todo []fresh
	keys, err := numbers(ctx, b.tx, `SELECT key FROM steps WHERE removed = 0`, nil)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if _, gone := known[key]; !gone {
			there[key] = true
		}
	}
	err = b.store.Tombstones(ctx, "", func(t artifacts.Tombstone) error {
		id, at := number(t.Key.Digest), t.Removed.UnixNano()
		if there[id] || t.Result.IsZero() {
			return nil
		}
		was, ok := known[id]
		delete(known, id)
		if ok && was == at {
			return nil
		}
		b.changed = b.changed || ok
		todo = append(todo, fresh{key: t.Key, modified: at, again: ok, removed: &t})
		return nil
	})
	if err != nil {
		return err
	}
	return b.pass(ctx, give(todo), b.readGrave)
}

// lookInto links documents to what they refer to, and goes on with the documents among that.
// A document that is not there is looked for again the next time.
func (b *builder) lookInto(ctx context.Context) error {
	for len(b.documents) > 0 {
		todo, err := b.unread(ctx)
		if err != nil {
			return err
		}
		b.documents = nil
		if err := b.pass(ctx, give(todo), b.readDocument); err != nil {
			return err
		}
	}
	return nil
}

// mayRefer reports whether a blob is a document to look into.
func (b *builder) mayRefer(r artifacts.Ref) bool {
	return artifacts.Refers(r.MediaType) && r.Size <= artifacts.MaxScan && !slices.Contains(b.opts.Leaves, kindOf(r))
}

// unread returns those of the waiting documents that were not looked into before.
func (b *builder) unread(ctx context.Context) ([]fresh, error) {
	waiting := map[int64]artifacts.Ref{}
	for _, r := range b.documents {
		if b.mayRefer(r) {
			waiting[number(r.Digest)] = r
		}
	}
	ids := make([]int64, 0, len(waiting))
	for id := range waiting {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for chunk := range slices.Chunk(ids, 500) {
		found, err := numbers(ctx, b.tx, `SELECT id FROM documents WHERE id IN (`+marks(len(chunk))+`)`, chunk)
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			delete(waiting, id)
		}
	}
	var todo []fresh
	for _, id := range ids {
		if r, ok := waiting[id]; ok {
			todo = append(todo, fresh{doc: &r})
		}
	}
	return todo, nil
}

func (b *builder) readDocument(ctx context.Context, rows *batch, f fresh) error {
	data, err := b.store.Get(ctx, *f.doc)
	if errors.Is(err, artifacts.ErrNotFound) || errors.Is(err, artifacts.ErrDigestMismatch) {
		return nil
	}
	if err != nil {
		return err
	}
	var refs []artifacts.Ref
	if bytes.Contains(data, []byte(`"media_type"`)) {
		if refs, err = artifacts.RefsIn(data); err != nil {
			return fmt.Errorf("look into %s: %w", f.doc.Digest.Short(), err)
		}
	}
	if slices.Contains(b.opts.Lists, kindOf(*f.doc)) {
		for _, text := range standing.FindAll(data, -1) {
			if d, err := artifacts.ParseDigest(string(text[1 : len(text)-1])); err == nil {
				refs = append(refs, artifacts.Ref{Digest: d})
			}
		}
	}
	rows.refer(f.doc.Digest, refs)
	rows.documents = append(rows.documents, *f.doc)
	rows.waiting = append(rows.waiting, refs...)
	return nil
}

// standing matches a digest that is a JSON text by itself.
var standing = regexp.MustCompile(`"sha256:[0-9a-f]{64}"`)

// kindOf is a media type without its parameters.
func kindOf(r artifacts.Ref) string {
	kind, _, _ := strings.Cut(r.MediaType, ";")
	return kind
}
