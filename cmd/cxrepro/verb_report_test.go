package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/storeurl"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/evaltest"
	"cxrepro/internal/evaltest/inprocess"
	"cxrepro/internal/report/evaluation"
	"cxrepro/internal/responder"
)

// evaluatedStore is a folder with a reproduction that asked two simulated models over a real
// connection, in both ways of sampling, judged, perhaps with faults. It returns the folder and
// the responder.
func evaluatedStore(t *testing.T, faults string) (string, *evaltest.Lab) {
	t.Helper()
	some := responder.Model{Name: "some", Behaviour: responder.Rates, Tables: map[string]map[string]responder.Table{"all": {"all": {
		Path1:   &responder.Numbers{Cases: 100, Unknown: 40, Initial: 40, Criteria: 50, Rejected: 10, Structures: 34, Measurement: 28, Final: 22, Consistent: 15},
		Path2:   &responder.Numbers{Cases: 50, Structures: 46, Measurement: 42, Final: 38, Consistent: 30},
		RePath1: &responder.Numbers{Cases: 38, Initial: 32, Criteria: 28, Structures: 24, Measurement: 22, Final: 18, Consistent: 14},
	}}}}
	judge := responder.Model{Name: evaltest.JudgeCard, Behaviour: responder.Judge}
	return askedStore(t, evaltest.Options{
		Tasks: []cxreasonbench.Task{cxreasonbench.Tasks()[0], cxreasonbench.Tasks()[10]}, Cases: 6,
		Models: []responder.Model{some, {Name: "oracle", Behaviour: responder.Oracle}}, Judge: &judge, Sampling: []string{"greedy", "draws3"}, Faults: faults,
		Change: func(c *experiments.ModelCard) {
			if c.Name == some.Name {
				c.Title = "GPT-4.1" // a model that the paper has figures of
			}
		},
	})
}

// askedStore is a folder with a reproduction that asked the models of a lab over a real
// connection.
func askedStore(t *testing.T, o evaltest.Options) (string, *evaltest.Lab) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "store")
	store, err := storeurl.Open(context.Background(), folder, storeurl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lab := evaltest.New(t, store, o)
	inprocess.Run(t, lab)
	return folder, lab
}

// cxrepro runs one command over a store and returns exit code, output and talk.
func cxrepro(t *testing.T, store string, args ...string) (int, string, string) {
	t.Helper()
	var out, talk bytes.Buffer
	args = append(args, "--store", store, "--state", filepath.Join(filepath.Dir(store), "state"))
	code := execute(context.Background(), args, strings.NewReader(""), &out, &talk)
	return code, out.String(), talk.String()
}

// TestReport prints an evaluation that was really asked in every form; the figures in the CSV
// are those of the responder's own account of what it answered, and no form makes a call.
func TestReport(t *testing.T) {
	store, lab := evaluatedStore(t, "")
	asked := lab.Responder.Counts().Requests
	code, text, talk := cxrepro(t, store, "report", "--compare", "paper")
	if code != exitOK || !strings.Contains(text, "### Table 3. ") || !strings.Contains(text, "### Table 28, textbook reading. ") || strings.Contains(talk, "error") {
		t.Fatalf("exit %d\n%s\n%s", code, talk, text)
	}
	if !strings.Contains(text, "simulated") || !strings.Contains(text, "The paper has no figures of") {
		t.Errorf("the report says neither simulated nor that the paper lacks the models:\n%.2000s", text)
	}
	code, text, _ = cxrepro(t, store, "report", "--format", "csv")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if code != exitOK || err != nil {
		t.Fatalf("exit %d, %v", code, err)
	}
	// The oracle has everything right: six of six cases pass every stage of Path 1.
	right := 0
	for _, r := range rows {
		if strings.HasPrefix(r[0], "Table 13. ") && strings.HasPrefix(r[1], "rotation / ") && strings.Contains(r[1], "oracle") && strings.HasPrefix(r[2], "stage") {
			if r[6] != "6" || r[7] != "6" {
				t.Errorf("the oracle has %s of %s in %s", r[6], r[7], r[2])
			}
			right++
		}
	}
	if right != 4 {
		t.Errorf("%d stages of the oracle are printed, want 4", right)
	}
	code, text, _ = cxrepro(t, store, "report", "--format", "latex", "--table", "4")
	if code != exitOK || strings.Count(text, "\\begin{tabular}") != 2 {
		t.Errorf("exit %d\n%s", code, text)
	}
	page := filepath.Join(t.TempDir(), "sub", "r.html")
	code, text, _ = cxrepro(t, store, "report", "latest", "--format", "html", "--out", page)
	data, err := os.ReadFile(page)
	if code != exitOK || err != nil || strings.TrimSpace(text) != page || !bytes.Contains(data, []byte("data:image/")) {
		t.Errorf("exit %d, %v, %s, %d bytes", code, err, text, len(data))
	}
	code, text, _ = cxrepro(t, store, "report", "--json", "--compare", "paper")
	var out struct {
		Reproduction string `json:"reproduction_id"`
		Simulated    bool
		Complete     bool
		Summary      contract.EvaluationSummary
	}
	if err := json.Unmarshal([]byte(text), &out); code != exitOK || err != nil || !out.Complete || !out.Simulated || len(out.Summary.Evaluations) != 4 {
		t.Errorf("exit %d, %v: %.300s", code, err, text)
	}
	if _, again, _ := cxrepro(t, store, "report", out.Reproduction[:8], "--format", "csv"); again == "" {
		t.Error("the beginning of an id does not find the reproduction")
	}
	if n := lab.Responder.Counts().Requests; n != asked {
		t.Errorf("reports made %d calls", n-asked)
	}
	testCheck(t, store)
	testCredentialed(t, store)
	testRescore(t, store)
	testLineage(t, store)
	if n := lab.Responder.Counts().Requests; n != asked {
		t.Errorf("rescoring made %d calls", n-asked)
	}
}

