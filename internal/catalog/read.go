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

// entriesAtOnce is how many entries are written together.
const entriesAtOnce = 4096

// fresh is an entry or a document on its way through a reader.
type fresh struct {
	entry entry
	// doc and refs are set for documents.
	doc  artifacts.Ref
	refs []artifacts.Ref
}

// pass reads what feed hands out with several readers and writes the rows in batches. feed
// runs in a goroutine of its own; a read that returns false adds nothing.
func (b *builder) pass(ctx context.Context, feed func(ctx context.Context, out chan<- fresh) error, read func(ctx context.Context, f *fresh) (bool, error), done func(*batch, fresh)) error {
	g, gctx := errgroup.WithContext(ctx)
	in, out := make(chan fresh, 256), make(chan fresh, 256)
	g.Go(func() error { defer close(in); return feed(gctx, in) })
	g.Go(func() error {
		defer close(out)
		readers, rctx := errgroup.WithContext(gctx)
		for range b.opts.Readers {
			readers.Go(func() error {
				for f := range in {
					ok, err := read(rctx, &f)
					if err != nil {
						return err
					}
					if !ok {
						continue
					}
					select {
					case out <- f:
					case <-rctx.Done():
						return rctx.Err()
					}
				}
				return nil
			})
		}
		return readers.Wait()
	})
	g.Go(func() error {
		rows, n := newBatch(), 0
		for f := range out {
			done(rows, f)
			if n++; n == entriesAtOnce {
				if err := b.load.write(gctx, rows); err != nil {
					return err
				}
				rows, n = newBatch(), 0
			}
		}
		if err := gctx.Err(); err != nil {
			return err
		}
		return b.load.write(gctx, rows)
	})
	return g.Wait()
}

// entries reads the keys that are new or were written again, and takes all that are there out
// of known.
func (b *builder) entries(ctx context.Context, known map[int64]int64) error {
	var again []int64
	var todo []pending
	err := b.store.Keys(ctx, "", func(key artifacts.Key, info artifacts.Info) error {
		id, at := number(key.Digest), info.Modified.UnixNano()
		was, ok := known[id]
		delete(known, id)
		if ok && was == at {
			return nil
		}
		if ok {
			again = append(again, id)
		}
		todo = append(todo, pending{key, at})
		return nil
	})
	if err != nil {
		return err
	}
	b.changed = b.changed || len(again) > 0
	if err := b.load.forget(ctx, again); err != nil {
		return err
	}
	return b.pass(ctx, give(todo, func(p pending) fresh {
		return fresh{entry: entry{record: artifacts.Record{Key: p.key}, modified: p.at}}
	}), b.readEntry, b.addEntry)
}

// pending is a key that is to be read. There may be millions, so it is small.
type pending struct {
	key artifacts.Key
	at  int64
}

// give hands out a list.
func give[T any](list []T, as func(T) fresh) func(context.Context, chan<- fresh) error {
	return func(ctx context.Context, out chan<- fresh) error {
		for _, v := range list {
			select {
			case out <- as(v):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
}

// readEntry reads one entry and its statement. A damaged entry is left out, and verify names
// it; one whose statement is gone keeps what it says itself.
func (b *builder) readEntry(ctx context.Context, f *fresh) (bool, error) {
	rec, err := b.store.Entry(ctx, f.entry.record.Key)
	if errors.Is(err, artifacts.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	f.entry.record = rec
	return true, b.readStatement(ctx, &f.entry)
}

func (b *builder) readStatement(ctx context.Context, e *entry) error {
	data, err := b.store.StatementOf(ctx, e.record)
	if errors.Is(err, artifacts.ErrNotFound) || errors.Is(err, artifacts.ErrDigestMismatch) {
		return nil
	}
	if data != nil {
		e.read(data)
	}
	return err
}

func (b *builder) addEntry(rows *batch, f fresh) {
	if b.read++; b.opts.Progress != nil && b.read%1000 == 0 {
		b.opts.Progress(b.read)
	}
	rows.add(&f.entry)
	if !f.entry.removed && b.mayRefer(f.entry.record.Result) {
		b.documents = append(b.documents, f.entry.record.Result)
	}
}

// tombstones reads the keys that garbage collection removed and nobody computed again.
func (b *builder) tombstones(ctx context.Context, known map[int64]int64) error {
	there := map[int64]bool{}
	var again []int64
	var todo []artifacts.Tombstone
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
		if ok {
			again = append(again, id)
		}
		todo = append(todo, t)
		return nil
	})
	if err != nil {
		return err
	}
	b.changed = b.changed || len(again) > 0
	if err := b.load.forget(ctx, again); err != nil {
		return err
	}
	return b.pass(ctx, give(todo, func(t artifacts.Tombstone) fresh {
		return fresh{entry: entry{record: t.Record(), removed: true, modified: t.Removed.UnixNano()}}
	}), func(ctx context.Context, f *fresh) (bool, error) {
		return true, b.readStatement(ctx, &f.entry)
	}, b.addEntry)
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
		if err := b.pass(ctx, give(todo, func(r artifacts.Ref) fresh { return fresh{doc: r} }), b.readDocument, b.addDocument); err != nil {
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
func (b *builder) unread(ctx context.Context) ([]artifacts.Ref, error) {
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
	var todo []artifacts.Ref
	for _, id := range ids {
		if r, ok := waiting[id]; ok {
			todo = append(todo, r)
		}
	}
	return todo, nil
}

func (b *builder) readDocument(ctx context.Context, f *fresh) (bool, error) {
	data, err := b.store.Get(ctx, f.doc)
	if errors.Is(err, artifacts.ErrNotFound) || errors.Is(err, artifacts.ErrDigestMismatch) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if bytes.Contains(data, []byte(`"media_type"`)) {
		if f.refs, err = artifacts.RefsIn(data); err != nil {
			return false, fmt.Errorf("look into %s: %w", f.doc.Digest.Short(), err)
		}
	}
	if slices.Contains(b.opts.Lists, kindOf(f.doc)) {
		for _, text := range standing.FindAll(data, -1) {
			if d, err := artifacts.ParseDigest(string(text[1 : len(text)-1])); err == nil {
				f.refs = append(f.refs, artifacts.Ref{Digest: d})
			}
		}
	}
	return true, nil
}

// standing matches a digest that is a JSON text by itself.
var standing = regexp.MustCompile(`"sha256:[0-9a-f]{64}"`)

// kindOf is a media type without its parameters.
func kindOf(r artifacts.Ref) string {
	kind, _, _ := strings.Cut(r.MediaType, ";")
	return kind
}

func (b *builder) addDocument(rows *batch, f fresh) {
	rows.refer(f.doc.Digest, f.refs)
	rows.documents = append(rows.documents, f.doc)
	b.documents = append(b.documents, f.refs...)
}
