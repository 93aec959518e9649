package catalog_test

import (
	"slices"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
)

// TestParameters: rows, switches, decoding and identity of a key are artifacts that lead to its
// result, one for each value, whatever else the step calls by those names.
func TestParameters(t *testing.T) {
	w := newWorld(t)
	rows := func(pa float64) map[string]any {
		return map[string]any{"task": "cardiomegaly", "rows": map[string]any{"cardiomegaly.label.PA_min": pa, "scale": []any{1, 2}}}
	}
	a := w.step("assess", "r1", `{"a":1}`, "application/json", rows(0.5), material{"window", artifacts.Sum([]byte("w1"))})
	b := w.step("assess", "r2", `{"b":1}`, "application/json", rows(0.55), material{"window", artifacts.Sum([]byte("w1"))})
	odd := w.step("odd", "r1", `{"c":1}`, "application/json", map[string]any{"rows": 7, "switches": "on", "draw": "first", "model": 3}, material{"x", weights})
	system, question := artifacts.Sum([]byte("system")), artifacts.Sum([]byte("question"))
	call := w.step("call", "r1", `{"text":"B"}`, answerType,
		map[string]any{"draw": 2, "decoding": map[string]any{"temperature": 0}, "model": map[string]any{"provider": "p", "snapshot": "s"}},
		material{"00.system", system}, material{"01.user", artifacts.Sum([]byte("first"))}, material{"02.assistant", artifacts.Sum([]byte("said"))},
		material{"03.user", question}, material{"03.user.picture.0", artifacts.Sum([]byte("png"))})
	c := w.open(t.TempDir())
	if n := w.update(c); n.Steps != 4 || n.Named != 5 {
		t.Errorf("counts %+v", n)
	}
	names, err := c.ParameterNames(t.Context())
	if want := []string{"cardiomegaly.label.PA_min", "decoding", "model", "scale"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("names %q, %v; want %q", names, err, want)
	}
	values, err := c.Parameters(t.Context(), "cardiomegaly.label.PA_min")
	if err != nil || len(values) != 2 || values[0].Value != "0.5" || values[0].Keys != 1 || values[1].Value != "0.55" {
		t.Fatalf("values %+v, %v", values, err)
	}
	if p, err := catalog.NewParameter("cardiomegaly.label.PA_min", 0.5); err != nil || p.Digest != values[0].Digest {
		t.Errorf("digest %s, %v; want %s", p.Digest, err, values[0].Digest)
	}
	for _, q := range []struct {
		of   artifacts.Digest
		want []artifacts.Digest
	}{
		{values[0].Digest, []artifacts.Digest{a.Result.Digest}}, {values[1].Digest, []artifacts.Digest{b.Result.Digest}},
		{system, []artifacts.Digest{call.Result.Digest}}, {question, []artifacts.Digest{call.Result.Digest}}, {weights, []artifacts.Digest{odd.Result.Digest}},
	} {
		if got, err := c.Closure(t.Context(), q.of, catalog.Up, 0, 0); err != nil || !slices.Equal(got.Nodes, q.want) {
			t.Errorf("up from %s: %v, %v; want %v", q.of.Short(), got.Nodes, err, q.want)
		}
	}
	calls, err := c.CallsOf(t.Context(), []artifacts.Digest{a.Key.Digest, call.Key.Digest})
	if err != nil || len(calls) != 1 || calls[0].Draw != 2 || calls[0].Step.Key != call.Key || calls[0].Step.Code != "abc" || calls[0].Outcome != "answered" {
		t.Errorf("calls %+v, %v", calls, err)
	}
	links, err := c.Via(t.Context(), []artifacts.Digest{call.Key.Digest})
	count := map[string]int{}
	for _, l := range links {
		count[l.Name]++
	}
	if err != nil || count[catalog.LinkPrompt] != 1 || count[catalog.LinkQuestion] != 1 || count[catalog.LinkModel] != 1 || count[catalog.LinkParameter] != 1 {
		t.Errorf("links %v, %v", count, err)
	}
	cards, err := c.Cards(t.Context())
	if err != nil || len(cards) != 1 || len(cards["m7b"]) != 1 {
		t.Errorf("cards %v, %v", cards, err)
	}
	d, err := c.Describe(t.Context(), []artifacts.Digest{values[1].Digest, a.Result.Digest, question})
	if err != nil || d[0].Parameter == nil || d[0].Parameter.Value != "0.55" || d[0].Used != nil || len(d[1].Steps) != 1 ||
		d[1].Ref.MediaType != "application/json" || !slices.Contains(d[2].Used, catalog.LinkQuestion) {
		t.Errorf("described %+v, %v", d, err)
	}
	w.same(c)
}

// same: the catalog says what one says that is made anew, before and after a reindex.
func (w *world) same(c *catalog.Catalog) {
	w.Helper()
	got, want := w.digest(c), w.anew()
	if got != want {
		w.Errorf("brought up to date %s, made anew %s", got.Short(), want.Short())
	}
	if _, err := c.Reindex(w.Context(), w.store, options); err != nil {
		w.Fatal(err)
	}
	if again := w.digest(c); again != want {
		w.Errorf("reindexed %s, made anew %s", again.Short(), want.Short())
	}
}

// TestStandingDigests: in a list of results a digest that stands alone is a link.
func TestStandingDigests(t *testing.T) {
	w := newWorld(t)
	row, other := artifacts.Sum([]byte("row")), artifacts.Sum([]byte("other"))
	const listType = "application/vnd.cxrepro.results+json"
	list := w.step("list", "r1", `{"rows":["`+row.String()+`"],"note":"not `+other.String()+`"}`, listType, nil, material{"x", weights})
	plain := w.step("plain", "r1", `{"rows":["`+row.String()+`"]}`, "application/json", nil, material{"y", weights})
	c := w.open(t.TempDir())
	o := options
	o.Lists = []string{listType}
	if _, err := c.Update(t.Context(), w.store, o); err != nil {
		t.Fatal(err)
	}
	got, more, err := c.Hops(t.Context(), []artifacts.Digest{row, other}, catalog.Up, 10)
	if err != nil || more || len(got) != 1 || got[0].From != list.Result.Digest || !got[0].Key.IsZero() {
		t.Errorf("links %+v, %v", got, err)
	}
	got, more, err = c.Hops(t.Context(), []artifacts.Digest{list.Result.Digest, plain.Result.Digest}, catalog.Down, 2)
	if err != nil || !more || len(got) != 2 {
		t.Errorf("the first two links: %+v, %t, %v", got, more, err)
	}
}
