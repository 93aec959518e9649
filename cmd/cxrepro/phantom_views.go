package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"cxrepro/internal/cxr"
	"cxrepro/internal/phantom"
	"cxrepro/internal/viewcheck"
)

// viewMeta is meta.json of a folder of view samples.
type viewMeta struct {
	Format     string     `json:"format"`
	Appearance int        `json:"appearance_version"`
	Preparing  int        `json:"preparing_version"`
	Seed       uint64     `json:"seed"`
	First      int        `json:"first"`
	Count      int        `json:"count"`
	Shard      int        `json:"shard"`
	Size       int        `json:"size"`
	Labels     [][]string `json:"labels"` // per byte of a label, its values
}

// writeViews writes shards of pictures as the view check's network sees them, with the
// right reading of its four heads, then meta.json.
func (a *app) writeViews(f phantomFlags) error {
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return fmt.Errorf("phantom generate: %w", err)
	}
	for k := 0; k*f.shard < f.n; k++ {
		if err := a.writeViewShard(f, k); err != nil {
			return fmt.Errorf("phantom generate: shard %d: %w", k, err)
		}
	}
	b, err := json.MarshalIndent(viewMeta{Format: "phantom-views-1", Appearance: phantom.AppearanceVersion, Preparing: viewcheck.Version,
		Seed: f.seed, First: f.first, Count: f.n, Shard: f.shard, Size: viewcheck.Side, Labels: append(viewcheck.HeadNames(), []string{"whole", "part"})}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.out, "meta.json"), append(b, '\n'), 0o644)
}

// writeViewShard draws shard k: images-NNNN.u8 and labels-NNNN.u8, five bytes a picture.
func (a *app) writeViewShard(f phantomFlags, k int) error {
	n := min(f.shard, f.n-k*f.shard)
	pix, labels := make([][]byte, n), make([][]byte, n)
	var g errgroup.Group
	g.SetLimit(f.workers)
	for i := range n {
		g.Go(func() error {
			m, truth, err := phantom.ViewSample(f.seed, f.first+k*f.shard+i)
			if err != nil {
				return err
			}
			s, err := viewcheck.Prepare(viewcheck.GreyOf(m))
			if err != nil {
				return err
			}
			labels[i] = viewLabel(truth)
			pix[i] = make([]byte, len(s.Final.Pix))
			for j, v := range s.Final.Pix {
				pix[i][j] = byte(v)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for name, parts := range map[string][][]byte{"images": pix, "labels": labels} {
		var all []byte
		for _, p := range parts {
			all = append(all, p...)
		}
		if err := os.WriteFile(filepath.Join(f.out, fmt.Sprintf("%s-%04d.u8", name, k)), all, 0o644); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.err, "phantom generate: shard %d, %d of %d pictures\n", k, k*f.shard+n, f.n)
	return nil
}

// viewLabel is the reading that each head should give, in the order of the heads, and
// whether the picture shows only a part of a chest.
func viewLabel(t phantom.ViewTruth) []byte {
	kind := viewcheck.NotCXR
	switch t.View {
	case cxr.ViewPA:
		kind = viewcheck.PA
	case cxr.ViewAP:
		kind = viewcheck.AP
	case cxr.ViewLateral:
		kind = viewcheck.Lateral
	}
	bit := map[bool]byte{true: 1}
	return []byte{byte(kind), byte(t.Turns), bit[t.Inverted], bit[t.Mirrored], bit[t.Part]}
}
