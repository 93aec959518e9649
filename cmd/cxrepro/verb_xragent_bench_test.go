package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/benchtest"
)

// benchVerb runs `xragent bench`.
func benchVerb(t *testing.T, args ...string) (int, string, string) {
	t.Helper()
	var out, errw bytes.Buffer
	code := execute(t.Context(), append([]string{"xragent", "bench"}, args...), strings.NewReader(""), &out, &errw)
	return code, out.String(), errw.String()
}

// TestXragentBench: fixtures of all three benchmarks are written, imported, and turned into tables
// and claims with outcomes and results of others; a broken one is refused with its place.
func TestXragentBench(t *testing.T) {
	dir, shares, repeats := t.TempDir(), benchtest.Paper(), 3
	if keep := os.Getenv("CXREPRO_KEEP_BENCH"); keep != "" {
		dir = keep // to look at, with every configuration
	} else {
		repeats = 1
		few := []string{"xr.default", "xr.base.v4", "xr.gate.off", "xr.baseline.medrax"}
		maps.DeleteFunc(shares, func(config string, _ benchtest.Shares) bool { return !slices.Contains(few, config) })
	}
	var data []string
	var items []xragent.Item
	for _, name := range []string{"chestagentbench", "chexbench", "slake_closed"} {
		folder := filepath.Join(dir, name)
		if code, _, errs := benchVerb(t, "fixture", name, "--out", folder, "--long", "160", "--json"); code != exitOK {
			t.Fatalf("fixture %s: %d, %s", name, code, errs)
		}
		if code, out, errs := benchVerb(t, "import", name, folder); code != exitOK || strings.Contains(out, "differs") {
			t.Fatalf("import %s: %d, %s%s", name, code, out, errs)
		}
		_, out, _ := benchVerb(t, "import", name, folder, "--items")
		for line := range strings.Lines(out) {
			var it xragent.Item
			if err := json.Unmarshal([]byte(line), &it); err != nil {
				t.Fatal(err)
			}
			items = append(items, it)
		}
		data = append(data, "--data", name+"="+folder)
	}
	var ours, others bytes.Buffer
	for _, o := range benchtest.Outcomes(items, shares, repeats, 1) {
		w := json.NewEncoder(&ours)
		var v any = o
		if o.External {
			if o.Config != "xr.baseline.medrax" || o.Unparsed {
				continue
			}
			w, v = json.NewEncoder(&others), map[string]any{"item": o.Item, "answer": o.Answer}
		}
		if err := w.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name string, data []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	outcomes, medrax := write("outcomes.jsonl", ours.Bytes()), write("medrax.jsonl", others.Bytes())
	// A few replies of the baseline were left out: its questions are open, and the exit code says so.
	code, out, errs := benchVerb(t, append([]string{"tables", "--outcomes", outcomes, "--baseline", "medrax=" + medrax, "--json"}, data...)...)
	var got struct {
		Figures map[string]struct {
			Value *float64
			N     int
			Why   string
		}
		Claims []struct{ ID, Verdict, Why string }
		Flips  []struct{ Item string }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitQuarantined || !strings.Contains(errs, "in no denominator") {
		t.Fatalf("exit %d, %v: %s", code, err, errs)
	}
	if f := got.Figures["main.cab.all"]; f.Value == nil || *f.Value < 65 || *f.Value > 78 || f.N != 2500 {
		t.Errorf("main.cab.all: %+v", f)
	}
	verdicts := map[string]string{}
	for _, c := range got.Claims {
		verdicts[c.ID] = c.Verdict
	}
	for id, want := range map[string]string{"xragent/bench.cab.total": "reproduced", "xragent/intro.cab.strongest_baseline": "undetermined", "xragent/corpus.sft_total": "not computable"} {
		if verdicts[id] != want {
			t.Errorf("%s: %q, want %q", id, verdicts[id], want)
		}
	}
	if len(got.Flips) == 0 {
		t.Error("no answer flips between gate on and off")
	}
	questions := filepath.Join(dir, "chestagentbench", "metadata.jsonl")
	text, err := os.ReadFile(questions)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n")
	if err := os.WriteFile(questions, []byte(rest), 0o644); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "chestagentbench")
	for _, r := range []struct {
		says string
		code int
		args []string
	}{
		{"2499 questions, 2500 were published", exitFailed, []string{"import", "chestagentbench", folder}},
		{"needs counts: any", exitFailed, []string{"import", "chestagentbench", folder}},
		{"no benchmark is called", exitUsage, []string{"import", "chestbench", folder}},
		{"is no folder", exitUsage, []string{"import", "chestagentbench", questions}},
		{`counts "most"`, exitUsage, []string{"import", "chestagentbench", folder, "--counts", "most"}},
		{"is not empty", exitUsage, []string{"fixture", "chestagentbench", "--out", folder}},
		{"no output folder", exitUsage, []string{"fixture", "chestagentbench"}},
		{"no benchmark", exitUsage, []string{"tables"}},
		{"no scorer is called", exitUsage, append([]string{"tables", "--scorer", "lenient"}, data...)},
		{"is not NAME=FILE", exitUsage, append([]string{"tables", "--counts", "any", "--baseline", "x"}, data...)},
	} {
		if code, _, errs := benchVerb(t, r.args...); code != r.code || !strings.Contains(errs, r.says) {
			t.Errorf("%v: exit %d, want %d with %q: %s", r.args, code, r.code, r.says, errs)
		}
	}
	if code, out, _ := benchVerb(t, "import", "chestagentbench", folder, "--json"); code != exitFailed || !strings.Contains(out, `"code":"total_wrong"`) {
		t.Errorf("exit %d: %s", code, out)
	}
}
