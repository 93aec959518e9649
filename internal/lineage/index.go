package lineage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
)

// Index answers one hop at a time; *catalog.Catalog is one.
type Index interface {
	Hops(ctx context.Context, ds []artifacts.Digest, way catalog.Direction, limit int) ([]catalog.Link, bool, error)
	Via(ctx context.Context, keys []artifacts.Digest) ([]catalog.Link, error)
	CallsOf(ctx context.Context, keys []artifacts.Digest) ([]catalog.Call, error)
	Describe(ctx context.Context, ds []artifacts.Digest) ([]catalog.Artifact, error)
}

// Documents returns checked bytes; *artifacts.Repository is one.
type Documents interface {
	Get(ctx context.Context, ref artifacts.Ref) ([]byte, error)
}

// Explorer walks. It serves one goroutine.
type Explorer struct {
	index Index
	docs  Documents
	runs  []*Run
	// training is what is known of trained weights.
	training Training

	hops      map[hopKey][]catalog.Link
	described map[artifacts.Digest]catalog.Artifact
	// most is how many links one question brings; cut is set once an artifact has more.
	most int
	cut  bool
}

type hopKey struct {
	digest artifacts.Digest
	way    Way
}

// New returns an explorer of a store. Runs are the reproductions whose figures are asked for;
// rows that no run knows are not expanded.
func New(index Index, docs Documents, runs []*Run) *Explorer {
	x := &Explorer{index: index, docs: docs, runs: runs, most: mostLinks, hops: map[hopKey][]catalog.Link{}, described: map[artifacts.Digest]catalog.Artifact{}}
	for _, r := range runs {
		r.x = x
	}
	return x
}

// Bounds of what is held and of what one question brings.
const (
	mostHeld  = 200_000
	mostLinks = 400_000
	atOnce    = 256
)

// errGone: a document is no longer in the store.
var errGone = errors.New("no longer in the store")

// load returns the bytes of a document.
//
// Errors: errGone for one that is removed or damaged.
func load(ctx context.Context, docs Documents, ref artifacts.Ref) ([]byte, error) {
	data, err := docs.Get(ctx, ref)
	if errors.Is(err, artifacts.ErrNotFound) || errors.Is(err, artifacts.ErrDigestMismatch) {
		return nil, fmt.Errorf("%s: %w", ref.Digest.Short(), errGone)
	}
	return data, err
}

// read decodes a document.
//
// Errors: as load.
func read[T any](ctx context.Context, docs Documents, ref artifacts.Ref) (v T, err error) {
	data, err := load(ctx, docs, ref)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("read %s: %w", ref.Digest.Short(), err)
	}
	return v, nil
}

// fetch asks for the links and the descriptions that a batch of nodes will need, all at once.
func (x *Explorer) fetch(ctx context.Context, ds []artifacts.Digest, way Way) error {
	if len(x.hops) > mostHeld {
		clear(x.hops)
	}
	var todo []artifacts.Digest
	for _, d := range ds {
		if _, ok := x.hops[hopKey{d, way}]; !ok && !d.IsZero() {
			x.hops[hopKey{d, way}] = nil
			todo = append(todo, d)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	return x.ask(ctx, todo, way)
}

// ask takes the links of artifacts from the index. Where they have more than one question brings,
// it asks for half of them at a time; what one artifact has more is left out, and cut says so.
func (x *Explorer) ask(ctx context.Context, todo []artifacts.Digest, way Way) error {
	found, more, err := x.index.Hops(ctx, todo, catalog.Direction(way), x.most)
	if err != nil {
		return err
	}
	if half := len(todo) / 2; more && half > 0 {
		if err := x.ask(ctx, todo[:half], way); err != nil {
			return err
		}
		return x.ask(ctx, todo[half:], way)
	}
	x.cut = x.cut || more
	var ends []artifacts.Digest
	for _, l := range found {
		from, to := l.From, l.To
		if way == Up {
			from, to = to, from
		}
		x.hops[hopKey{from, way}] = append(x.hops[hopKey{from, way}], l)
		ends = append(ends, to)
	}
	return x.describe(ctx, ends)
}

// describe fills in what is known of digests.
func (x *Explorer) describe(ctx context.Context, ds []artifacts.Digest) error {
	if len(x.described) > mostHeld {
		clear(x.described)
	}
	var todo []artifacts.Digest
	asked := map[artifacts.Digest]bool{}
	for _, d := range ds {
		if _, ok := x.described[d]; !ok && !asked[d] {
			asked[d] = true
			todo = append(todo, d)
		}
	}
	found, err := x.index.Describe(ctx, todo)
	for _, a := range found {
		x.described[a.Ref.Digest] = a
	}
	return err
}

// links returns the links of one artifact.
func (x *Explorer) links(ctx context.Context, d artifacts.Digest, way Way) ([]catalog.Link, error) {
	if err := x.fetch(ctx, []artifacts.Digest{d}, way); err != nil {
		return nil, err
	}
	return x.hops[hopKey{d, way}], nil
}

// artifact returns the node of a digest.
func (x *Explorer) artifact(ctx context.Context, d artifacts.Digest) (Node, error) {
	if err := x.describe(ctx, []artifacts.Digest{d}); err != nil {
		return Node{}, err
	}
	return nodeOf(x.described[d]), nil
}
