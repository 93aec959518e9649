package responder

import (
	"fmt"

	"cxrepro/internal/cxreasonbench"
)

// allOfThem is the name for every task, or for both ways of sampling.
const allOfThem = "all"

// Table says how the cases of one task fare. An absent path has nobody succeed in it.
type Table struct {
	Path1   *Numbers `yaml:"path1,omitempty"`
	Path2   *Numbers `yaml:"path2,omitempty"`
	RePath1 *Numbers `yaml:"re_path1,omitempty"`
}

// Numbers are how many cases get through each stage of a path: with Cases, numbers out of so
// many cases; without, shares of those that are asked at the stage.
//
// With Cases each is a count of cases: in Path 1 of all, of which Unknown answer "I don't
// know" and Rejected reject the refined criterion; in Path 2 of those that came to it; in the
// re-evaluation of those whose guidance ended right, of which Initial answer the first
// question right. Criteria, Structures, Measurement and Final are the cases right at that
// stage and all before. Consistent of the cases right at the measurement tell a value in
// their range. In Path 1 Initial have the first question right, Aligned of them the last, too.
//
// As shares: Rejected is of those right at the criterion, Consistent of those right at the
// measurement, Aligned of those right at the last question, and Initial of Path 1 of those
// that are not.
//
// RightConsistent, where it is given, are those of Consistent that are right at the last question
// too; as a share, of those right there. Without, being right and consistent have nothing to do
// with each other.
type Numbers struct {
	Cases       float64 `yaml:"cases,omitempty"`
	Unknown     float64 `yaml:"unknown,omitempty"`
	Initial     float64 `yaml:"initial,omitempty"`
	Criteria    float64 `yaml:"criteria,omitempty"`
	Rejected    float64 `yaml:"rejected,omitempty"`
	Structures  float64 `yaml:"structures,omitempty"`
	Measurement float64 `yaml:"measurement,omitempty"`
	Final       float64 `yaml:"final,omitempty"`
	Consistent  float64 `yaml:"consistent,omitempty"`
	Aligned     float64 `yaml:"aligned,omitempty"`

	RightConsistent *float64 `yaml:"right_consistent,omitempty"`
}

// of returns the numbers of a path; those of an absent path are all zero.
func (t Table) of(p cxreasonbench.Path) Numbers {
	n := map[cxreasonbench.Path]*Numbers{cxreasonbench.Path1: t.Path1, cxreasonbench.Path2: t.Path2, cxreasonbench.RePath1: t.RePath1}[p]
	if n == nil {
		return Numbers{}
	}
	return *n
}

func (t Table) check(c *checker, at string) {
	for _, p := range cxreasonbench.Paths() {
		n, field := t.of(p), at+"."+p.String()
		if n.Cases > 0 {
			n.checkCounts(c, field, p)
		}
		o := n.odds(p)
		for _, x := range []struct {
			name string
			v    float64
		}{
			{"unknown", o.unknown}, {"initial", o.initial}, {"criteria", o.criteria}, {"rejected", o.rejected}, {"structures", o.structures},
			{"measurement", o.measurement}, {"final", o.final}, {"consistent", o.consistent}, {"aligned", o.aligned},
			{"right_consistent", o.ifRight}, {"consistent", o.ifWrong},
		} {
			if x.v < 0 || x.v > 1 {
				c.Add(field+"."+x.name, "is a share of %v of those that are asked, want 0 to 1", x.v)
			}
		}
	}
}

func (n Numbers) checkCounts(c *checker, field string, p cxreasonbench.Path) {
	both := 0.0
	if n.RightConsistent != nil {
		both = *n.RightConsistent
	}
	for _, x := range []struct {
		name string
		v    float64
	}{
		{"cases", n.Cases}, {"unknown", n.Unknown}, {"initial", n.Initial}, {"criteria", n.Criteria}, {"rejected", n.Rejected}, {"structures", n.Structures},
		{"measurement", n.Measurement}, {"final", n.Final}, {"consistent", n.Consistent}, {"aligned", n.Aligned}, {"right_consistent", both},
	} {
		if x.v != float64(int(x.v)) {
			c.Add(field+"."+x.name, "is %v; with cases, want numbers of cases", x.v)
		}
	}
	steps := []float64{n.Cases, n.Structures, n.Measurement, n.Final}
	if p != cxreasonbench.Path2 {
		entered := n.Cases - n.Unknown
		if p == cxreasonbench.RePath1 {
			entered = n.Initial
		}
		steps = []float64{n.Cases, entered, n.Criteria, n.Criteria - n.Rejected, n.Structures, n.Measurement, n.Final}
	}
	for i := 1; i < len(steps); i++ {
		if steps[i] > steps[i-1] {
			c.Add(field, "%v cases after %v: no stage lets more pass than reach it", steps[i], steps[i-1])
		}
	}
}

