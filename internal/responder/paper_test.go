package responder

import (
	"testing"

	"cxrepro/internal/claims"
	"cxrepro/internal/cxreasonbench"
)

// TestPaperTables holds that a model with the published tables comes to the published
// figures, cell by cell, wherever numbers of cases explain them. Every reply is written and
// read on the way.
func TestPaperTables(t *testing.T) {
	m := makeBenchmark(t, cxreasonbench.Corrected, 100)
	p, err := claims.PaperFigures()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(PaperModels()); n != 10 {
		t.Errorf("%d models, the paper has 10", n)
	}
	for _, name := range PaperModels() {
		for _, sampling := range cxreasonbench.Samplings() {
			t.Run(name+"/"+sampling.String(), func(t *testing.T) {
				t.Parallel()
				s := serve(t, m, nil, Model{Name: "m", Behaviour: Exact, Paper: name, Dissent: 0.3})
				played, err := s.Play("m", m.rules, sampling.Draws(), 1)
				if err != nil {
					t.Fatal(err)
				}
				comparePublished(t, m.rules, p, played, name, sampling)
			})
		}
	}
}

func comparePublished(t *testing.T, rules cxreasonbench.Rules, p *cxreasonbench.Published, played Played, name string, s cxreasonbench.Sampling) {
	t.Helper()
	cells := 0
	for _, path := range cxreasonbench.Paths() {
		scores := cxreasonbench.ScorePath(rules, path, played[path])
		for _, task := range cxreasonbench.Tasks() {
			for _, c := range scores.Tasks[task].Cells {
				at := cxreasonbench.Place{Model: name, Sampling: s, Path: path, Row: task.String(), Column: c.Column}
				want, ok := p.Figure(at)
				if !ok || claims.Contradiction(at) != "" {
					continue
				}
				cells++
				if got := c.Plain; got.Known != want.Known || got.Known && got.Value != want.Value {
					t.Errorf("%s %s %s: got %v, %v, published %s", path, task, c.Column, got.Known, got.Value, want)
				}
				if got := c.Refined; want.HasRefined && got.Value != want.Refined {
					t.Errorf("%s %s %s: got (%v), published %s", path, task, c.Column, got.Value, want)
				}
			}
		}
	}
	if cells < 90 {
		t.Errorf("%d cells compared", cells)
	}
}
