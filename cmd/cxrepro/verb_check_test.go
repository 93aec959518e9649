package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/experiments"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/claims"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/evaltest"
	"cxrepro/internal/responder"
)

// testCheck: the verb and the report compare with one function, so their verdicts agree; the exit
// code says what there is; every form lists every claim.
func testCheck(t *testing.T, store string) {
	t.Helper()
	type verdicts struct {
		Verdicts map[string]int
		Claims   []struct {
			ID, Verdict, Printed string
			Behind               claims.Behind
			Flips                *claims.Flips
		}
		Outside   []claims.Outside
		Relations []claims.Relation
	}
	var got, report verdicts
	code, text, talk := cxrepro(t, store, "check", "--json")
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("exit %d, %v: %s %.300s", code, err, talk, text)
	}
	if _, text, _ := cxrepro(t, store, "report", "--compare", "paper", "--json"); json.Unmarshal([]byte(text), &report) != nil {
		t.Fatalf("%.300s", text)
	}
	sum, measured := 0, 0
	for v, n := range got.Verdicts {
		if report.Verdicts[v] != n {
			t.Errorf("%s: check says %d, report %d", v, n, report.Verdicts[v])
		}
		sum += n
	}
	if sum == 0 || sum != len(got.Claims) || len(got.Outside) < 3 || len(got.Relations) != 9 {
		t.Errorf("%d verdicts, %d claims, %d outside, %d relations", sum, len(got.Claims), len(got.Outside), len(got.Relations))
	}
	for _, c := range got.Claims {
		if c.Flips != nil {
			measured++
		}
		if len(c.Behind.Solutions) == 0 && len(c.Behind.Tasks) == 0 && c.Behind.Why == "" {
			t.Errorf("%s %s: nothing is said of what is behind it", c.ID, c.Printed)
		}
	}
	if measured == 0 {
		t.Error("no flips were measured, though three replies were drawn to every question")
	}
	want := exitOK
	if got.Verdicts["off"] > 0 {
		want = exitFailed
	}
	if code != want {
		t.Errorf("exit %d with %v", code, got.Verdicts)
	}
	_, text, _ = cxrepro(t, store, "check", "--format", "csv")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) != sum+1 {
		t.Errorf("%d lines of CSV for %d claims, %v", len(rows), sum, err)
	}
	_, text, _ = cxrepro(t, store, "check", "--paper")
	for _, words := range []string{"Claims by verdict", "each claim once", "simulated", "no results of X-Ragent", "xragent/sum.sft", "holds"} {
		if !strings.Contains(text, words) {
			t.Errorf("no %q in\n%s", words, text)
		}
	}
	if code, _, said := cxrepro(t, store, "check", "--repeat", "latest"); code != exitUsage || !strings.Contains(said, "in calls of its own") {
		t.Errorf("a reproduction repeats itself: exit %d, %s", code, said)
	}
	if !strings.Contains(talk, "check: ") && want != exitOK {
		t.Errorf("nothing is said of what is off: %s", talk)
	}
}

// TestCheckReproduced: a model that does exactly as well as a published one, asked over a real
// connection by the workflow and judged, comes to every published figure of the task.
func TestCheckReproduced(t *testing.T) {
	judge := responder.Model{Name: evaltest.JudgeCard, Behaviour: responder.Judge}
	store, _ := askedStore(t, evaltest.Options{
		Tasks: []cxreasonbench.Task{chexstruct.Cardiomegaly}, Cases: claims.PaperCases, Judge: &judge,
		Models: []responder.Model{{Name: "asked", Behaviour: responder.Exact, Paper: "Gemini-2.5-Flash"}},
		Change: func(c *experiments.ModelCard) {
			if c.Name == "asked" {
				c.Title = "Gemini-2.5-Flash"
			}
		},
	})
	code, text, talk := cxrepro(t, store, "check", "--json")
	var got struct {
		Claims []struct{ ID, Ours, Printed, Verdict, Why string }
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, talk)
	}
	figures := 0
	for _, c := range got.Claims {
		if !strings.Contains(c.ID, "/cardiomegaly.") {
			continue // means are over one task here and over twelve there
		}
		if figures++; c.Verdict != "reproduced" {
			t.Errorf("%s: ours %s, published %s: %s, %s", c.ID, c.Ours, c.Printed, c.Verdict, c.Why)
		}
	}
	if figures != 22 || code != exitFailed {
		t.Errorf("%d figures, exit %d: %s", figures, code, talk)
	}
}

// TestCheckResults: results of the other paper are held against its figures and orders.
func TestCheckResults(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	results := filepath.Join(t.TempDir(), "results.json")
	if err := os.WriteFile(results, []byte(`{"figures": {"main.cab.all": {"k": 1792}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, talk := cxrepro(t, store, "check", "--results", results); code != exitUsage || !strings.Contains(talk, "figures.main.cab.all") {
		t.Errorf("exit %d, %s", code, talk)
	}
	if code, _, talk := cxrepro(t, store, "check", "--format", "html"); code != exitUsage || !strings.Contains(talk, "the formats are") {
		t.Errorf("exit %d, %s", code, talk)
	}
}
