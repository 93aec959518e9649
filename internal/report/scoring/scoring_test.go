package scoring_test

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"syscall"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report/reporttest"
	"cxrepro/internal/report/scoring"
)

// set is one evaluation answered by a script.
type set struct {
	store *artifacts.Repository
	bench *reporttest.Benchmark
	ref   contract.EvaluationRef
	doc   artifacts.Ref
	pages []*contract.DialoguesDoc
}

func evaluate(t testing.TB, cases, draws int, judge string, script reporttest.Script) *set {
	t.Helper()
	rules, err := cxreasonbench.NewRules(cxreasonbench.Corrected, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &set{store: memstore.Open(), ref: contract.EvaluationRef{Name: "model/x", Model: "model", Judge: judge, Draws: draws, Path2: true, Rules: rules}}
	ctx := context.Background()
	if s.bench, err = reporttest.NewBenchmark(ctx, s.store, rules, cases, "synthetic"); err != nil {
		t.Fatal(err)
	}
	if s.doc, err = reporttest.Evaluate(ctx, s.store, s.bench, 0, s.ref, 5, script); err != nil {
		t.Fatal(err)
	}
	s.pages = s.read(t)
	return s
}

func get[T any](t testing.TB, store *artifacts.Repository, ref artifacts.Ref) T {
	t.Helper()
	var v T
	data, err := store.Get(context.Background(), ref)
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (s *set) read(t testing.TB) []*contract.DialoguesDoc {
	t.Helper()
	var pages []*contract.DialoguesDoc
	for _, task := range get[contract.EvaluationDoc](t, s.store, s.doc).Tasks {
		for _, list := range []artifacts.Ref{task.Path1, task.Path2} {
			if list.IsZero() {
				continue
			}
			for _, item := range get[contract.Packed](t, s.store, list).Items {
				page := get[contract.DialoguesDoc](t, s.store, item.Ref)
				pages = append(pages, &page)
			}
		}
	}
	return pages
}

func (s *set) count(t testing.TB, pages []*contract.DialoguesDoc) *scoring.Evaluation {
	t.Helper()
	e := scoring.New(s.ref)
	for _, p := range pages {
		if err := e.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// plain counts what a script makes of the cases of a task, from the script alone.
type plain struct {
	set    *set
	script reporttest.Script
	draws  int
	// review is the case that each case of Path 2 is re-evaluated on.
	review map[int]int
}

// score is the vote over the draws of a question, with the index of the kept draw.
func (c plain) score(task cxreasonbench.Task, n int, k cxreasonbench.Key) (int, int) {
	var votes []int
	for d := range c.draws {
		r := c.script(reporttest.Place{Evaluation: c.set.ref.Name, Task: task, Case: n, Key: k, Draw: d})
		s := r.Score
		if r.Judge.Valid() && c.set.ref.Judge != "" {
			s = r.Judge
		}
		v := s.Number()
		if r.Terminal != 0 {
			v = 0
		}
		votes = append(votes, v)
	}
	win := votes[0]
	if len(votes) == 3 && votes[0] != votes[1] && votes[0] != votes[2] {
		win = votes[1]
		if votes[1] != votes[2] { // three different ones
			win = 0
			if slices.Contains(votes, -1) {
				win = -1
			}
		}
	}
	return win, max(slices.Index(votes, win), 0)
}

func (c plain) rounds(n int, p cxreasonbench.Path, s cxreasonbench.Stage) int {
	for _, it := range c.set.bench.Cases[n].Items {
		if it.Path == p && it.Stage == s {
			return len(it.Questions)
		}
	}
	return 0
}

// passes reports whether every round of a stage is right.
func (c plain) passes(task cxreasonbench.Task, n int, p cxreasonbench.Path, s cxreasonbench.Stage) bool {
	for round := range c.rounds(n, p, s) {
		if v, _ := c.score(task, n, cxreasonbench.Key{Path: p, Stage: s, Round: round}); v != 1 {
			return false
		}
	}
	return true
}

// consistent reports whether the value in the kept last reply is one that the script means to
// be consistent.
func (c plain) consistent(task cxreasonbench.Task, n int, p cxreasonbench.Path) bool {
	k := cxreasonbench.Key{Path: p, Stage: cxreasonbench.StageFinal}
	_, kept := c.score(task, n, k)
	r := c.script(reporttest.Place{Evaluation: c.set.ref.Name, Task: task, Case: n, Key: k, Draw: kept})
	return r.Terminal == 0 && !r.Inconsistent
}

// path1 is what the reference calls P, rejected, c1 to c4, k, aligned, plus both entries.
type sums struct{ P, rejected, c1, c2, c3, c4, k, both, aligned int }

func (c plain) path1(task cxreasonbench.Task, cases []int) (s sums, guided []int) {
	measured := cxreasonbench.KindOf(task) == cxreasonbench.Measurement
	for _, n := range cases {
		first, _ := c.score(task, n, cxreasonbench.Key{Path: cxreasonbench.Path1, Stage: cxreasonbench.StageInit})
		if first == -1 {
			guided = append(guided, n)
			continue
		}
		s.P++
		if !c.passes(task, n, cxreasonbench.Path1, cxreasonbench.StageCriteria) {
			continue
		}
		s.c1++
		if cxreasonbench.ExpertDefined(task) {
			v, _ := c.score(task, n, cxreasonbench.Key{Path: cxreasonbench.Path1, Stage: cxreasonbench.StageRefined})
			if v == -1 {
				s.rejected++
				guided = append(guided, n)
			}
			if v != 1 {
				continue
			}
		}
		if !c.passes(task, n, cxreasonbench.Path1, cxreasonbench.StageStructures) {
			continue
		}
		s.c2++
		if !c.passes(task, n, cxreasonbench.Path1, cxreasonbench.StageMeasurement) {
			continue
		}
		s.c3++
		last := c.passes(task, n, cxreasonbench.Path1, cxreasonbench.StageFinal)
		consistent := measured && c.consistent(task, n, cxreasonbench.Path1)
		add(&s.c4, last)
		add(&s.k, consistent)
		add(&s.both, last && consistent)
		add(&s.aligned, last && first == 1)
	}
	return s, guided
}

func add(n *int, yes bool) {
	if yes {
		*n++
	}
}

// adjusted is the paper's proportion, written down once more.
func adjusted(x, n int) *float64 {
	if n == 0 {
		return nil
	}
	if x == 0 {
		return new(float64)
	}
	p, N := float64(x)/float64(n), float64(n)
	d := 1 + 1.96*1.96/N
	v := 100 * ((p + 1.96*1.96/(2*N)) / d) * (1 - 1.96*math.Sqrt(p*(1-p)/N+1.96*1.96/(4*N*N))/d)
	return &v
}

// TestAgainstPlainCount: the figures of Path 1, Path 2 and the re-evaluation equal those of a
// count that knows the script and nothing of dialogues.
func TestAgainstPlainCount(t *testing.T) {
	for _, c := range []struct {
		name, judge string
		draws       int
	}{{"greedy with judge", "judge", 1}, {"three draws", "judge", 3}, {"parser", "", 1}} {
		script := reporttest.Mixed("plain " + c.name)
		s := evaluate(t, 14, c.draws, c.judge, script)
		got := s.count(t, s.pages).Summary(contract.SummaryModel{Title: "M"}, "greedy", scoring.Bootstrap{})
		p := plain{set: s, script: script, draws: c.draws, review: map[int]int{}}
		for _, page := range s.pages {
			for _, d := range page.Dialogues {
				if page.Path == cxreasonbench.Path2 {
					p.review[d.Case] = d.Review
				}
			}
		}
		first := 0
		seen := sums{}
		for i, task := range cxreasonbench.Tasks() {
			var cases []int
			for n := first; n < first+14; n++ {
				cases = append(cases, n)
			}
			first += 14
			want, guided := p.path1(task, cases)
			check(t, c.name+" path 1 "+task.String(), got.Paths[0].Tasks[i], map[string]*float64{
				"stage1": adjusted(want.c1, want.P), "stage2": adjusted(want.c2, want.c1-want.rejected),
				"stage3": adjusted(want.c3, want.c2), "stage4": adjusted(want.c4, want.c3),
				"completion": adjusted(want.c4, want.P-want.rejected), "alignment": adjusted(want.aligned, want.c3),
				"depth":       ratio(want.c1-want.rejected+want.c2+want.c3+want.c4, want.P-want.rejected),
				"consistency": measured(task, adjusted(want.k, want.c3)),
			}, map[string]*float64{
				"stage3": refined(task, adjusted(want.c3, want.c2), want.k, want.c3),
				"depth":  measuredElse(task, ratio(want.c1-want.rejected+want.c2+want.k+want.both, want.P-want.rejected), ratio(want.c1-want.rejected+want.c2+want.c3+want.c4, want.P-want.rejected)),
			})
			p.guidedTask(t, c.name, task, i, guided, got)
			seen.P += want.P
			seen.rejected += want.rejected
			seen.c4 += want.c4
			seen.k += want.k
		}
		if seen.rejected == 0 || seen.c4 == 0 || seen.k == 0 {
			t.Errorf("%s: the script does not reach everything: %+v", c.name, seen)
		}
	}
}

// guidedTask checks Path 2 and the re-evaluation of one task.
func (c plain) guidedTask(t *testing.T, name string, task cxreasonbench.Task, i int, guided []int, got contract.SummaryEvaluation) {
	t.Helper()
	measures := cxreasonbench.KindOf(task) == cxreasonbench.Measurement
	var b, m, f, k int
	var re sums
	for _, n := range guided {
		if !c.passes(task, n, cxreasonbench.Path2, cxreasonbench.StageStructures) {
			continue
		}
		b++
		if !c.passes(task, n, cxreasonbench.Path2, cxreasonbench.StageMeasurement) {
			continue
		}
		m++
		add(&k, measures && c.consistent(task, n, cxreasonbench.Path2))
		if !c.passes(task, n, cxreasonbench.Path2, cxreasonbench.StageFinal) {
			continue
		}
		f++
		r := c.review[n]
		if r < 0 || !c.passes(task, r, cxreasonbench.RePath1, cxreasonbench.StageInit) {
			continue
		}
		re.P++
		for at, stage := range []cxreasonbench.Stage{cxreasonbench.StageCriteria, cxreasonbench.StageStructures, cxreasonbench.StageMeasurement, cxreasonbench.StageFinal} {
			if stage == cxreasonbench.StageFinal {
				add(&re.k, measures && c.consistent(task, r, cxreasonbench.RePath1))
			}
			if !c.passes(task, r, cxreasonbench.RePath1, stage) {
				break
			}
			*[]*int{&re.c1, &re.c2, &re.c3, &re.c4}[at]++
		}
	}
	n := len(guided)
	check(t, name+" path 2 "+task.String(), got.Paths[1].Tasks[i], map[string]*float64{
		"stage1": adjusted(b, n), "stage2": adjusted(m, b), "stage3": adjusted(f, m), "completion": adjusted(f, n),
		"depth": ratio(b+m+f, n), "consistency": measured(task, adjusted(k, m)),
	}, map[string]*float64{"stage2": refined(task, adjusted(m, b), k, m)})
	check(t, name+" re-evaluation "+task.String(), got.Paths[2].Tasks[i], map[string]*float64{
		"initial": adjusted(re.P, f), "stage1": adjusted(re.c1, re.P), "stage2": adjusted(re.c2, re.c1), "stage3": adjusted(re.c3, re.c2),
		"stage4": adjusted(re.c4, re.c3), "completion": adjusted(re.c4, re.P), "depth": ratio(re.c1+re.c2+re.c3+re.c4, re.P),
		"alignment": adjusted(re.c4, re.c3), "consistency": measured(task, adjusted(re.k, re.c3)),
	}, nil)
}

func ratio(k, n int) *float64 {
	if n == 0 {
		return nil
	}
	v := float64(k) / float64(n)
	return &v
}

func measured(task cxreasonbench.Task, v *float64) *float64 { return measuredElse(task, v, nil) }

func measuredElse(task cxreasonbench.Task, v, other *float64) *float64 {
	if cxreasonbench.KindOf(task) == cxreasonbench.Measurement {
		return v
	}
	return other
}

func refined(task cxreasonbench.Task, v *float64, k, n int) *float64 {
	if v == nil || cxreasonbench.KindOf(task) != cxreasonbench.Measurement {
		return v
	}
	out := 0.0
	if n > 0 {
		out = *v * float64(k) / float64(n)
	}
	return &out
}

func check(t *testing.T, name string, row contract.SummaryRow, want, wantRefined map[string]*float64) {
	t.Helper()
	if len(row.Cells) != len(want) {
		t.Fatalf("%s: %d cells, want %d", name, len(row.Cells), len(want))
	}
	for _, cell := range row.Cells {
		near(t, name+" "+cell.Column, cell.Plain, want[cell.Column])
		if w, ok := wantRefined[cell.Column]; ok {
			near(t, name+" "+cell.Column+" refined", *cell.Refined, w)
		}
	}
}

// near allows for the rounding to two decimals.
func near(t *testing.T, name string, got contract.SummaryFigure, want *float64) {
	t.Helper()
	switch {
	case (got.Value == nil) != (want == nil):
		t.Errorf("%s: got %v (%s), want %v", name, got.Value, got.Why, want)
	case want != nil && math.Abs(*got.Value-*want) > 0.00501:
		t.Errorf("%s: got %v, want %v", name, *got.Value, *want)
	}
}

// TestOrder: neither the order of pages nor that of dialogues matters, and figures come back
// from a summary as they went in.
func TestOrder(t *testing.T) {
	s := evaluate(t, 6, 1, "judge", reporttest.Mixed("order"))
	b := scoring.Bootstrap{Draws: 60, Seed: 3}
	want := s.count(t, s.pages).Summary(contract.SummaryModel{Title: "M"}, "greedy", b)
	turned := s.read(t)
	slices.Reverse(turned)
	for _, p := range turned {
		slices.Reverse(p.Dialogues)
	}
	got := s.count(t, turned).Summary(contract.SummaryModel{Title: "M"}, "greedy", b)
	if !reflect.DeepEqual(want, got) {
		t.Error("the summary depends on an order")
	}
	back := scoring.Scored(s.ref.Rules, &want)
	e := s.count(t, s.pages)
	for i, p := range back.Paths {
		if !reflect.DeepEqual(p, cxreasonbench.ScorePath(s.ref.Rules, p.Path, e.Cases(p.Path))) {
			t.Errorf("%s does not come back from its summary", p.Path)
		}
		if in := back.Intervals[p.Path].Groups[cxreasonbench.Overall][cxreasonbench.Completion].Plain; !in.Known && want.Paths[i].Groups[0].Cells[4].Plain.Interval.Known {
			t.Errorf("%s: the interval is lost", p.Path)
		}
	}
}

// TestUndetermined: a case whose call came to nothing is in no denominator and is listed, and
// Path 2 of its task waits.
func TestUndetermined(t *testing.T) {
	lost := reporttest.Place{Case: 3, Key: cxreasonbench.Key{Path: cxreasonbench.Path1, Stage: cxreasonbench.StageInit}}
	script := func(p reporttest.Place) reporttest.Reply {
		r := reporttest.Mixed("lost")(p)
		r.Undetermined = p.Case == lost.Case && p.Key == lost.Key
		return r
	}
	s := evaluate(t, 5, 1, "judge", script)
	e := s.count(t, s.pages)
	for _, task := range get[contract.EvaluationDoc](t, s.store, s.doc).Tasks {
		if task.Waits > 0 {
			e.Waits(task.Task, task.Waits)
		}
	}
	got := e.Summary(contract.SummaryModel{}, "greedy", scoring.Bootstrap{})
	if len(got.Undetermined) != 1 || got.Undetermined[0].Case != 3 || got.Undetermined[0].Why != "endpoint_gone" || got.Undetermined[0].Call != "model of init" {
		t.Errorf("undetermined: %+v", got.Undetermined)
	}
	if len(got.Waiting) != 1 || got.Waiting[0].Name != "rotation" {
		t.Errorf("waiting: %+v", got.Waiting)
	}
	if c := got.Paths[0].Tasks[0].Counts; c.Entered+c.Unknown != 4 {
		t.Errorf("%d cases count, want 4", c.Entered+c.Unknown)
	}
	scored := scoring.Scored(s.ref.Rules, &got)
	if len(scored.Undetermined[cxreasonbench.Path1]) != 1 || len(scored.Undetermined[cxreasonbench.Path2]) != 1 {
		t.Errorf("undetermined by path: %v", scored.Undetermined)
	}
}

// TestReadings: terminal outcomes are counted by stage, and replies that judge and parser read
// apart are found.
func TestReadings(t *testing.T) {
	script := reporttest.Mixed("readings")
	s := evaluate(t, 10, 3, "judge", script)
	got := s.count(t, s.pages).Summary(contract.SummaryModel{}, "draws3", scoring.Bootstrap{})
	refusals, draws, apart := 0, 0, 0
	for _, page := range s.pages {
		for _, d := range page.Dialogues {
			for _, turn := range d.State.Turns[d.State.Replayed:] {
				for i := range turn.Draws {
					r := script(reporttest.Place{Evaluation: s.ref.Name, Task: page.Task, Case: number(t, turn.Case), Key: turn.Key, Draw: i})
					draws++
					add(&refusals, r.Terminal == cxreasonbench.Refusal)
					add(&apart, r.Terminal == 0 && r.Judge.Valid() && r.Judge != r.Score)
				}
			}
		}
	}
	stages, terminal, split := 0, 0, 0
	for _, st := range got.Stages {
		stages += st.Draws
		if st.Draws != st.Judged+contract.Total(st.Terminals) {
			t.Errorf("%s %s: %d draws, %d judged, %v", st.Path, st.Stage, st.Draws, st.Judged, st.Terminals)
		}
		for _, c := range st.Terminals {
			if c.Name == "refusal" {
				terminal += c.N
			}
		}
	}
	for _, r := range got.Readings {
		if r.Judge != r.Parser {
			split += r.N
		}
	}
	if stages != draws || terminal != refusals || split != apart || apart == 0 || refusals == 0 {
		t.Errorf("draws %d of %d, refusals %d of %d, read apart %d of %d", stages, draws, terminal, refusals, split, apart)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := scoring.CaseNumber(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestBadPages: pages that do not belong or contradict themselves are refused.
func TestBadPages(t *testing.T) {
	s := evaluate(t, 2, 1, "judge", reporttest.Mixed("bad"))
	for name, spoil := range map[string]func(p *contract.DialoguesDoc){
		"format":     func(p *contract.DialoguesDoc) { p.Format = "x" },
		"evaluation": func(p *contract.DialoguesDoc) { p.Evaluation = "other/x" },
		"path":       func(p *contract.DialoguesDoc) { p.Path = cxreasonbench.RePath1 },
		"twice":      func(p *contract.DialoguesDoc) { p.Dialogues = append(p.Dialogues, p.Dialogues[0]) },
		"turns":      func(p *contract.DialoguesDoc) { p.Dialogues[0].Turns = p.Dialogues[0].Turns[:0] },
		"end":        func(p *contract.DialoguesDoc) { p.Dialogues[0].End = cxreasonbench.EndNoReview },
	} {
		page := s.read(t)[0]
		spoil(page)
		if scoring.New(s.ref).Add(page) == nil {
			t.Errorf("%s: the page is accepted", name)
		}
	}
}

// TestScoringTime counts 40,000 dialogues from their stored documents in less than 10 s of
// one processor, which is what a machine with nothing else to do needs.
func TestScoringTime(t *testing.T) {
	if testing.Short() {
		t.Skip("counts 40,000 dialogues")
	}
	s := evaluate(t, 100, 1, "judge", reporttest.Mixed("many"))
	one := 0
	for _, p := range s.pages {
		one += len(p.Dialogues)
	}
	begin, n := processorTime(t), 0
	for n < 40000 {
		e := s.count(t, s.read(t))
		_ = e.Summary(contract.SummaryModel{}, "greedy", scoring.Bootstrap{})
		n += one
	}
	took := processorTime(t) - begin
	t.Logf("%d dialogues read, counted and scored in %s of processor time", n, took.Round(time.Millisecond))
	if took > 10*time.Second {
		t.Errorf("%s for %d dialogues, want less than 10 s", took, n)
	}
}

func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
