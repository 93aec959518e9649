package chexstruct

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"sync"
	"testing"
)

// The golden phantoms are synthetic pictures with closed-form truth.
var goldenFS = os.DirFS("testdata/golden")

const goldenCases = 20

var goldenCache sync.Map // number to *Case, as read

// goldenCase returns a copy that the caller may change.
func goldenCase(t testing.TB, n int) *Case {
	t.Helper()
	cached, ok := goldenCache.Load(n)
	if !ok {
		c, err := ReadCase(goldenFS, fmt.Sprintf("open_%02d.json", n))
		if err != nil {
			t.Fatal(err)
		}
		cached, _ = goldenCache.LoadOrStore(n, c)
	}
	c := *cached.(*Case)
	masks, facts := *c.Input.Masks, *c.Input.Facts
	c.Input.Masks, c.Input.Facts, c.Input.Boxes = &masks, &facts, maps.Clone(c.Input.Boxes)
	return &c
}

func mustRules(t testing.TB, p Preset, overrides map[string]any) *Rules {
	t.Helper()
	r, err := NewRules(p, overrides)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustAssess(t testing.TB, in Input, r *Rules, tasks ...Task) *Result {
	t.Helper()
	res, err := Assess(in, r, tasks)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// truth is one entry of truth.json.
type truth struct {
	Name           string         `json:"name"`
	GlobalMustFail []string       `json:"global_must_fail"`
	GlobalExact    map[string]any `json:"global_exact"`
	Tasks          map[string]struct {
		Status   string         `json:"status"`
		Reason   string         `json:"reason"`
		MustFail []string       `json:"must_fail"`
		Label    any            `json:"label"`
		Index    any            `json:"index"`
		Tol      float64        `json:"index_tol"`
		Rounded  any            `json:"index_rounded"`
		Analytic *float64       `json:"analytic"`
		AnTol    float64        `json:"analytic_tol"`
		Exact    map[string]any `json:"exact"`
	} `json:"tasks"`
	XRagent map[string]any `json:"xragent"`
}

func readTruth(t testing.TB) map[string]truth {
	t.Helper()
	data, err := os.ReadFile("testdata/golden/truth.json")
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]truth
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// decoded returns a result as plain JSON data.
func decoded(t testing.TB, r *Result) map[string]any {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// closeTo compares JSON data, numbers within tol.
func closeTo(got, want any, tol float64) bool {
	switch w := want.(type) {
	case float64:
		g, ok := got.(float64)
		return ok && math.Abs(g-w) <= tol
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for i := range w {
			if !closeTo(g[i], w[i], tol) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(got, want)
}

func has(list any, want string) bool {
	for _, v := range list.([]any) {
		if v == want {
			return true
		}
	}
	return false
}

// TestGolden checks every golden phantom: verdict, label, index within its tolerance,
// exact landmarks, filter and bundle. The same comparison as the checker that comes with
// the phantoms.
func TestGolden(t *testing.T) {
	rules := mustRules(t, Corrected, nil)
	all := readTruth(t)
	if len(all) != goldenCases {
		t.Fatalf("truth of %d cases, want %d", len(all), goldenCases)
	}
	for n := 1; n <= goldenCases; n++ {
		name := fmt.Sprintf("open_%02d", n)
		t.Run(name, func(t *testing.T) {
			c := goldenCase(t, n)
			got := decoded(t, mustAssess(t, c.Input, rules))
			want := all[name]
			checkGlobal(t, got["global"].(map[string]any), want)
			for task, w := range want.Tasks {
				if w.Status == "unchecked" {
					continue
				}
				g := got["tasks"].(map[string]any)[task].(map[string]any)
				if g["status"] != w.Status {
					t.Errorf("%s: status %v (%v, failed %v), want %v", task, g["status"], g["reason"], g["failed"], w.Status)
					continue
				}
				switch w.Status {
				case "not_evaluable":
					if g["reason"] != w.Reason {
						t.Errorf("%s: reason %v, want %v", task, g["reason"], w.Reason)
					}
				case "qc_failed":
					for _, q := range w.MustFail {
						if !has(g["failed"], q) {
							t.Errorf("%s: %s did not fail, failed are %v", task, q, g["failed"])
						}
					}
				default:
					if !reflect.DeepEqual(g["label"], w.Label) {
						t.Errorf("%s: label %v, want %v", task, g["label"], w.Label)
					}
					if w.Index != nil && !closeTo(g["index"], w.Index, w.Tol) {
						t.Errorf("%s: index %v, want %v", task, g["index"], w.Index)
					}
					if w.Rounded != nil && !closeTo(g["index_rounded"], w.Rounded, 1e-9) {
						t.Errorf("%s: rounded %v, want %v", task, g["index_rounded"], w.Rounded)
					}
					if w.Analytic != nil && !closeTo(g["index"], *w.Analytic, w.AnTol) {
						t.Errorf("%s: index %v, closed form %v +- %v", task, g["index"], *w.Analytic, w.AnTol)
					}
					checkExact(t, task, g, w.Exact)
				}
			}
			checkBundle(t, got["xragent"].(map[string]any), want.XRagent)
		})
	}
}

func checkGlobal(t *testing.T, g map[string]any, want truth) {
	t.Helper()
	if len(g["failed"].([]any)) != len(want.GlobalMustFail) {
		t.Errorf("global failed %v, want %v", g["failed"], want.GlobalMustFail)
	}
	for _, q := range want.GlobalMustFail {
		if !has(g["failed"], q) {
			t.Errorf("global: %s did not fail", q)
		}
	}
	for key, rule := range map[string]string{"gradient_mean": "global.gradient", "heart_ratio": "global.heart_position", "mask_count": "global.mask_count"} {
		if w, ok := want.GlobalExact[key]; ok {
			v := g["qc"].(map[string]any)[rule].(map[string]any)["value"]
			if !closeTo(v, w, 1e-9) {
				t.Errorf("global: %s %v, want %v", key, v, w)
			}
		}
	}
}

func checkExact(t *testing.T, task string, g map[string]any, exact map[string]any) {
	t.Helper()
	m := g["measurements"].(map[string]any)
	for key, w := range exact {
		got := m[key]
		switch key {
		case "parts":
			got = g["parts"]
		case "direction":
			got = g["index"]
		case "ratios":
			for name, v := range w.(map[string]any) {
				part, side := name[:len(name)-len("_right")], "_right"
				if name[len(name)-5:] == "_left" {
					part, side = name[:len(name)-len("_left")], "_left"
				}
				if r := m[part+"_ratio"+side]; !closeTo(r, v, 1e-12) {
					t.Errorf("%s: ratio %s %v, want %v", task, name, r, v)
				}
			}
			continue
		}
		if !closeTo(got, w, 1e-9) {
			t.Errorf("%s: %s %v, want %v", task, key, got, w)
		}
	}
}

func checkBundle(t *testing.T, g, want map[string]any) {
	t.Helper()
	if g["exposed"] != want["exposed"] || g["reason"] != want["reason"] {
		t.Errorf("bundle exposed %v (%v), want %v (%v)", g["exposed"], g["reason"], want["exposed"], want["reason"])
		return
	}
	if g["exposed"] == false {
		return
	}
	for _, key := range []string{"ctr", "asymmetry", "shift"} {
		gm, wm := g[key].(map[string]any), want[key].(map[string]any)
		if !closeTo(gm["value"], wm["value"], 1e-12) || gm["category"] != wm["category"] || gm["direction"] != wm["direction"] {
			t.Errorf("bundle: %s %v, want %v", key, gm, wm)
		}
	}
}

// TestExampleResult compares a whole encoded result with the published example: every
// member, in the same order, every number to the last digit.
func TestExampleResult(t *testing.T) {
	c := goldenCase(t, 1)
	res := mustAssess(t, c.Input, mustRules(t, Corrected, nil))
	res.Case = c.Name
	got, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/golden/example_result.json")
	if err != nil {
		t.Fatal(err)
	}
	sameJSON(t, "", got, want)
}

// sameJSON compares two documents and the order of their members.
func sameJSON(t *testing.T, at string, got, want json.RawMessage) {
	t.Helper()
	if gm, err := members(got); err == nil {
		wm, err := members(want)
		if err != nil || len(gm) != len(wm) {
			t.Errorf("%s: %d members, want %d", at, len(gm), len(wm))
			return
		}
		for i := range gm {
			if gm[i].name != wm[i].name {
				t.Errorf("%s: member %d is %q, want %q", at, i, gm[i].name, wm[i].name)
				continue
			}
			sameJSON(t, at+"/"+gm[i].name, gm[i].raw, wm[i].raw)
		}
		return
	}
	var g, w any
	if json.Unmarshal(got, &g) != nil || json.Unmarshal(want, &w) != nil || !reflect.DeepEqual(g, w) {
		t.Errorf("%s: got %s, want %s", at, got, want)
	}
}

// TestResultRoundTrip reads every golden result back.
func TestResultRoundTrip(t *testing.T) {
	rules := mustRules(t, Corrected, nil)
	for n := 1; n <= goldenCases; n++ {
		res := mustAssess(t, goldenCase(t, n).Input, rules)
		b, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		var back Result
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(&back)
		if err != nil {
			t.Fatal(err)
		}
		if string(again) != string(b) {
			t.Errorf("open_%02d: round trip changed\n%s\nto\n%s", n, b, again)
		}
	}
}
