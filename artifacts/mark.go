package artifacts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// MaxScan is the largest JSON blob in bytes that reachability looks into. Lists that
// could be longer are chunked; see package manifest.
const MaxScan = 64 << 20

// RefsIn returns the refs inside a JSON text: every object that has a "digest" in the
// text form of digests, a whole "size" and a "media_type". Digests that stand alone are
// names, not refs, and keep nothing.
func RefsIn(data []byte) ([]Ref, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return appendRefs(nil, v), nil
}

func appendRefs(refs []Ref, v any) []Ref {
	switch t := v.(type) {
	case []any:
		for _, e := range t {
			refs = appendRefs(refs, e)
		}
	case map[string]any:
		if ref, ok := refOf(t); ok {
			refs = append(refs, ref)
		}
		for _, name := range sortedNames(t) {
			refs = appendRefs(refs, t[name])
		}
	}
	return refs
}

func refOf(m map[string]any) (Ref, bool) {
	text, ok1 := m["digest"].(string)
	size, ok2 := m["size"].(json.Number)
	media, ok3 := m["media_type"].(string)
	if !ok1 || !ok2 || !ok3 {
		return Ref{}, false
	}
	d, err := ParseDigest(text)
	n, err2 := size.Int64()
	if err != nil || err2 != nil || n < 0 {
		return Ref{}, false
	}
	return Ref{Digest: d, Size: n, MediaType: media}, true
}

// Refers reports whether blobs of a media type may refer to others, so that reachability
// looks into them.
func Refers(mediaType string) bool { return scanned(mediaType) }

// scanned reports whether reachability looks into blobs of this media type: JSON by its
// name, "application/json" or anything that ends in "+json".
func scanned(mediaType string) bool {
	kind, _, _ := strings.Cut(mediaType, ";")
	kind = strings.TrimSpace(kind)
	return kind == "application/json" || strings.HasSuffix(kind, "+json")
}

// Walk calls fn once for every blob that is reachable from roots, the roots included,
// with the blob that referred to it (zero for a root). Blobs that are referred to but
// not there are visited too, with there == false.
//
// Errors: fn's; ErrDigestMismatch when a JSON blob on the way is damaged, because what
// it refers to is not known then; a JSON blob above MaxScan.
func (r *Repository) Walk(ctx context.Context, roots []Ref, fn func(ref Ref, from Digest, there bool) error) error {
	return r.walk(ctx, map[Digest]bool{}, roots, fn)
}

// walk is Walk that passes over, and adds to, the set of visited digests.
func (r *Repository) walk(ctx context.Context, seen map[Digest]bool, roots []Ref, fn func(Ref, Digest, bool) error) error {
	type step struct {
		ref  Ref
		from Digest
	}
	var todo []step
	for _, ref := range roots {
		todo = append(todo, step{ref: ref})
	}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if s.ref.IsZero() || seen[s.ref.Digest] {
			continue
		}
		refs, there, err := r.children(ctx, s.ref)
		if err != nil {
			return err
		}
		seen[s.ref.Digest] = true
		if err := fn(s.ref, s.from, there); err != nil {
			return err
		}
		for _, ref := range refs {
			todo = append(todo, step{ref: ref, from: s.ref.Digest})
		}
	}
	return nil
}

func (r *Repository) children(ctx context.Context, ref Ref) (refs []Ref, there bool, err error) {
	if !scanned(ref.MediaType) {
		there, err = r.Has(ctx, ref.Digest)
		return nil, there, err
	}
	if ref.Size > MaxScan {
		return nil, true, fmt.Errorf("walk %s: JSON of %d bytes is too long to look into; keep long lists as chunked manifests", ref.Digest.Short(), ref.Size)
	}
	data, err := r.Get(ctx, ref)
	if errors.Is(err, ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, fmt.Errorf("walk: %w", err)
	}
	if refs, err = RefsIn(data); err != nil {
		return nil, true, fmt.Errorf("walk %s: its media type is %s, but %w", ref.Digest.Short(), ref.MediaType, err)
	}
	return refs, true, nil
}
