package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// radcotOf runs a subcommand of `xragent radcot`.
func radcotOf(t *testing.T, args ...string) (int, string, string) {
	t.Helper()
	var out, errw bytes.Buffer
	code := execute(t.Context(), append([]string{"xragent", "radcot"}, args...), strings.NewReader(""), &out, &errw)
	return code, out.String(), errw.String()
}

// TestRadcotDraw draws from synthetic sources, twice the same; a candidate that nobody asked
// about is undetermined, and exit code 3 says so.
func TestRadcotDraw(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if code, _, errs := radcotOf(t, "fixture", "--out", at("s"), "--studies", "40", "--slake", "10", "--openi", "70", "--long", "160"); code != exitOK {
		t.Fatalf("fixture: exit %d: %s", code, errs)
	}
	spec := "waiver: a fixture\namounts:\n  report: {draw: 6, want: 4}\n  mcq: {draw: 6, want: 3}\n  mcq_rl: {draw: 2, want: 1}\n  closed: {draw: 4, want: 2}\n  binary: {draw: 4, want: 2}\n"
	if err := os.WriteFile(at("spec.yaml"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"draw", "--spec", at("spec.yaml"), "--json"}
	for _, name := range radcotData {
		args = append(args, "--data", name+"="+at("s/"+name))
	}
	var digests [2]string
	for i := range digests {
		code, out, errs := radcotOf(t, append(args, "--out", at("set"))...)
		var got struct {
			Candidates string
			Overlap    int
			Parts      map[string]int
			Use        string `json:"data_use"`
		}
		if err := json.Unmarshal([]byte(out), &got); code != exitOK || err != nil || got.Overlap != 0 || got.Parts["report"] != 6 || got.Use != "synthetic" {
			t.Fatalf("draw: exit %d, %+v, %s", code, got, errs)
		}
		digests[i] = got.Candidates
	}
	if digests[0] != digests[1] {
		t.Error("two draws differ")
	}

	data, err := os.ReadFile(at("set/candidates.json"))
	if err != nil {
		t.Fatal(err)
	}
	var set struct{ Candidates []json.RawMessage }
	if err := json.Unmarshal(data, &set); err != nil {
		t.Fatal(err)
	}
	var work bytes.Buffer
	for _, c := range set.Candidates {
		work.WriteString(`{"candidate":` + string(c) + "}\n")
	}
	if err := os.WriteFile(at("work.jsonl"), work.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := radcotOf(t, "build", "--set", at("set"), "--work", at("work.jsonl"), "--out", at("corpus"))
	if code != exitQuarantined || !strings.Contains(errs, "report: 6 undetermined") {
		t.Errorf("build: exit %d: %s", code, errs)
	}
	if code, out, errs := radcotOf(t, "inspect", at("corpus"), "--json"); code != exitOK || !strings.Contains(out, `"overlap":0`) {
		t.Errorf("inspect: exit %d: %s", code, errs)
	}
	if err := os.WriteFile(at("corpus/ledger.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := radcotOf(t, "inspect", at("corpus")); code != exitFailed || !strings.Contains(errs, "ledger.json") {
		t.Errorf("inspect of a changed ledger: exit %d: %s", code, errs)
	}
	for says, args := range map[string][]string{
		"no source of Rad-CoT": {"draw", "--data", "nih=" + dir, "--out", at("x")}, "no benchmark to keep out": {"draw", "--data", "slake=" + at("s/slake"), "--out", at("x")},
		"--work is missing": {"build", "--set", at("set")}, "needs a subcommand": nil, "no folder to write to": {"fixture"},
	} {
		if code, _, errs := radcotOf(t, args...); code != exitUsage || !strings.Contains(errs, says) {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
}
