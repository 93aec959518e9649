package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/internal/cxr"
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
		if name == "items" {
			continue // a list of one's own
		}
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

// TestRadcotDrawItems draws binary questions out of a list: what is no yes/no question and what has no
// picture is counted, a line that is no item is refused by its number, and nobody guesses whose data
// they are.
func TestRadcotDrawItems(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if code, _, errs := radcotOf(t, "fixture", "--out", at("s"), "--studies", "2", "--slake", "2", "--openi", "70", "--long", "160"); code != exitOK {
		t.Fatalf("fixture: exit %d: %s", code, errs)
	}
	write := func(name, text string) {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("spec.yaml", "waiver: a fixture\nbinary: items\namounts:\n  report: {draw: 0, want: 0}\n  mcq: {draw: 0, want: 0}\n  mcq_rl: {draw: 0, want: 0}\n"+
		"  closed: {draw: 0, want: 0}\n  binary: {draw: 3, want: 2}\n")
	if err := os.MkdirAll(at("list"), 0o700); err != nil {
		t.Fatal(err)
	}
	lines := ""
	for i := range 3 {
		m := cxr.NewImage(40+i, 30)
		m.Pix[7] = byte(i + 1)
		png, err := cxr.EncodePNG(m)
		if err != nil {
			t.Fatal(err)
		}
		write(fmt.Sprintf("list/%d.png", i), string(png))
		lines += fmt.Sprintf(`{"id":"ours/%d","question":{"type":"yesno","text":"Is there an effusion?","key":"Yes"},"pictures":[{"path":"%d.png"}]}`+"\n", i, i)
	}
	lines += `{"id":"ours/3","question":{"type":"closed","text":"Where?","key":"left"},"pictures":[{"path":"0.png"}]}` + "\n"
	lines += `{"id":"ours/4","question":{"type":"yesno","text":"Is it large?","key":"No"},"pictures":[{"path":"gone.png"}]}` + "\n"
	write("list/items.jsonl", lines)
	args := []string{"draw", "--spec", at("spec.yaml"), "--json", "--data", "chexbench=" + at("s/chexbench"), "--data", "items=" + at("list"), "--out", at("set")}
	if code, _, errs := radcotOf(t, args...); code != exitUsage || !strings.Contains(errs, "--items-data-use") {
		t.Errorf("without a class: exit %d: %s", code, errs)
	}
	args = append(args, "--items-data-use", "public")
	code, out, errs := radcotOf(t, args...)
	var got struct {
		Parts map[string]int
		Use   string `json:"data_use"`
	}
	if err := json.Unmarshal([]byte(out), &got); code != exitOK || err != nil || got.Parts["binary"] != 3 || got.Use != "public" {
		t.Fatalf("draw: exit %d, %s, %s", code, out, errs)
	}
	for _, want := range []string{"items/not_yes_or_no", "items/picture_missing"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not among what was left out: %s", want, out)
		}
	}
	write("list/items.jsonl", lines+`{"id":"ours/5","question":{"type":"yesno","text":"?","key":"perhaps"},"pictures":[{"path":"0.png"}]}`+"\n")
	if code, _, errs := radcotOf(t, args...); code != exitFailed || !strings.Contains(errs, "items.jsonl line 6") {
		t.Errorf("a bad line: exit %d: %s", code, errs)
	}
}
