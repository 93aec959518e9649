package evaluation

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/claims"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/report"
	"cxrepro/internal/report/reporttest"
	"cxrepro/internal/report/scoring"
)

// made is a small evaluation: two models in two ways of sampling, in a store of its own.
type made struct {
	store   *artifacts.Repository
	bench   *reporttest.Benchmark
	refs    []contract.EvaluationRef
	docs    []artifacts.Ref
	summary *contract.EvaluationSummary
}

func get[T any](store *artifacts.Repository, ref artifacts.Ref) (T, error) {
	var v T
	data, err := store.Get(context.Background(), ref)
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	return v, err
}

// evaluateAll answers cases of every task for each title, the first of them a stand-in.
func evaluateAll(t testing.TB, cases int, script func(model, sampling string) reporttest.Script, titles ...string) *made {
	t.Helper()
	ctx := context.Background()
	rules, err := cxreasonbench.NewRules(cxreasonbench.Corrected, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &made{store: memstore.Open()}
	if m.bench, err = reporttest.NewBenchmark(ctx, m.store, rules, cases, "synthetic"); err != nil {
		t.Fatal(err)
	}
	b := m.bench.Doc
	m.summary = &contract.EvaluationSummary{
		Format: contract.EvaluationSummaryFormat, Name: "a-small-evaluation", Paper: "A paper", Rules: rules, Scoring: "judge", Bootstrap: 80, Seed: 5,
		Benchmark: contract.SummaryBenchmark{Digest: m.bench.Ref.Digest, Source: b.Source, Rules: b.Rules, DataUse: b.DataUse, Cases: len(b.Cases), Tasks: contract.CasesOf(b.Cases)},
		Judge:     &contract.SummaryModel{Name: "judge", Title: "Judge", Adapter: "openai/1"},
	}
	for i, title := range titles {
		for _, sampling := range []string{"greedy", "draws3"} {
			ref := contract.EvaluationRef{Name: fmt.Sprintf("model-%d/%s", i, sampling), Model: fmt.Sprintf("model-%d", i), Judge: "judge", Draws: 1, Path2: true, Rules: rules}
			if sampling == "draws3" {
				ref.Draws = 3
			}
			doc, err := reporttest.Evaluate(ctx, m.store, m.bench, len(m.docs), ref, 5, script(title, sampling))
			if err != nil {
				t.Fatal(err)
			}
			m.refs, m.docs = append(m.refs, ref), append(m.docs, doc)
			e := scoring.New(ref)
			if err := m.pages(len(m.docs)-1, e.Add); err != nil {
				t.Fatal(err)
			}
			model := contract.SummaryModel{Name: ref.Model, Title: title, Adapter: "openai/1", Pictures: "original/1", Simulated: i == 0}
			m.summary.Evaluations = append(m.summary.Evaluations, e.Summary(model, sampling, scoring.Bootstrap{Draws: 80, Seed: 5}))
		}
	}
	return m
}

func (m *made) pages(i int, fn func(*contract.DialoguesDoc) error) error {
	doc, err := get[contract.EvaluationDoc](m.store, m.docs[i])
	if err != nil {
		return err
	}
	for _, task := range doc.Tasks {
		for _, list := range []artifacts.Ref{task.Path1, task.Path2} {
			if list.IsZero() {
				continue
			}
			packed, err := get[contract.Packed](m.store, list)
			if err != nil {
				return err
			}
			for _, item := range packed.Items {
				page, err := get[contract.DialoguesDoc](m.store, item.Ref)
				if err != nil {
					return err
				}
				if err := fn(&page); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (m *made) source() Source {
	return Source{
		Pages: func(_ context.Context, i int, fn func(*contract.DialoguesDoc) error) error { return m.pages(i, fn) },
		Case: func(_ context.Context, n int) (*contract.CaseDoc, error) {
			doc, err := get[contract.CaseDoc](m.store, m.bench.Doc.Cases[n].Doc)
			return &doc, err
		},
		Answer:  func(_ context.Context, ref artifacts.Ref) (lvlm.Answer, error) { return get[lvlm.Answer](m.store, ref) },
		Picture: m.store.Get,
	}
}

func mixed(model, sampling string) reporttest.Script { return reporttest.Mixed(model) }

func build(t testing.TB, m *made, o Options) *Document {
	t.Helper()
	d, err := Build(Input{Summary: m.summary, Reproduction: "r-1", Result: "sha256:00"}, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range d.Tables(true) {
		if wrong := table.Check(); wrong != nil {
			t.Errorf("%s: %v", table.Title, wrong)
		}
	}
	return d
}

// TestForms: every form of the report has every table of the paper, and says on each that a
// stand-in answered.
func TestForms(t *testing.T) {
	m := evaluateAll(t, 5, mixed, "GPT-4.1", "Other")
	d := build(t, m, Options{Compare: true})
	if len(d.Missing) != 0 {
		t.Errorf("missing: %v", d.Missing)
	}
	for name, write := range map[string]func(io.Writer) error{
		"md":    func(w io.Writer) error { return d.WriteMarkdown(w, true) },
		"latex": func(w io.Writer) error { return d.WriteLaTeX(w, false) },
		"csv":   d.WriteCSV,
		"text":  d.WriteText,
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		last := -1
		for _, n := range cxreasonbench.TableNumbers() {
			at := strings.Index(text, fmt.Sprintf("Table %d. ", n))
			if at <= last {
				t.Errorf("%s: table %d is not there, or out of order", name, n)
			}
			last = at
		}
	}
	for _, table := range d.Tables(false) {
		if !strings.Contains(table.Title, ", simulated") {
			t.Errorf("%q does not say simulated", table.Title)
		}
		if strings.Contains(table.Title, "not complete") {
			t.Errorf("%q says that it is not complete", table.Title)
		}
	}
	// Every table shows the verdicts of the claims that it prints, and no others.
	for _, n := range cxreasonbench.TableNumbers() {
		table, err := cxreasonbench.PaperTable(n, d.evaluations, cxreasonbench.TableOptions{Beside: d.beside()})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := table.Tally(), d.Input.Claims.Tally(n); !maps.Equal(got, want) || len(want) == 0 {
			t.Errorf("table %d shows %v, its claims are %v", n, got, want)
		}
	}
	if d.Tally[report.NotComputable] == 0 || d.Tally[report.Off] == 0 {
		t.Errorf("verdicts: %s", d.TallyWords())
	}
}

// TestPrintedAgainstSummary: the figures in the CSV are those of the counts, found again by
// name, each with k of n.
func TestPrintedAgainstSummary(t *testing.T) {
	m := evaluateAll(t, 6, mixed, "A", "B")
	var b bytes.Buffer
	if err := build(t, m, Options{}).WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string][]string{}
	for _, r := range rows[1:] {
		number, _, _ := strings.Cut(r[0], ".")
		cells[number+"|"+r[1]+"|"+r[2]] = r
	}
	for _, c := range []struct {
		table    string
		model    int
		sampling int
		path     int
		task     string
		column   string
	}{
		{"Table 13", 0, 0, 0, "cardiomegaly", "stage3"}, {"Table 16", 1, 1, 0, "rotation", "completion"},
		{"Table 18", 1, 0, 1, "inclusion", "stage1"}, {"Table 22", 0, 1, 1, "carina angle", "consistency"},
		{"Table 24", 0, 0, 2, "inspiration", "stage2"}, {"Table 12", 1, 0, 0, "trachea deviation", "alignment"},
	} {
		e := m.summary.Evaluations[2*c.model+c.sampling]
		name := []string{"A", "B"}[c.model]
		r, ok := cells[c.table+"|"+c.task+" / "+name+"|"+c.column]
		if !ok {
			t.Errorf("%+v is not printed", c)
			continue
		}
		for _, row := range e.Paths[c.path].Tasks {
			if strings.ReplaceAll(row.Name, "_", " ") != c.task {
				continue
			}
			for _, cell := range row.Cells {
				if cell.Column != c.column {
					continue
				}
				want := []string{"", "", "", cell.Plain.Why}
				if cell.Plain.Value != nil {
					want = []string{trim(*cell.Plain.Value), fmt.Sprint(cell.Plain.K), fmt.Sprint(cell.Plain.N), ""}
				}
				if got := []string{r[4], r[6], r[7], r[19]}; fmt.Sprint(got) != fmt.Sprint(want) || r[8] != cell.Plain.Formula {
					t.Errorf("%+v: printed %v %s, want %v %s", c, got, r[8], want, cell.Plain.Formula)
				}
			}
		}
	}
}

func trim(v float64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

// TestChosenTables: one table alone, and a number that the paper has no results under.
func TestChosenTables(t *testing.T) {
	m := evaluateAll(t, 2, mixed, "A")
	d := build(t, m, Options{Tables: []int{4}})
	if got := d.Tables(false); len(got) != 2 || !strings.HasPrefix(got[0].Title, "Table 4. ") || !strings.HasPrefix(got[1].Title, "Table 4, textbook reading. ") {
		t.Errorf("%d tables", len(got))
	}
	if _, err := Build(Input{Summary: m.summary}, Options{Tables: []int{7}}); err == nil {
		t.Error("table 7 is made")
	}
	greedy := *m.summary
	greedy.Evaluations = greedy.Evaluations[:1]
	d, err := Build(Input{Summary: &greedy}, Options{})
	if err != nil || len(d.Missing) != 12 || d.Missing[0].Number != 8 || !strings.Contains(d.Missing[0].Why, "stochastic") || len(d.MissingWords()) != 1 {
		t.Errorf("missing: %+v %v", d.Missing, err)
	}
}

// TestUndeterminedMarks: with an undetermined case every table of its path says so, and the
// case is listed.
func TestUndeterminedMarks(t *testing.T) {
	m := evaluateAll(t, 3, func(model, _ string) reporttest.Script {
		return func(p reporttest.Place) reporttest.Reply {
			r := reporttest.Mixed(model)(p)
			r.Undetermined = p.Case == 4 && p.Key.Stage == cxreasonbench.StageInit
			return r
		}
	}, "A")
	for i, ref := range m.docs {
		doc, err := get[contract.EvaluationDoc](m.store, ref)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range doc.Tasks {
			m.summary.Evaluations[i].Waiting = contract.AddCount(m.summary.Evaluations[i].Waiting, task.Task.String(), task.Waits)
		}
	}
	d := build(t, m, Options{})
	if d.Complete() {
		t.Error("the report calls itself complete")
	}
	for _, table := range d.Tables(false) {
		if !strings.Contains(table.Title, ", not complete") {
			t.Errorf("%q does not say that it is not complete", table.Title)
		}
	}
	var b bytes.Buffer
	if err := d.WriteMarkdown(&b, false); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "Not complete: 2") || strings.Contains(b.String(), "Not complete: 3") {
		t.Error("a case counts more than once")
	}
	for _, want := range []string{"Not complete: 1 case is undetermined.", "Not complete: 1 case is undetermined and in no denominator.", "| A | greedy | projection | 4 | Path 1 | model of init | endpoint\\_gone |", "Path 2 waits for Path 1 of 1 cases"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q", want)
		}
	}
}

// TestClaims: figures of the text and hours stand beside ours with a verdict.
func TestClaims(t *testing.T) {
	m := evaluateAll(t, 4, mixed, "GPT-4.1")
	var ours float64
	for _, row := range m.summary.Evaluations[0].Paths[0].Groups {
		for _, c := range row.Cells {
			if row.Name == "overall" && c.Column == "completion" {
				ours = *c.Plain.Value
			}
		}
	}
	stated, err := claims.ParseStated([]byte(fmt.Sprintf(`{"source": "section 5.2", "hours": [{"model": "GPT-4.1", "task": "rotation", "hours": 3}], "text": [
		{"says": "same", "model": "GPT-4.1", "path": "path1", "sampling": "greedy", "group": "overall", "column": "completion", "value": %v},
		{"says": "other", "model": "GPT-4.1", "path": "path1", "sampling": "greedy", "group": "overall", "column": "completion", "value": 99.9},
		{"says": "none", "model": "Z", "path": "path1", "sampling": "greedy", "group": "overall", "column": "completion", "value": 1}]}`, ours)))
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Summary: m.summary, Hours: []Hours{{Evaluation: 0, Task: cxreasonbench.Tasks()[0], ModelSeconds: 5400, JudgeSeconds: 1800, ModelCalls: 10, JudgeCalls: 9}}}
	d, err := Build(in, Options{Compare: true, Stated: stated})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := d.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Hours by task and model, simulated\",rotation,\"GPT-4.1, greedy\",2.00,2,,10,19,hours,,,,,,,,,3.00,not computable,time depends",
		"same / GPT-4.1 / Path 1 / greedy / overall / completion,ours,", "no such evaluation is in this report",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	for _, want := range []string{`same / GPT-4\.1 / .*,reproduced,`, `other / GPT-4\.1 / .*,off,`} {
		if !regexp.MustCompile(want).MatchString(b.String()) {
			t.Errorf("no line like %s in\n%s", want, b.String())
		}
	}
	// Without --compare nothing stands beside the figures of tables.
	if d, err = Build(in, Options{Stated: stated}); err != nil {
		t.Fatal(err)
	}
	for _, s := range d.Sections {
		for _, table := range s.Tables {
			if n := table.Tally(); (len(n) > 0) != (s.ID == "claims" || s.ID == "hours") {
				t.Errorf("%s: %v", table.Title, n)
			}
		}
	}
	if _, err := claims.ParseStated([]byte(`{"text": [{"path": "path1", "sampling": "greedy", "group": "overall", "column": "x"}]}`)); err == nil {
		t.Error("a claim about no column is read")
	}
}

// TestPage: the page refers to nothing outside it, holds the transcripts with their pictures,
// lets no markup of a reply through, and says what it leaves out.
func TestPage(t *testing.T) {
	m := evaluateAll(t, 4, mixed, "GPT-4.1", "<b>Other</b>")
	d := build(t, m, Options{Compare: true})
	tr, err := Collect(context.Background(), m.summary, m.source(), Limits{Cases: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Tasks) != 12 || len(tr.Tasks[0].Cases) != 2 || len(tr.Dialogues) < 4*24 || tr.LeftOut != 0 || len(tr.Pictures) == 0 {
		t.Errorf("%d tasks, %d dialogues, %d pictures, %d left out", len(tr.Tasks), len(tr.Dialogues), len(tr.Pictures), tr.LeftOut)
	}
	for _, x := range tr.Dialogues {
		for _, turn := range x.Turns {
			q, ok := tr.Cases[turn.Case].Questions[turn.Key]
			if !ok || q.Text == "" || len(turn.Draws) == 0 {
				t.Fatalf("case %d %s has no question", turn.Case, turn.Key)
			}
			for _, p := range q.Pictures {
				if tr.Pictures[p.Picture].Data == "" {
					t.Fatalf("case %d %s: no picture", turn.Case, turn.Key)
				}
			}
		}
	}
	var b bytes.Buffer
	if err := d.WriteHTML(&b, tr); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if m := regexp.MustCompile(`(?i)(src|href)\s*=\s*"(https?:|//|file:)|url\(|@import|<link`).FindString(page); m != "" {
		t.Errorf("the page refers to %q", m)
	}
	for _, want := range []string{"default-src 'none'", "&lt;b&gt;Other&lt;/b&gt;", `<svg class="funnel"`, "Simulated.", "data:image/", `data-facts="Path 1, completion`} {
		if !strings.Contains(page, want) && !(want == `data-facts="Path 1, completion` && strings.Contains(page, `data-facts="Path 1 / GPT-4.1, completion`)) {
			t.Errorf("no %q in the page", want)
		}
	}
	if !strings.Contains(page[:1024], `content="`+d.Mark()+`"`) {
		t.Error("the mark is not in the first kilobyte")
	}
	if part := build(t, m, Options{Compare: true, Tables: []int{3, 4}}); part.Mark() == d.Mark() {
		t.Error("a page of some tables bears the mark of the whole report")
	}
	if strings.Contains(page, "<b>Other</b>") {
		t.Error("markup of a model's name is let through")
	}
	again, err := Collect(context.Background(), m.summary, m.source(), Limits{Cases: 2})
	if err != nil {
		t.Fatal(err)
	}
	x, _ := json.Marshal(tr)
	y, _ := json.Marshal(again)
	if !bytes.Equal(x, y) {
		t.Error("the same evaluation gives two pages")
	}
	few, err := Collect(context.Background(), m.summary, m.source(), Limits{Cases: 2, Bytes: 6000})
	if err != nil || few.LeftOut == 0 || len(few.Pictures) == 0 || len(few.Pictures) >= len(tr.Pictures) {
		t.Errorf("with little room: %d pictures, %d left out, %v", len(few.Pictures), few.LeftOut, err)
	}
	src := m.source()
	src.Picture, src.NoPictures = nil, "no pictures of this class"
	none, err := Collect(context.Background(), m.summary, src, Limits{Cases: 1})
	if err != nil || len(none.Pictures) != 0 || none.LeftOut == 0 {
		t.Errorf("without pictures: %d, %v", len(none.Pictures), err)
	}
	b.Reset()
	if err := d.WriteHTML(&b, none); err != nil || !strings.Contains(b.String(), "no pictures of this class") {
		t.Errorf("the page does not say why it has no pictures: %v", err)
	}
}

// TestReduce: a picture keeps its proportions, grey stays grey, and what is no picture or too
// large is refused.
func TestReduce(t *testing.T) {
	m := evaluateAll(t, 1, mixed, "A")
	var data []byte
	for _, ref := range m.bench.Cases[0].Pictures {
		var err error
		if data, err = m.store.Get(context.Background(), ref); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Reduce(data, 28)
	if err != nil || p.Width != 24 || p.Height != 28 || !strings.HasPrefix(p.Data, "data:image/") {
		t.Errorf("48 x 56 at 28 is %d x %d: %v", p.Width, p.Height, err)
	}
	if p, err := Reduce(data, 900); err != nil || p.Width != 48 || p.Height != 56 {
		t.Errorf("a small picture becomes %d x %d: %v", p.Width, p.Height, err)
	}
	for _, bad := range [][]byte{nil, []byte("no picture"), data[:40]} {
		if _, err := Reduce(bad, 100); err == nil {
			t.Errorf("%d bytes are a picture", len(bad))
		}
	}
	huge := bytes.Clone(data)
	copy(huge[16:24], []byte{0, 2, 0, 0, 0, 2, 0, 0})
	if _, err := Reduce(huge, 100); err == nil {
		t.Error("131,072 x 131,072 is decoded")
	}
}

// TestFunnel: bars never grow, and the first is every case.
func TestFunnel(t *testing.T) {
	m := evaluateAll(t, 6, mixed, "A")
	e := scoring.Scored(m.summary.Rules, &m.summary.Evaluations[0])
	for _, p := range e.Paths {
		steps := funnelOf(p)
		for i, s := range steps {
			if i > 0 && s.N > steps[i-1].N || s.Consistent > s.N {
				t.Errorf("%s: %+v", p.Path, steps)
			}
		}
		if p.Path == cxreasonbench.Path1 && steps[0].N != 72 {
			t.Errorf("%d cases, want 72", steps[0].N)
		}
		if svg := string(Funnel("a & b", p)); !strings.Contains(svg, "a &amp; b: cases") {
			t.Errorf("%s", svg)
		}
	}
}