// odds are the probabilities of the outcomes of those that are asked.
type odds struct {
	unknown, initial, criteria, rejected, structures, measurement, final, consistent, aligned float64
	// apart: ifRight are the consistent of those right at the last question, ifWrong of the
	// others, and consistent says nothing.
	apart            bool
	ifRight, ifWrong float64
}

// odds turns counts into shares.
func (n Numbers) odds(p cxreasonbench.Path) odds {
	if n.Cases == 0 {
		o := odds{unknown: n.Unknown, initial: n.Initial, criteria: n.Criteria, rejected: n.Rejected, structures: n.Structures,
			measurement: n.Measurement, final: n.Final, consistent: n.Consistent, aligned: n.Aligned}
		if n.RightConsistent != nil {
			o.apart, o.ifRight = true, *n.RightConsistent
			o.ifWrong = ratio(n.Consistent-float64(n.Final*o.ifRight), 1-n.Final)
		}
		return o
	}
	o := odds{
		measurement: ratio(n.Measurement, n.Structures), final: ratio(n.Final, n.Measurement), consistent: ratio(n.Consistent, n.Measurement),
	}
	if n.RightConsistent != nil {
		o.apart, o.ifRight = true, ratio(*n.RightConsistent, n.Final)
		o.ifWrong = ratio(n.Consistent-*n.RightConsistent, n.Measurement-n.Final)
	}
	switch p {
	case cxreasonbench.Path1:
		entered := n.Cases - n.Unknown
		o.unknown = ratio(n.Unknown, n.Cases)
		o.criteria = ratio(n.Criteria, entered)
		o.rejected = ratio(n.Rejected, n.Criteria)
		o.structures = ratio(n.Structures, n.Criteria-n.Rejected)
		o.aligned = ratio(n.Aligned, n.Final)
		o.initial = ratio(n.Initial-n.Aligned, entered-n.Final)
	case cxreasonbench.Path2:
		o.structures = ratio(n.Structures, n.Cases)
	case cxreasonbench.RePath1:
		o.initial = ratio(n.Initial, n.Cases)
		o.criteria = ratio(n.Criteria, n.Initial)
		o.structures = ratio(n.Structures, n.Criteria)
	}
	return o
}

// ratio is x of n; with nobody asked it is x itself, which the check refuses unless it is no
// more than a share.
func ratio(x, n float64) float64 {
	if n <= 0 {
		return x
	}
	return x / n
}

// tables returns the table of every task in one way of sampling. Where a model has tables of
// the other way only, they serve.
func (m *Model) tables(s cxreasonbench.Sampling) (map[cxreasonbench.Task]Table, error) {
	if m.Paper != "" {
		return PaperTables(m.Paper, s)
	}
	order := []string{"greedy", allOfThem, "draws3"}
	if s == cxreasonbench.Stochastic {
		order = []string{"draws3", allOfThem, "greedy"}
	}
	out := map[cxreasonbench.Task]Table{}
	for _, t := range cxreasonbench.Tasks() {
		table, ok := m.table(t.String(), order)
		if !ok {
			return nil, fmt.Errorf("responder: model %s: its tables say nothing of task %s", m.Name, t)
		}
		out[t] = table
	}
	return out, nil
}

func (m *Model) table(task string, order []string) (Table, bool) {
	for _, sampling := range order {
		for _, name := range []string{task, allOfThem} {
			if table, ok := m.Tables[sampling][name]; ok {
				return table, true
			}
		}
	}
	return Table{}, false
}
