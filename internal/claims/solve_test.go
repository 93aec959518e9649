package claims

import (
	"strings"
	"testing"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/stats"
)

// contradictions are the rows of Path 2 that began with other cases than Path 1 sent there.
//
// Source: cxreasonbench facts, checks done: 14 of 240 rows, eleven of them of Pixtral-12B with
// three draws, whose runs did not end.
const contradictions = 14

// TestPaperRows: whole numbers explain every published row by itself, nearly always one set of
// them, and all but the known rows agree with the paths before.
func TestPaperRows(t *testing.T) {
	p, err := PaperFigures()
	if err != nil {
		t.Fatal(err)
	}
	rows, several, apart, unfinished := 0, 0, 0, 0
	for _, m := range p.Models() {
		for _, s := range cxreasonbench.Samplings() {
			for _, task := range cxreasonbench.Tasks() {
				r, err := PaperRows(m, s, task)
				if err != nil {
					t.Fatal(err)
				}
				for _, path := range cxreasonbench.Paths() {
					rows++
					if len(r.Alone[path]) == 0 || len(r.Joint[path]) == 0 {
						t.Errorf("%s %s %s %s: no numbers give the printed row", m, s, task, path)
					}
					if len(r.Joint[path]) > 1 {
						several++
					}
					if why := r.Contradiction[path]; why != "" {
						apart++
						if path != cxreasonbench.Path2 || !strings.HasPrefix(why, "Path 1 as printed sends ") {
							t.Errorf("%s %s %s %s: %s", m, s, task, path, why)
						}
						if m == "Pixtral-12B" && s == cxreasonbench.Stochastic {
							unfinished++
						}
					}
				}
			}
		}
	}
	if rows != 720 || several != 14 || apart != contradictions || unfinished != 11 {
		t.Errorf("%d rows, %d with several solutions, %d contradictory, %d of those of the runs that did not end", rows, several, apart, unfinished)
	}
	if _, err := PaperRows("Pixtral", cxreasonbench.Greedy, chexstruct.Rotation); err == nil || !strings.Contains(err.Error(), "Pixtral-12B") {
		t.Errorf("another model: %v", err)
	}
}

// TestSolve: counts are found again from what they print, among all solutions; a row that no
// counts print has none.
func TestSolve(t *testing.T) {
	for _, c := range []struct {
		path cxreasonbench.Path
		task cxreasonbench.Task
		n    cxreasonbench.Counts
	}{
		{cxreasonbench.Path1, chexstruct.Projection, cxreasonbench.Counts{Entered: 71, Unknown: 29, Rejected: 12, Right: [4]int{60, 31, 17, 9}, Checked: 17, Consistent: 11, RightConsistent: 7, Aligned: 5}},
		{cxreasonbench.Path1, chexstruct.Inclusion, cxreasonbench.Counts{Entered: 100, Right: [4]int{100, 99, 98, 97}, Aligned: 97}},
		{cxreasonbench.Path2, chexstruct.CarinaAngle, cxreasonbench.Counts{Entered: 14, Right: [4]int{13, 9, 4}, Checked: 9, Consistent: 3, RightConsistent: 1}},
		{cxreasonbench.RePath1, chexstruct.Rotation, cxreasonbench.Counts{Entered: 6, Right: [4]int{5, 5, 2, 0}, Checked: 2, Consistent: 2}},
		{cxreasonbench.RePath1, chexstruct.Inspiration, cxreasonbench.Counts{}},
	} {
		r := printedOf(c.task, c.path, c.n)
		found := false
		for _, s := range r.solve() {
			same, all := r.matches(s)
			if same != all {
				t.Errorf("%s %s: %+v prints %d of %d figures", c.path, c.task, s, same, all)
			}
			found = found || s == c.n
		}
		if !found {
			t.Errorf("%s %s: %+v is not among the solutions", c.path, c.task, c.n)
		}
		if c.n.Entered == 0 {
			continue
		}
		depth := r.cells[cxreasonbench.Depth]
		depth.value += 7
		r.cells[cxreasonbench.Depth] = depth
		for _, s := range r.solve() {
			if s == c.n {
				t.Errorf("%s %s: %+v gives another depth", c.path, c.task, s)
			}
		}
	}
}

// printedOf is the row that counts print, every cell of it.
func printedOf(task cxreasonbench.Task, path cxreasonbench.Path, n cxreasonbench.Counts) printedRow {
	r := printedRow{path, task, map[cxreasonbench.Column]printed{}, map[cxreasonbench.Column]printed{}}
	for _, c := range cxreasonbench.TaskRow(released(), task, path, n).Cells {
		r.cells[c.Column] = printed{c.Column != cxreasonbench.Initial, c.Plain.Known, hundredths(c.Plain.Value)}
		if cxreasonbench.Refines(path, c.Column) && cxreasonbench.KindOf(task) == cxreasonbench.Measurement && c.Refined.Known {
			r.refined[c.Column] = printed{true, true, hundredths(c.Refined.Value)}
		}
	}
	return r
}

