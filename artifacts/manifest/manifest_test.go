package manifest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/artifacts/memstore"
)

type item struct {
	N     int           `json:"n"`
	Image artifacts.Ref `json:"image"`
}

func write(t *testing.T, r *artifacts.Repository, n int, limits manifest.Limits, cutAt map[int]string) artifacts.Ref {
	t.Helper()
	w := manifest.NewWriter(r, "images", limits)
	for i := range n {
		if label, cut := cutAt[i]; cut {
			if err := w.Cut(t.Context(), label); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Add(t.Context(), item{N: i, Image: artifacts.Ref{Digest: artifacts.Sum(fmt.Append(nil, i)), Size: 1, MediaType: "image/png"}}); err != nil {
			t.Fatal(err)
		}
	}
	ref, err := w.Close(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func numbers(t *testing.T, m *manifest.Manifest, offset, window int64) []int {
	t.Helper()
	out := []int{}
	err := m.Each(t.Context(), offset, window, func(i int64, raw json.RawMessage) error {
		var it item
		if err := json.Unmarshal(raw, &it); err != nil {
			return err
		}
		if int64(it.N) != i {
			return fmt.Errorf("item %d is called %d", it.N, i)
		}
		out = append(out, it.N)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWindows(t *testing.T) {
	r := memstore.Open()
	for _, n := range []int{0, 1, 4, 5, 23} {
		m, err := manifest.Open(t.Context(), r, write(t, r, n, manifest.Limits{Items: 5}, nil))
		if err != nil {
			t.Fatal(err)
		}
		if m.Total() != int64(n) || len(m.Chunks()) != (n+4)/5 || m.Kind() != "images" {
			t.Errorf("%d items: total %d in %d chunks", n, m.Total(), len(m.Chunks()))
		}
		var all []int
		for i := range n {
			all = append(all, i)
		}
		for offset := 0; offset <= n+1; offset++ {
			for _, window := range []int{-1, 0, 1, 4, 100} {
				end := n
				if window >= 0 {
					end = min(n, offset+window)
				}
				want := []int{}
				if offset < end {
					want = all[offset:end]
				}
				if got := numbers(t, m, int64(offset), int64(window)); !slices.Equal(got, want) {
					t.Errorf("%d items, [%d,+%d): %v, want %v", n, offset, window, got, want)
				}
			}
		}
	}
	if _, err := manifest.Open(t.Context(), r, artifacts.Ref{Digest: artifacts.Sum(nil), Size: 0}); err == nil {
		t.Error("a missing root was opened")
	}
}

// TestCutsFollowTheData: an item more touches the chunk it falls into and no other.
func TestCutsFollowTheData(t *testing.T) {
	r := memstore.Open()
	a, err := manifest.Open(t.Context(), r, write(t, r, 10, manifest.Limits{}, map[int]string{3: "0", 7: "1"}))
	if err != nil {
		t.Fatal(err)
	}
	b, err := manifest.Open(t.Context(), r, write(t, r, 11, manifest.Limits{}, map[int]string{3: "0", 7: "1"}))
	if err != nil {
		t.Fatal(err)
	}
	ca, cb := a.Chunks(), b.Chunks()
	if len(ca) != 3 || len(cb) != 3 || ca[0] != cb[0] || ca[1] != cb[1] || ca[2].Ref == cb[2].Ref {
		t.Errorf("chunks\n%v\n%v", ca, cb)
	}
	if ca[0].Label != "0" || ca[0].Count != 3 || ca[1].First != 3 || ca[2].Count != 3 {
		t.Errorf("chunks %v", ca)
	}
}

// TestSmallRoot: the ref that travels is small, whatever the list, and the same list
// gives the same ref.
func TestSmallRoot(t *testing.T) {
	r := memstore.Open()
	ref := write(t, r, 5000, manifest.Limits{}, nil)
	text, err := json.Marshal(ref)
	if err != nil || len(text) > 200 {
		t.Errorf("a ref of %d bytes, %v", len(text), err)
	}
	if again := write(t, r, 5000, manifest.Limits{}, nil); again != ref {
		t.Errorf("ref %v, then %v", ref, again)
	}
}

func TestBytesLimit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := memstore.Open()
		limits := manifest.Limits{Items: rapid.IntRange(1, 9).Draw(rt, "items"), Bytes: rapid.IntRange(1, 200).Draw(rt, "bytes")}
		texts := rapid.SliceOfN(rapid.StringN(0, 60, -1), 0, 40).Draw(rt, "texts")
		w := manifest.NewWriter(r, "texts", limits)
		for _, s := range texts {
			if err := w.Add(t.Context(), s); err != nil {
				rt.Fatal(err)
			}
		}
		ref, err := w.Close(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		m, err := manifest.Open(t.Context(), r, ref)
		if err != nil {
			rt.Fatal(err)
		}
		for _, c := range m.Chunks() {
			if c.Count > int64(limits.Items) || c.Count > 1 && c.Ref.Size > int64(limits.Bytes)+2 {
				rt.Fatalf("chunk of %d items and %d bytes under %+v", c.Count, c.Ref.Size, limits)
			}
		}
		i := 0
		err = m.Each(t.Context(), 0, -1, func(_ int64, raw json.RawMessage) error {
			var s string
			if err := json.Unmarshal(raw, &s); err != nil || s != texts[i] {
				return fmt.Errorf("item %d is %q, want %q, %w", i, s, texts[i], err)
			}
			i++
			return nil
		})
		if err != nil || i != len(texts) {
			rt.Fatalf("%d of %d items, %v", i, len(texts), err)
		}
	})
}
