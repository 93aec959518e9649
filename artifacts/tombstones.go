package artifacts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sort"
	"strings"
	"time"
)

// Tombstone stands for an index entry that garbage collection removed. Its statement
// stays in the store, so that the question where a result came from keeps its answer.
type Tombstone struct {
	Format    string          `json:"format"`
	Inline    json.RawMessage `json:"inline,omitempty"` // the statement, where the entry carried it
	Key       Key             `json:"key"`
	Result    Ref             `json:"result"`
	Statement Ref             `json:"statement"`
	Reason    string          `json:"reason"`
	Removed   time.Time       `json:"removed"`
}

// Record returns what the entry said.
func (t Tombstone) Record() Record {
	return Record{Key: t.Key, Result: t.Result, Statement: t.Statement, Inline: t.Inline}
}

const (
	tombstoneFormat  = "cxrepro.tombstone/1"
	blobGravesFormat = "cxrepro.tombstone-blobs/1"
	// buryMost is how many removed blobs one list of graves holds.
	buryMost = 1000
)

// blobGraves lists blobs that were removed together.
type blobGraves struct {
	Format  string      `json:"format"`
	Removed time.Time   `json:"removed"`
	Blobs   []blobGrave `json:"blobs"`
}

type blobGrave struct {
	Name string `json:"name"`
	Size int64  `json:"bytes"`
}

// bury writes the tombstone, over an earlier one of the same key.
func (r *Repository) bury(ctx context.Context, t Tombstone) error {
	t.Format = tombstoneFormat
	return r.writeGrave(ctx, tombstoneName(t.Key), t)
}

// buryBlobs writes down which blobs are about to go.
func (r *Repository) buryBlobs(ctx context.Context, blobs []Info, at time.Time) error {
	g := blobGraves{Format: blobGravesFormat, Removed: at}
	for _, b := range blobs {
		g.Blobs = append(g.Blobs, blobGrave{b.Name, b.Size})
	}
	name := areaTombstones + "blobs/" + at.Format("20060102T150405Z") + "-" + r.host.Nonce()
	return r.writeGrave(ctx, name, g)
}

func (r *Repository) writeGrave(ctx context.Context, name string, v any) error {
	body, err := Canonical(v)
	if err != nil {
		return err
	}
	_, err = r.bucket.Put(ctx, name, bytes.NewReader(body), PutOptions{
		MediaType: "application/json", SHA256: Sum(body), Multipart: MultipartNever,
	})
	return err
}

// Tombstone returns the tombstone of a key. Errors: ErrNotFound.
func (r *Repository) Tombstone(ctx context.Context, key Key) (Tombstone, error) {
	return r.readTombstone(ctx, tombstoneName(key))
}

func (r *Repository) readTombstone(ctx context.Context, name string) (Tombstone, error) {
	data, _, err := r.bucket.Read(ctx, name)
	if err != nil {
		return Tombstone{}, err
	}
	var t Tombstone
	if err := json.Unmarshal(data, &t); err != nil || t.Format != tombstoneFormat {
		return Tombstone{}, r.foreign("read tombstone", name)
	}
	return t, nil
}

// Tombstones calls fn for every tombstone, of one step or of all (""). Objects among them
// that are none by their name are passed over; Verify names them.
func (r *Repository) Tombstones(ctx context.Context, step string, fn func(Tombstone) error) error {
	prefix := areaTombstones + "index/"
	if step != "" {
		prefix += step + "/"
	}
	return r.bucket.List(ctx, prefix, "", func(info Info) error {
		if _, err := keyOfPath(strings.TrimPrefix(info.Name, areaTombstones+"index/")); err != nil {
			return nil
		}
		t, err := r.readTombstone(ctx, info.Name)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return fn(t)
	})
}

// Graves calls fn for every list of blobs that garbage collection removed together, the
// earliest first; lists for whose name known is true are not read. A blob in a list may have
// been put again since.
func (r *Repository) Graves(ctx context.Context, known func(name string) bool, fn func(name string, removed []Digest) error) error {
	area := areaTombstones + "blobs/"
	return r.bucket.List(ctx, area, "", func(info Info) error {
		name := strings.TrimPrefix(info.Name, area)
		if known(name) {
			return nil
		}
		g, err := r.readGraves(ctx, info.Name)
		if errors.Is(err, errForeign) || errors.Is(err, ErrNotFound) {
			return nil // Verify names it
		}
		if err != nil {
			return err
		}
		var removed []Digest
		for _, b := range g.Blobs {
			if d, err := digestOfPath(strings.TrimPrefix(b.Name, areaBlobs)); err == nil {
				removed = append(removed, d)
			}
		}
		return fn(name, removed)
	})
}

func (r *Repository) readGraves(ctx context.Context, name string) (blobGraves, error) {
	var g blobGraves
	data, _, err := r.bucket.Read(ctx, name)
	if err != nil {
		return g, err
	}
	if err := json.Unmarshal(data, &g); err != nil || g.Format != blobGravesFormat {
		return g, r.foreign("read graves", name)
	}
	return g, nil
}

// BlobRemoved reports whether and when garbage collection removed the blob.
func (r *Repository) BlobRemoved(ctx context.Context, d Digest) (time.Time, bool, error) {
	var when time.Time
	err := r.bucket.List(ctx, areaTombstones+"blobs/", "", func(info Info) error {
		g, err := r.readGraves(ctx, info.Name)
		if errors.Is(err, errForeign) {
			return nil // Verify names it
		}
		if err != nil {
			return err
		}
		for _, b := range g.Blobs {
			if b.Name == blobName(d) {
				when = g.Removed
			}
		}
		return nil
	})
	return when, !when.IsZero(), err
}

// sortedNames returns a map's keys in ascending order.
func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
