package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
	"cxrepro/internal/report/scoring"
)

// unlikeCell is a figure that was recorded otherwise than it follows.
type unlikeCell struct {
	path cxreasonbench.Path
	// row is a task or a group; empty where it is no figure of a table.
	row          string
	what, detail string
}

// concerns reports whether the figure is made from a unit.
func (c unlikeCell) concerns(u *Unit) bool {
	path := c.path
	if path == cxreasonbench.RePath1 {
		path = cxreasonbench.Path2
	}
	if c.row == "" {
		return true
	}
	if path != u.Path {
		return false
	}
	for _, g := range cxreasonbench.Groups() {
		if g.String() == c.row {
			return g.Has(u.Task)
		}
	}
	return c.row == u.Task.String()
}

// unlikeCells compares the figures of two summaries of one evaluation, and then the rest.
func unlikeCells(recorded, computed *contract.SummaryEvaluation) []unlikeCell {
	var out []unlikeCell
	rows := func(p cxreasonbench.Path, a, b []contract.SummaryRow) {
		for i := range a {
			if i >= len(b) || canonical(a[i]) == canonical(b[i]) {
				continue
			}
			found := len(out)
			for k, c := range a[i].Cells {
				if k < len(b[i].Cells) && canonical(c) != canonical(b[i].Cells[k]) {
					out = append(out, unlikeCell{p, a[i].Name, fmt.Sprintf("figure %s of %s on %s, %s", c.Column, a[i].Name, p, recorded.Name),
						fmt.Sprintf("recorded is %s, from the pages follows %s", figureWords(c.Plain), figureWords(b[i].Cells[k].Plain))})
				}
			}
			if len(out) == found {
				out = append(out, unlikeCell{p, a[i].Name, fmt.Sprintf("counts of %s on %s, %s", a[i].Name, p, recorded.Name), "they are not those that follow from the pages"})
			}
		}
	}
	for i, p := range recorded.Paths {
		if i < len(computed.Paths) {
			rows(p.Path, p.Tasks, computed.Paths[i].Tasks)
			rows(p.Path, p.Groups, computed.Paths[i].Groups)
		}
	}
	if len(out) == 0 && canonical(recorded) != canonical(computed) {
		out = append(out, unlikeCell{what: "what the tables say of " + recorded.Name, detail: "it is not what follows from the pages"})
	}
	return out
}

func figureWords(f contract.SummaryFigure) string {
	if f.Value == nil {
		return "none (" + f.Why + ")"
	}
	return fmt.Sprintf("%.2f (k %d, n %d)", *f.Value, f.K, f.N)
}

// tables says of every table and cell how far it comes: as far as the units that are behind it.
func (v *verifier) tables(ctx context.Context) error {
	v.out.Level = Images
	if len(v.out.Units) == 0 {
		v.out.Level = Bytes
	}
	for _, u := range v.out.Units {
		v.out.Level = min(v.out.Level, u.Level)
	}
	if u := v.findings(); u != nil {
		if err := v.table6(ctx, *u); err != nil {
			return err
		}
	}
	if v.audit.Evaluations() == 0 {
		return nil
	}
	summary, err := v.audit.Summary(ctx)
	if err != nil {
		return v.unreadable(err)
	}
	var list []cxreasonbench.Evaluation
	for i := range summary.Evaluations {
		list = append(list, scoring.Scored(summary.Rules, &summary.Evaluations[i]))
	}
	units := map[unitKey]*Unit{}
	for i := range v.out.Units {
		u := &v.out.Units[i]
		units[unitKey{u.Evaluation, u.Path, u.Task}] = u
	}
	for _, r := range cxreasonbench.Cells(list) {
		v.cell(r.Ref, lowest(units, r))
	}
	return nil
}

type unitKey struct {
	evaluation int
	path       cxreasonbench.Path
	task       cxreasonbench.Task
}

// lowest is the unit that holds a cell back: a re-evaluation goes on from Path 2, and Path 2
// from Path 1.
func lowest(units map[unitKey]*Unit, r cxreasonbench.CellRef) *Unit {
	var out *Unit
	paths := []cxreasonbench.Path{cxreasonbench.Path1}
	if r.Path != cxreasonbench.Path1 {
		paths = append(paths, cxreasonbench.Path2)
	}
	for _, t := range r.Tasks() {
		for _, p := range paths {
			if u := units[unitKey{r.Evaluation, p, t}]; u != nil && (out == nil || u.Level < out.Level) {
				out = u
			}
		}
	}
	return out
}

// cell adds a cell to its table.
func (v *verifier) cell(ref report.Ref, u *Unit) {
	if u == nil {
		return // nothing of it was asked
	}
	v.out.Cells = append(v.out.Cells, Cell{Ref: ref.String(), Level: u.Level, Why: u.Why})
	i := slices.IndexFunc(v.out.Tables, func(t Table) bool { return t.Table == ref.Table })
	if i < 0 {
		i = len(v.out.Tables)
		v.out.Tables = append(v.out.Tables, Table{Table: ref.Table, Level: Images})
	}
	t := &v.out.Tables[i]
	t.Cells++
	if u.Level < t.Level || t.Why == "" && u.Level == t.Level {
		t.Level, t.Why = u.Level, u.Why
	}
}

// table6 adds the paper's Table 6: of each task its labels and their sum.
func (v *verifier) table6(ctx context.Context, u Unit) error {
	s, err := v.audit.FindingsTables(ctx)
	if err != nil {
		return v.unreadable(err)
	}
	for _, t := range s.Tasks {
		row := []string{strings.ReplaceAll(t.Task, "_", " ")}
		v.cell(report.NewRef(6, row, "total"), &u)
		for _, l := range t.Labels {
			v.cell(report.NewRef(6, row, l.Label), &u)
		}
	}
	return nil
}
