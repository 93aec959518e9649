package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/review"
)

// TestReview reviews a finished reproduction: its sheet, the value ranges of a rule with
// tables out and in, verdicts, released columns, and pictures that are gone.
func TestReview(t *testing.T) {
	b := newBench(t, 5)
	if code, _, talk := b.ask("chexstruct", "review"); code != exitUsage || !strings.Contains(talk, "no reproduction is finished") {
		t.Errorf("before any run: exit %d\n%s", code, talk)
	}
	code, r, talk := b.run("--review-tiles", "2")
	if code != exitOK {
		t.Fatalf("exit %d\n%s", code, talk)
	}
	names := map[string]bool{}
	for _, rep := range r.Reports {
		names[rep.Name] = true
	}
	for _, want := range []string{review.ReportFindings, review.ReportImages, review.ReportMarkdown, review.ReportFigures, review.ReportSheet} {
		if !names[want] {
			t.Errorf("the receipt names no %s", want)
		}
	}
	index := filepath.Join(b.state, "reports", r.Reproduction, "review", "index.html")
	if !strings.Contains(talk, index) {
		t.Errorf("the run does not name %s:\n%s", index, talk)
	}
	ask := func(want int, args ...string) (got reviewed, talk string) {
		t.Helper()
		code, out, talk := b.ask(append([]string{"chexstruct", "review", "--json"}, args...)...)
		if code != want {
			t.Fatalf("review %v: exit %d, want %d\n%s", args, code, want, talk)
		}
		if want == exitOK {
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatalf("review %v: %v\n%s", args, err, out)
			}
		}
		return got, talk
	}
	if got, _ := ask(exitOK); got.Index != index || got.Reproduction != r.Reproduction {
		t.Errorf("%+v, want %s", got, index)
	}
	page, err := os.ReadFile(filepath.Join(filepath.Dir(index), "cardiomegaly.html"))
	if err != nil || !strings.Contains(string(page), "CTR ") {
		t.Errorf("the page of cardiomegaly: %v", err)
	}

	ranges, _ := ask(exitOK, "--by", "trachea.height", "--bins", "3")
	table, err := os.ReadFile(ranges.LabelsOut)
	if err != nil || ranges.Tiles == 0 || ranges.Unseen != 0 {
		t.Fatalf("%+v, %v", ranges, err)
	}
	labelled := filepath.Join(b.dir, "labels.csv")
	if err := os.WriteFile(labelled, []byte(strings.ReplaceAll(string(table), ",true,,", ",true,accept,")), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, _ := ask(exitOK, "--by", "trachea.height", "--labels-in", labelled); got.Record == nil || got.Record.Labels[0].AcceptedPass == 0 {
		t.Errorf("labels: %+v", got.Record)
	}
	if _, talk := ask(exitUsage, "--by", "trachea.hight"); !strings.Contains(talk, "trachea.height") {
		t.Errorf("an unknown rule names no rules:\n%s", talk)
	}

	verdicts := filepath.Join(b.dir, "verdicts.csv")
	text := []byte("case,task,verdict,note\n1,rotation,good,\n2,rotation,reject,ends of the clavicles\n")
	if err := os.WriteFile(verdicts, text, 0o644); err != nil {
		t.Fatal(err)
	}
	got, _ := ask(exitOK, "--verdicts-in", verdicts)
	if got.Record == nil || got.Record.Table.Digest != artifacts.Sum(text) || got.Record.Verdicts[0].Reject != 1 {
		t.Errorf("verdicts: %+v", got.Record)
	}
	if code, out, talk := b.ask("artifacts", "cat", got.RecordDigest.String()); code != exitOK || !strings.Contains(out, `"kind":"verdicts"`) {
		t.Errorf("the record is not in the store: exit %d %s%s", code, out, talk)
	}
	if err := os.WriteFile(verdicts, []byte("case,task,verdict,note\n1,rotation,good,\n2,rotation,wrong,\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, talk := ask(exitUsage, "--verdicts-in", verdicts); !strings.Contains(talk, "verdicts.csv:3: ") {
		t.Errorf("a bad line is not named:\n%s", talk)
	}
	if code, out, talk := b.ask("chexstruct", "export", "--out", filepath.Join(b.dir, "tables")); code != exitOK || !strings.Contains(out, "15 files") {
		t.Errorf("export: exit %d\n%s%s", code, out, talk)
	}

	if err := os.Rename(filepath.Join(b.dir, "data"), filepath.Join(b.dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if got, _ := ask(exitOK, "--tiles", "1", "--out", filepath.Join(b.dir, "blind")); got.Unseen == 0 || got.Tiles == 0 {
		t.Errorf("without pictures: %+v", got)
	}
	if got, _ := ask(exitOK, "--by", "trachea.height", "--data", "golden-cases="+filepath.Join(b.dir, "elsewhere")); got.Unseen != 0 {
		t.Errorf("with the folder's new place: %+v", got)
	}
}

func TestReviewRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--labels-in", "x.csv"}, "--by RULE"},
		{[]string{"--by", "trachea.height", "--verdicts-in", "x.csv"}, "does not go with --by"},
		{[]string{"--by", "trachea.height", "--tiles", "3"}, "--per-bin"},
		{[]string{"--bins", "-1"}, "above 0"},
		{[]string{"--per-bin", "2"}, "--by RULE"},
	} {
		var out, errs strings.Builder
		code := execute(t.Context(), append([]string{"chexstruct", "review", "--state", t.TempDir()}, c.args...), nil, &out, &errs)
		if code != exitUsage || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%v: exit %d, %q; want %q", c.args, code, errs.String(), c.want)
		}
	}
}
