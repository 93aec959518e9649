package provenance_test

import (
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/provenance"
)

func TestNearest(t *testing.T) {
	doc := func(version int, ctr float64, image string) []byte {
		b, err := artifacts.KeyDoc{Step: "assess", Version: version, Params: map[string]any{"ctr": ctr, "preset": "corrected"},
			Inputs: []artifacts.Material{{Name: "image", Digest: artifacts.Sum([]byte(image))}}}.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	at := func(h int) time.Time { return time.Date(2026, 1, 1, h, 0, 0, 0, time.UTC) }
	ours := doc(1, 0.55, "a")
	for _, c := range []struct {
		name   string
		others []provenance.Earlier
		want   string
		field  string
	}{
		{"none", nil, "", ""},
		{"only itself and garbage", []provenance.Earlier{{Name: "self", Document: ours}, {Name: "bad", Document: []byte("{")}}, "", ""},
		{"most equal fields", []provenance.Earlier{{"far", doc(2, 0.5, "b"), at(9)}, {"near", doc(1, 0.5, "a"), at(1)}}, "near", "params.ctr"},
		{"a parameter says more than an image", []provenance.Earlier{{"image", doc(1, 0.55, "b"), at(9)}, {"param", doc(1, 0.5, "a"), at(1)}}, "param", "params.ctr"},
		{"the latest of equals", []provenance.Earlier{{"old", doc(1, 0.5, "a"), at(1)}, {"new", doc(1, 0.6, "a"), at(2)}, {"mid", doc(1, 0.7, "a"), at(1)}}, "new", "params.ctr"},
		{"another image when there is nothing else", []provenance.Earlier{{"image", doc(1, 0.55, "b"), at(1)}}, "image", "inputs.image"},
	} {
		n := provenance.NewNearest(ours)
		for _, e := range c.others {
			n.Offer(e)
		}
		best, how, ok := n.Best()
		if ok != (c.want != "") || best.Name != c.want {
			t.Errorf("%s: %q (%t), want %q", c.name, best.Name, ok, c.want)
			continue
		}
		if ok && how.Differs[0].Field != c.field {
			t.Errorf("%s: first differing field %s, want %s", c.name, how.Differs[0].Field, c.field)
		}
	}
}
