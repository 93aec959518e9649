package claims

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
)

// TallyTable counts the verdicts by the place where the claims are printed. The tables of the
// paper that repeat figures of others count them too; the last row counts each claim once.
func (c *Checked) TallyTable() *report.Table {
	t := &report.Table{Title: "Claims by verdict", Name: "claims", Columns: []report.Column{{Name: "printed in"}, {Name: "claims", Right: true}}}
	for _, v := range report.Verdicts() {
		t.Columns = append(t.Columns, report.Column{Name: v.String(), Right: true})
	}
	add := func(head bool, name string, of func(*Result) bool) {
		n, all := map[report.Verdict]int{}, 0
		for i := range c.Results {
			if of(&c.Results[i]) {
				n[c.Results[i].Verdict]++
				all++
			}
		}
		if all == 0 {
			return
		}
		row := []report.Cell{report.Text(name), report.Text(report.Number(all))}
		for _, v := range report.Verdicts() {
			text := ""
			if n[v] > 0 {
				text = report.Number(n[v])
			}
			row = append(row, report.Text(text))
		}
		t.Rows = append(t.Rows, report.Row{Head: head, Cells: row})
	}
	for _, n := range cxreasonbench.TableNumbers() {
		title, _ := cxreasonbench.TableTitle(n)
		add(n == firstWhole, title, func(r *Result) bool { return r.Claim.In(n) })
	}
	for _, x := range []struct{ name, prefix string }{
		{"CXReasonBench, questions", "benchmark/"}, {"CXReasonBench, text", "text/"}, {"CheXStruct, counts", "chexstruct/"}, {"X-Ragent", "xragent/"},
	} {
		add(false, x.name, func(r *Result) bool { return strings.HasPrefix(r.Claim.ID, x.prefix) })
	}
	add(true, "each claim once", func(*Result) bool { return true })
	t.Notes = append(t.Notes, "k/n below: right answers of cases, of a depth stages of cases, of a mean over tasks those with a value of all. flips: pairs of replies to one question with different scores, of all such pairs.")
	return t
}

// Shown are the verdicts that are listed; none lists all.
type Shown []report.Verdict

func (s Shown) has(v report.Verdict) bool { return len(s) == 0 || slices.Contains(s, v) }

// Lists lists results, a table for each table of the paper and for each other source.
func Lists(results []Result, s Shown) ([]*report.Table, error) {
	var out []*report.Table
	at := map[string]*report.Table{}
	for i := range results {
		r := &results[i]
		if !s.has(r.Verdict) {
			continue
		}
		source := r.Claim.Group()
		t := at[source]
		if t == nil {
			t = &report.Table{Title: source, Columns: []report.Column{
				{Name: "cell"}, {Name: "published", Right: true}, {Name: "ours", Right: true}, {Name: "k/n", Right: true}, {Name: "interval", Right: true},
				{Name: "flips", Right: true}, {Name: "verdict"}, {Name: "behind the published figure"}}}
			at[source] = t
			out = append(out, t)
		}
		b, err := r.Claim.Behind()
		if err != nil {
			return nil, err
		}
		row := []report.Cell{report.Text(r.Claim.ID)}
		for _, text := range []string{r.Claim.Printed, r.Ours, r.kn(), r.interval(), r.noise(), r.verdict(), b.Words()} {
			row = append(row, report.Text(text))
		}
		t.Rows = append(t.Rows, report.Row{Cells: row})
	}
	return out, nil
}

// verdict is the verdict with its reason, where that says more.
func (r *Result) verdict() string {
	if r.Why == "" || r.Why == outside {
		return r.Verdict.String()
	}
	return r.Verdict.String() + ": " + r.Why
}

// RelationTable lists orders and sums that the papers state.
func (c *Checked) RelationTable() *report.Table {
	t := &report.Table{Title: "Orders and sums that the papers state", Name: "relations", Columns: []report.Column{{Name: "name"}, {Name: "state"}, {Name: "says"}}}
	for _, r := range c.Relations {
		state := string(r.State)
		if r.Why != "" {
			state += ": " + r.Why
		}
		t.Add(report.Text(r.ID), report.Text(state), report.Text(r.Text))
	}
	return t
}

func (r *Result) kn() string {
	if !r.Known || r.Counted.N == 0 {
		return ""
	}
	return strconv.Itoa(r.Counted.K) + "/" + strconv.Itoa(r.Counted.N)
}

// interval is what the published figure was compared with.
func (r *Result) interval() string {
	text := span(r.Interval.Plain)
	if refined := span(r.Interval.Refined); r.Claim.RefinedFormula != "" && refined != "" {
		text += " (" + refined + ")"
	}
	return text
}

func span(i cxreasonbench.Interval) string {
	if !i.Known {
		return ""
	}
	return fmt.Sprintf("%.2f to %.2f", i.Low, i.High)
}

// noise is the flip rate in words.
func (r *Result) noise() string {
	if r.Flips == nil {
		return "not measured"
	}
	return report.Percent(r.Flips.Pairs.K, r.Flips.Pairs.N)
}