// TestLink: rows that agree with the path before stay, others contradict it.
func TestLink(t *testing.T) {
	row := func(one, two, again cxreasonbench.Counts) *Rows {
		r := &Rows{Joint: map[cxreasonbench.Path][]cxreasonbench.Counts{
			cxreasonbench.Path1: {one, {Entered: 50, Unknown: 50}}, cxreasonbench.Path2: {two, {Entered: 3}}, cxreasonbench.RePath1: {again},
		}, Contradiction: map[cxreasonbench.Path]string{}}
		r.link()
		return r
	}
	r := row(cxreasonbench.Counts{Entered: 90, Unknown: 10, Rejected: 2}, cxreasonbench.Counts{Entered: 12, Right: [4]int{9, 5, 4}}, cxreasonbench.Counts{Entered: 4})
	if len(r.Contradiction) != 0 || len(r.Joint[cxreasonbench.Path1]) != 1 || len(r.Joint[cxreasonbench.Path2]) != 1 {
		t.Errorf("%+v", r)
	}
	r = row(cxreasonbench.Counts{Entered: 90, Unknown: 10, Rejected: 2}, cxreasonbench.Counts{Entered: 11, Right: [4]int{9, 5, 4}}, cxreasonbench.Counts{Entered: 4})
	if why := r.Contradiction[cxreasonbench.Path2]; why != "Path 1 as printed sends 12 or 50 of the 100 cases to Path 2, whose printed row needs 3 or 11" {
		t.Errorf("%q", why)
	}
	r = row(cxreasonbench.Counts{Entered: 90, Unknown: 10, Rejected: 2}, cxreasonbench.Counts{Entered: 12, Right: [4]int{9, 5, 4}}, cxreasonbench.Counts{Entered: 5})
	if why := r.Contradiction[cxreasonbench.RePath1]; why != "Path 2 as printed ends 4 cases right, but the re-evaluation's row needs at least 5" {
		t.Errorf("%q", why)
	}
}

// TestBehind: what is unique is called so and nothing else, and every solution prints the figure.
func TestBehind(t *testing.T) {
	p, err := PaperFigures()
	if err != nil {
		t.Fatal(err)
	}
	unique, several, none := 0, 0, 0
	list, err := TableClaims()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		f, _ := p.Figure(c.place)
		b, err := c.Behind()
		if err != nil {
			t.Fatal(err)
		}
		words := b.Words()
		switch {
		case b.Unique:
			unique++
		case len(b.Solutions)+len(b.Tasks) > 0:
			several++
		default:
			none++
		}
		if b.Unique != strings.Contains(words, "unique") && len(b.Tasks) == 0 || b.Unique && len(b.Solutions) > 1 {
			t.Errorf("%s: unique %t, %q", c.ID, b.Unique, words)
		}
		if (len(b.Solutions)+len(b.Tasks) > 0) != f.Known {
			t.Errorf("%s: published %s, %q", c.ID, f, words)
		}
		for _, s := range b.Solutions {
			got := cxreasonbench.RoundNumpy(float64(s.K)/float64(s.N), 2)
			if c.Formula == cxreasonbench.FormulaAdjustedWilson {
				got = cxreasonbench.Proportion(released(), s.K, s.N).Value
			}
			if hundredths(got) != hundredths(f.Value) {
				t.Errorf("%s: %d/%d gives %v, published %s", c.ID, s.K, s.N, got, f)
			}
		}
	}
	t.Logf("%d unique, %d with several solutions, %d without", unique, several, none)
	if unique < 3000 || several == 0 || none == 0 {
		t.Errorf("%d unique, %d with several solutions, %d without", unique, several, none)
	}
	// 36.39 is 1 of 1 whatever stands around it. Source: cxreasonbench facts, anchors.
	if n := alone(cxreasonbench.Completion, cxreasonbench.PublishedFigure{Known: true, Value: 36.39}); n < 1 {
		t.Errorf("36.39 has %d solutions", n)
	}
	if ks := (printed{true, true, 7100}).ks(14); len(ks) != 1 || ks[0] != 13 {
		t.Errorf("71.0 of 14 is %v, want 13", ks)
	}
	if b, err := behindAgent("xragent/main.cab.all"); err != nil || len(b.Solutions) != 2 || b.Solutions[0] != (stats.Proportion{K: 1792, N: 2500}) || b.Unique {
		t.Errorf("71.7 of 2500: %+v, %v", b, err)
	}
	if b, err := behindAgent("xragent/gate.on.all"); err != nil || !b.Unique {
		t.Errorf("71.68 of 2500: %+v, %v", b, err)
	}
}