// testCredentialed: pictures of credentialed data enter a page only when asked for, and the
// page says so.
func testCredentialed(t *testing.T, folder string) {
	ctx := context.Background()
	store, err := storeurl.Open(ctx, folder, storeurl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := reproductions(ctx, store)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d evaluations, %v", len(list), err)
	}
	e, err := loadEvaluation(ctx, store, list[0].receipt)
	if err != nil {
		t.Fatal(err)
	}
	e.bench.DataUse, e.summary.Benchmark.DataUse = "credentialed", "credentialed"
	for _, with := range []bool{false, true} {
		tr, err := e.transcripts(ctx, evaluation.Limits{Cases: 1}, with)
		if err != nil || (len(tr.Pictures) > 0) != with || (tr.Why == "") != with || len(tr.Dialogues) == 0 {
			t.Errorf("asked for %t: %d pictures, %q, %v", with, len(tr.Pictures), tr.Why, err)
		}
		d, err := e.document(ctx, evaluation.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var page bytes.Buffer
		if err := d.WriteHTML(&page, tr); err != nil || !strings.Contains(page.String(), "this report stays on this machine") || strings.Contains(page.String(), "data:image/") != with {
			t.Errorf("asked for %t: %v, the page does not say that it stays, or has the wrong pictures", with, err)
		}
	}
}

// TestIncomplete: a reproduction with undetermined cases is found by its name, its tables say that
// they are not complete, and the exit code says so too.
func TestIncomplete(t *testing.T) {
	store, _ := evaluatedStore(t, "format: "+responder.FaultFormat+"\nseed: 1\nrules:\n  - {do: server_error, kind: model, stage: criteria, share: 0.3}\n")
	testRememberedIncomplete(t, store)
	code, text, talk := cxrepro(t, store, "report")
	if code != exitQuarantined || !strings.Contains(text, ", not complete") || !strings.Contains(text, "| Undetermined") && !strings.Contains(text, "Undetermined cases") || !strings.Contains(talk, "undetermined") {
		t.Errorf("exit %d\n%s\n%.1500s", code, talk, text)
	}
	if code, text, talk := cxrepro(t, store, "rescore", "--scoring", "parser"); code != exitQuarantined || !strings.Contains(text, "Not complete: ") {
		t.Errorf("rescore: exit %d, %s", code, talk)
	}
}

// testRememberedIncomplete: what ended with undetermined cases is described without a server,
// under every name that verbs take, and by the same exit code.
func testRememberedIncomplete(t *testing.T, store string) {
	shelf, err := storeurl.Open(context.Background(), store, storeurl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := reproductions(context.Background(), shelf)
	if err != nil || len(list) != 1 || list[0].finished() || list[0].receipt == nil {
		t.Fatalf("%d reproductions, %v", len(list), err)
	}
	r := list[0]
	for _, which := range []string{r.ID, r.ID[:6], r.Name, latest} {
		code, text, talk := cxrepro(t, store, "status", which)
		if code != exitQuarantined || !strings.Contains(text, "reproduction "+r.ID+" ("+r.Name+") is unfinished") || !strings.Contains(talk, "undetermined") {
			t.Errorf("status %s: exit %d\n%s\n%.500s", which, code, talk, text)
		}
		if code, text, talk := cxrepro(t, store, "explain", which); code != exitOK || !strings.Contains(text, "reproduction  "+r.ID) || !strings.Contains(text, "call ") {
			t.Errorf("explain %s: exit %d\n%s\n%.500s", which, code, talk, text)
		}
	}
	_, cut, _ := cxrepro(t, store, "explain", r.ID)
	_, all, _ := cxrepro(t, store, "explain", r.ID, "--all", "--json")
	var e explainedReproduction
	if err := json.Unmarshal([]byte(all), &e); err != nil || !strings.Contains(cut, "the list is cut") || e.Unexplained > 0 || len(e.Run) == 0 {
		t.Errorf("%v, explained with --all: %+v\n%s", err, e.Run, cut)
	}
	for _, s := range e.Run {
		n := 0
		for _, reason := range e.Reasons {
			if reason.Step == s.Step {
				n += reason.Keys
			}
		}
		if s.Explained < s.Run || n != s.Run {
			t.Errorf("of %d keys of %s %d are explained, with %d reasons", s.Run, s.Step, s.Explained, n)
		}
	}
	for _, args := range [][]string{{"status", r.ID[:5]}, {"report", r.ID[:5]}, {"rescore", r.ID[:5], "--scoring", "parser"}, {"pause", r.ID[:5]}, {"watch", r.ID[:5]}, {"explain", r.ID[:5]},
		{"cxreasonbench", "build", "--run", r.ID[:5], "--out", filepath.Join(t.TempDir(), "b")}} {
		if code, _, talk := cxrepro(t, store, args...); code != exitUsage || !strings.Contains(talk, "6 digits are needed") {
			t.Errorf("%v: exit %d, %s", args, code, talk)
		}
	}
}

// TestNoTablesYet: a reproduction that was stopped while it asked models is described, and
// report says that it has no tables yet.
func TestNoTablesYet(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "store")
	ctx := context.Background()
	store, err := storeurl.Open(ctx, folder, storeurl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := json.Marshal(experiments.Plan{Spec: experiments.Spec{Name: "asking", Evaluation: &experiments.Evaluation{}}})
	if err != nil {
		t.Fatal(err)
	}
	ref, err := store.Put(ctx, plan, experiments.PlanMediaType)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.SetPin(ctx, artifacts.Pin{Name: contract.PinPrefix + "0123456789abcdef", Roots: []artifacts.Ref{ref}, Open: true}); err != nil {
		t.Fatal(err)
	}
	for _, which := range []string{"asking", latest, "012345"} {
		if code, _, talk := cxrepro(t, folder, "report", which); code != exitUsage || !strings.Contains(talk, "0123456789abcdef (asking) has no tables yet") {
			t.Errorf("report %s: exit %d, %s", which, code, talk)
		}
		if code, text, talk := cxrepro(t, folder, "status", which); code != exitOK || !strings.Contains(text, "(asking) is unfinished") || !strings.Contains(text, "0 steps and 0 calls") {
			t.Errorf("status %s: exit %d, %s%s", which, code, text, talk)
		}
	}
}

// testRescore: reading the judge's texts as in the run gives no flip; the parser and the
// substring reading read all that is stored.
func testRescore(t *testing.T, store string) {
	for _, reading := range []string{"judge", "parser", "substring"} {
		code, text, talk := cxrepro(t, store, "rescore", "--scoring", reading, "--json")
		var out struct {
			Calls       int
			Evaluations []rescored
		}
		if err := json.Unmarshal([]byte(text), &out); code != exitOK || err != nil || len(out.Evaluations) != 4 {
			t.Fatalf("%s: exit %d, %v: %s", reading, code, err, talk)
		}
		for _, e := range out.Evaluations {
			if e.Read < 20 || e.Unread != 0 || e.Same+len(e.Flips) != e.Read || reading == "judge" && len(e.Flips) > 0 || len(e.Completion) != 3 {
				t.Errorf("%s: %s: %d read, %d the same, %d flips, %d not readable", reading, e.Name, e.Read, e.Same, len(e.Flips), e.Unread)
			}
			if reading == "judge" && (e.Open+e.Entering+e.Leaving > 0 || *e.Completion[0].Before != *e.Completion[0].After) {
				t.Errorf("%s: %+v", e.Name, e)
			}
		}
	}
	if code, text, _ := cxrepro(t, store, "rescore", "--scoring", "judge"); code != exitOK || !strings.Contains(text, "No call was made.") {
		t.Errorf("exit %d\n%s", code, text)
	}
}

// TestReportUsage: wrong arguments name the way out and write nothing.
func TestReportUsage(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	for _, args := range [][]string{
		{"report", "--format", "pdf"}, {"report", "--compare", "me"}, {"report", "--table", "5"}, {"report", "--format", "csv", "--cells"},
		{"report", "--with-pictures"}, {"report", "--format", "html", "--cases", "-1"}, {"report", "--claims", "/nowhere.json"},
		{"rescore"}, {"rescore", "--scoring", "guess"}, {"report"}, {"rescore", "x", "--scoring", "parser"},
	} {
		code, out, talk := cxrepro(t, store, args...)
		if code != exitUsage || out != "" || !strings.Contains(talk, "hint: ") {
			t.Errorf("%v: exit %d, %q, %q", args, code, out, talk)
		}
	}
}

// TestLocalReport: a report of data that must stay here is readable by its owner alone.
func TestLocalReport(t *testing.T) {
	to := filepath.Join(t.TempDir(), "r.html")
	if err := os.WriteFile(to, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writeReport(to, []byte("x"), true); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(to)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
