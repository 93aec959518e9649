package manifest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"cxrepro/artifacts"
)

// Media types of root and chunk.
const (
	RootMediaType  = "application/vnd.cxrepro.manifest+json"
	ChunkMediaType = "application/vnd.cxrepro.chunk+json"
)

const format = "cxrepro.manifest/1"

// Chunk is one run of items [First, First+Count).
type Chunk struct {
	Ref   artifacts.Ref `json:"ref"`
	First int64         `json:"first"`
	Count int64         `json:"count"`
	// Label says what the writer cut by, such as a digest prefix.
	Label string `json:"label,omitempty"`
}

// root is the stored form.
type root struct {
	Format string  `json:"format"`
	Kind   string  `json:"kind"`
	Total  int64   `json:"total"`
	Chunks []Chunk `json:"chunks"`
}

// Putter stores bytes; *artifacts.Repository is one.
type Putter interface {
	Put(ctx context.Context, data []byte, mediaType string) (artifacts.Ref, error)
}

// Getter returns checked bytes; *artifacts.Repository is one.
type Getter interface {
	Get(ctx context.Context, ref artifacts.Ref) ([]byte, error)
}

// Limits say when a chunk ends by itself. Zero values mean 256 items and 1 MiB.
type Limits struct {
	Items int
	Bytes int
}

// Writer cuts items into chunks. It serves one goroutine.
type Writer struct {
	store  Putter
	limits Limits
	root   root
	buf    []byte
	count  int
}

// NewWriter returns a writer of a list of that kind ("dataset", "masks", ...).
func NewWriter(store Putter, kind string, limits Limits) *Writer {
	if limits.Items == 0 {
		limits.Items = 256
	}
	if limits.Bytes == 0 {
		limits.Bytes = 1 << 20
	}
	return &Writer{store: store, limits: limits, root: root{Format: format, Kind: kind, Chunks: []Chunk{}}}
}

// Add appends one item, which must be representable as JSON.
func (w *Writer) Add(ctx context.Context, item any) error {
	text, err := artifacts.Canonical(item)
	if err != nil {
		return fmt.Errorf("%s item %d: %w", w.root.Kind, w.root.Total+int64(w.count), err)
	}
	if w.count >= w.limits.Items || w.count > 0 && len(w.buf)+len(text) > w.limits.Bytes {
		if err := w.Cut(ctx, ""); err != nil {
			return err
		}
	}
	if w.count > 0 {
		w.buf = append(w.buf, ',')
	} else {
		w.buf = append(w.buf, '[')
	}
	w.buf = append(w.buf, text...)
	w.count++
	return nil
}

// Cut ends the current chunk, if it has items, and gives it a label.
func (w *Writer) Cut(ctx context.Context, label string) error {
	if w.count == 0 {
		return nil
	}
	ref, err := w.store.Put(ctx, append(w.buf, ']'), ChunkMediaType)
	if err != nil {
		return fmt.Errorf("%s chunk %d: %w", w.root.Kind, len(w.root.Chunks), err)
	}
	n := int64(w.count)
	w.root.Chunks = append(w.root.Chunks, Chunk{Ref: ref, First: w.root.Total, Count: n, Label: label})
	w.root.Total += n
	w.buf, w.count = w.buf[:0], 0
	return nil
}

// Close writes the last chunk and the root, and returns the root's ref. The writer is
// of no further use.
func (w *Writer) Close(ctx context.Context) (artifacts.Ref, error) {
	if err := w.Cut(ctx, ""); err != nil {
		return artifacts.Ref{}, err
	}
	text, err := artifacts.Canonical(w.root)
	if err != nil {
		return artifacts.Ref{}, err
	}
	ref, err := w.store.Put(ctx, text, RootMediaType)
	if err != nil {
		return artifacts.Ref{}, fmt.Errorf("%s manifest: %w", w.root.Kind, err)
	}
	return ref, nil
}

// Manifest is a stored list. It may be used from several goroutines.
type Manifest struct {
	store Getter
	ref   artifacts.Ref
	root  root
}

// Open reads a root and checks that its chunks follow one another.
func Open(ctx context.Context, store Getter, ref artifacts.Ref) (*Manifest, error) {
	data, err := store.Get(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("open manifest: %w", err)
	}
	m := &Manifest{store: store, ref: ref}
	if err := json.Unmarshal(data, &m.root); err != nil {
		return nil, fmt.Errorf("open manifest %s: %w", ref.Digest.Short(), err)
	}
	if m.root.Format != format {
		return nil, fmt.Errorf("open manifest %s: format %q, want %q", ref.Digest.Short(), m.root.Format, format)
	}
	var at int64
	for i, c := range m.root.Chunks {
		if c.First != at || c.Count < 1 {
			return nil, fmt.Errorf("open manifest %s: chunk %d begins at %d with %d items, want %d", ref.Digest.Short(), i, c.First, c.Count, at)
		}
		at += c.Count
	}
	if at != m.root.Total {
		return nil, fmt.Errorf("open manifest %s: chunks hold %d items, total says %d", ref.Digest.Short(), at, m.root.Total)
	}
	return m, nil
}

// Ref returns the root's ref.
func (m *Manifest) Ref() artifacts.Ref { return m.ref }

// Kind returns what the list holds.
func (m *Manifest) Kind() string { return m.root.Kind }

// Total returns the number of items.
func (m *Manifest) Total() int64 { return m.root.Total }

// Chunks returns the chunks in order. The caller must not change them.
func (m *Manifest) Chunks() []Chunk { return m.root.Chunks }

// Chunk returns the items of chunk i.
func (m *Manifest) Chunk(ctx context.Context, i int) ([]json.RawMessage, error) {
	if i < 0 || i >= len(m.root.Chunks) {
		return nil, fmt.Errorf("manifest %s: chunk %d of %d", m.ref.Digest.Short(), i, len(m.root.Chunks))
	}
	c := m.root.Chunks[i]
	data, err := m.store.Get(ctx, c.Ref)
	if err != nil {
		return nil, fmt.Errorf("manifest %s chunk %d: %w", m.ref.Digest.Short(), i, err)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return nil, fmt.Errorf("manifest %s chunk %d: %w", m.ref.Digest.Short(), i, err)
	}
	if int64(len(items)) != c.Count {
		return nil, fmt.Errorf("manifest %s chunk %d: %d items, want %d", m.ref.Digest.Short(), i, len(items), c.Count)
	}
	return items, nil
}

// Each calls fn for the items [offset, offset+window), or up to the end when the list
// is shorter; window < 0 means all. It reads only the chunks it needs and stops at fn's
// first error. Errors: a negative offset.
func (m *Manifest) Each(ctx context.Context, offset, window int64, fn func(i int64, item json.RawMessage) error) error {
	if offset < 0 {
		return errors.New("manifest: negative offset")
	}
	end := m.root.Total
	if window >= 0 && window < end-offset {
		end = offset + window
	}
	for i, c := range m.root.Chunks {
		if c.First+c.Count <= offset {
			continue
		}
		if c.First >= end {
			break
		}
		items, err := m.Chunk(ctx, i)
		if err != nil {
			return err
		}
		for j, item := range items {
			if at := c.First + int64(j); at >= offset && at < end {
				if err := fn(at, item); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
