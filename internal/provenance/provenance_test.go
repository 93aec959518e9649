package provenance_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/provenance"
)

func facts() provenance.Facts {
	at := time.Date(2026, 3, 1, 12, 0, 0, 500, time.FixedZone("x", 3600))
	return provenance.Facts{
		Key: artifacts.KeyDoc{Step: "assess-window", Version: 2,
			Params: map[string]any{"preset": "corrected", "thresholds": map[string]any{"a.x": 0.5, "b.y": []any{1, 2}}},
			Inputs: []artifacts.Material{{Name: "masks", Digest: artifacts.Sum([]byte("m"))}, {Name: "facts", Digest: artifacts.Sum([]byte("f"))}}},
		Subject:     []provenance.Descriptor{provenance.Describe("result", artifacts.Ref{Digest: artifacts.Sum([]byte("r")), Size: 1, MediaType: "application/json"})},
		Builder:     "cxrepro",
		Invocation:  provenance.Invocation{Reproduction: "r1", Worker: "w1", Attempt: 1, Fence: 1, Started: at, Finished: at.Add(time.Second)},
		Parameters:  map[string]any{"threads": 2},
		Code:        provenance.Code{Version: "v0", Commit: "abc", Dirty: true, Binary: artifacts.Sum([]byte("program"))},
		Environment: provenance.Environment{Go: "go1.26", OS: "linux", Arch: "amd64"},
	}
}

func TestStatement(t *testing.T) {
	f := facts()
	s, err := provenance.New(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := provenance.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	want, err := f.Key.Key()
	if err != nil {
		t.Fatal(err)
	}
	// The key document is stored byte for byte: its digest is the key.
	if got := artifacts.Sum(back.Predicate.KeyDocument); got != want.Digest {
		t.Errorf("key document hashes to %s, want %s", got, want.Digest)
	}
	if got, err := back.Key(); err != nil || got != want {
		t.Errorf("key %s, %v; want %s", got, err, want)
	}
	if m := back.Predicate.Materials; len(m) != 2 || m[0].Name != "masks" || m[0].Digest.SHA256 != artifacts.Sum([]byte("m")).Hex() {
		t.Errorf("materials %+v", m)
	}
	inv := back.Predicate.Invocation
	if inv.Started.Location() != time.UTC || inv.Finished.Sub(inv.Started) != time.Second {
		t.Errorf("times %v to %v", inv.Started, inv.Finished)
	}
	again, err := provenance.New(facts())
	if err != nil {
		t.Fatal(err)
	}
	if b, err := again.Encode(); err != nil || string(b) != string(text) {
		t.Error("the same facts give other bytes")
	}
	// Subjects are not refs: a statement keeps nothing from garbage collection.
	if refs, err := artifacts.RefsIn(text); err != nil || len(refs) != 0 {
		t.Errorf("refs in a statement: %v, %v", refs, err)
	}
	// The top level follows in-toto's names.
	var top map[string]json.RawMessage
	if err := json.Unmarshal(text, &top); err != nil || len(top) != 4 || string(top["_type"]) != `"https://in-toto.io/Statement/v1"` {
		t.Errorf("top level %v, %v", top, err)
	}
}

func TestStatementRefuses(t *testing.T) {
	for name, change := range map[string]func(*provenance.Facts){
		"no step":    func(f *provenance.Facts) { f.Key.Step = "" },
		"no subject": func(f *provenance.Facts) { f.Subject = nil },
		"no fence":   func(f *provenance.Facts) { f.Invocation.Fence = 0 },
	} {
		f := facts()
		change(&f)
		if _, err := provenance.New(f); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for name, text := range map[string]string{
		"no JSON": "{", "other type": `{"_type":"x"}`,
		"no key document": `{"_type":"https://in-toto.io/Statement/v1","predicateType":"` + provenance.PredicateType + `"}`,
	} {
		if _, err := provenance.Decode([]byte(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestCompare(t *testing.T) {
	base := facts().Key
	doc := func(change func(*artifacts.KeyDoc)) []byte {
		k := base
		k.Params = map[string]any{"preset": "corrected", "thresholds": map[string]any{"a.x": 0.5, "b.y": []any{1, 2}}}
		k.Inputs = slices.Clone(base.Inputs)
		change(&k)
		b, err := k.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		name   string
		change func(*artifacts.KeyDoc)
		want   []string
	}{
		{"nothing", func(*artifacts.KeyDoc) {}, nil},
		{"version", func(k *artifacts.KeyDoc) { k.Version = 3 }, []string{"version: 3 | 2"}},
		{"nested parameter", func(k *artifacts.KeyDoc) { k.Params["thresholds"].(map[string]any)["a.x"] = 0.55 },
			[]string{"params.thresholds.a.x: 0.55 | 0.5"}},
		{"array element", func(k *artifacts.KeyDoc) { k.Params["thresholds"].(map[string]any)["b.y"] = []any{1, 3} },
			[]string{"params.thresholds.b.y[1]: 3 | 2"}},
		{"new parameter", func(k *artifacts.KeyDoc) { k.Params["z"] = nil }, []string{"params.z: null | (absent)"}},
		{"input gone", func(k *artifacts.KeyDoc) { k.Inputs = k.Inputs[:1] },
			[]string{`inputs.facts: (absent) | "` + artifacts.Sum([]byte("f")).String() + `"`}},
		{"reading order", func(k *artifacts.KeyDoc) {
			k.Version = 9
			k.Params["preset"] = "as_released"
			k.Inputs[0].Digest = artifacts.Sum(nil)
		}, []string{"version: 9 | 2", `params.preset: "as_released" | "corrected"`,
			`inputs.masks: "` + artifacts.Sum(nil).String() + `" | "` + artifacts.Sum([]byte("m")).String() + `"`}},
	} {
		got, err := provenance.Compare(doc(c.change), doc(func(*artifacts.KeyDoc) {}))
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, d := range got.Differs {
			lines = append(lines, d.Field+": "+d.Ours+" | "+d.Other)
		}
		if !slices.Equal(lines, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, lines, c.want)
		}
		if got.Equal+len(got.Differs) < 8 {
			t.Errorf("%s: %d equal and %d differing fields", c.name, got.Equal, len(got.Differs))
		}
	}
	if _, err := provenance.Compare([]byte("{"), []byte("{}")); err == nil || !strings.Contains(err.Error(), "compare") {
		t.Errorf("half a document: %v", err)
	}
}
