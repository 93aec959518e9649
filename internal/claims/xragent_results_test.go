package claims

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"cxrepro/internal/report"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/analysis"
	"cxrepro/internal/xragent/bench"
	"cxrepro/internal/xragent/benchtest"
	"cxrepro/internal/xragent/tables"
)

// agentFiles is a fixture in memory.
type agentFiles fstest.MapFS

func (f agentFiles) WriteFile(name string, data []byte) error {
	if f[name] != nil {
		return errors.New("written twice")
	}
	f[name] = &fstest.MapFile{Data: data}
	return nil
}

// agentItems are the questions of all three benchmarks at full size.
func agentItems(t *testing.T) []xragent.Item {
	t.Helper()
	var out []xragent.Item
	for _, b := range bench.Benchmarks() {
		f := agentFiles{}
		if err := bench.Fixture(b, bench.FixtureOptions{Seed: 1, Long: 160}, f); err != nil {
			t.Fatal(err)
		}
		var fsys fs.FS = fstest.MapFS(f)
		set, err := bench.Import(b, fsys, bench.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, set.Items...)
	}
	return out
}

// TestAgentFromOutcomes: outcomes of every configuration at full size, played with the paper's
// shares, give a verdict for every claim that outcomes can tell, none of the headline figures is off,
// and the tables print the verdicts of the claims.
func TestAgentFromOutcomes(t *testing.T) {
	items := agentItems(t)
	a, err := analysis.New(items, benchtest.Outcomes(items, benchtest.Paper(), 1, 3))
	if err != nil {
		t.Fatal(err)
	}
	figures := a.Figures()
	c, err := Check(Input{Agent: ResultsOf(figures)})
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[report.Verdict]int{}
	for _, r := range c.Results {
		if r.Claim.Paper != XRagent {
			continue
		}
		verdicts[r.Verdict]++
		id := strings.TrimPrefix(r.Claim.ID, "xragent/")
		f, told := figures[id]
		if told && f.Known && r.Verdict == report.NotComputable {
			t.Errorf("%s: we have %v, and no verdict: %s", id, f.Value, r.Why)
		}
		if !told && r.Verdict != report.NotComputable {
			t.Errorf("%s: %s without a figure of ours", id, r.Verdict)
		}
		for _, headline := range []string{"main.cab", "main.chexbench.macro", "main.slake", "base.chestagentbench", "base.chexbench_macro", "base.slake", "bench.", "integrity.", "derived.bench."} {
			if strings.HasPrefix(id, headline) && r.Verdict == report.Off {
				t.Errorf("%s: %s against %s is off: %s", id, r.Ours, r.Claim.Printed, r.Why)
			}
		}
	}
	if verdicts[report.Reproduced] < 20 || verdicts[report.WithinNoise] < 20 {
		t.Errorf("verdicts %v", verdicts)
	}
	for _, r := range c.Relations {
		if strings.HasPrefix(r.ID, "xragent/") && r.State == CannotBeTold {
			t.Errorf("%s: %s", r.ID, r.Why)
		}
	}
	list, err := tables.All(tables.Input{Analysis: a, Figures: figures, Beside: c})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range list {
		if table.Name != "table-1" {
			continue
		}
		i := slices.IndexFunc(table.Rows, func(r report.Row) bool { return r.Cells[0].String() == "X-Ragent" })
		ours, paper := table.Rows[i].Cells[2], table.Rows[i+1].Cells[2]
		if x, _ := c.Figure("main.cab.all"); paper.String() != "71.7" || ours.Verdict != x.Verdict || ours.Verdict == 0 {
			t.Errorf("beside ours stands %s with %s", paper, ours.Verdict)
		}
	}
	if k, err := c.Constants(); err != nil || len(k) != 24 {
		t.Errorf("%d constants, %v", len(k), err)
	}
}

// TestAgentOpen: a figure with open questions has no verdict, not even where it is equal as printed.
func TestAgentOpen(t *testing.T) {
	var items []xragent.Item
	var outcomes []xragent.Outcome
	for i := range 114 {
		id := fmt.Sprintf("slake_closed/%d", i)
		items = append(items, xragent.Item{ID: id, Question: xragent.Question{Type: xragent.YesNo, Text: "?", Key: "Yes"}})
		o := xragent.Outcome{Item: id, Config: analysis.Default, Answer: "No"}
		if i < 106 {
			o.Answer, o.Correct = "Yes", true
		}
		outcomes = append(outcomes, o)
	}
	verdict := func(in Input) (report.Verdict, string) {
		t.Helper()
		c, err := Check(in)
		if err != nil {
			t.Fatal(err)
		}
		x, ok := c.Figure("main.slake")
		if !ok {
			t.Fatal("no main.slake")
		}
		return x.Verdict, x.Why
	}
	results := func(list []xragent.Outcome) AgentResults {
		t.Helper()
		a, err := analysis.New(items, list)
		if err != nil {
			t.Fatal(err)
		}
		return ResultsOf(a.Figures())
	}
	if v, why := verdict(Input{Agent: results(outcomes)}); v != report.Reproduced {
		t.Errorf("106 of 114: %s, %s", v, why)
	}
	if v, _ := verdict(Input{Agent: results(outcomes[:113])}); v != report.Undetermined {
		t.Errorf("one question without an outcome: %s", v)
	}
	if v, why := verdict(Input{Agent: results(outcomes), AgentBlocked: "12 images"}); v != report.NotComputable || why != "blocked: 12 images" {
		t.Errorf("blocked: %s, %s", v, why)
	}
}
