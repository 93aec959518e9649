package claims

import (
	"fmt"
	"maps"
	"slices"

	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/dataset"
	"cxrepro/internal/report"
	"cxrepro/internal/stats"
)

// Names of formulas of counts.
const (
	formulaKept      = "kept"
	formulaLabelled  = "labelled"
	formulaLabel     = "label_share"
	formulaOverlap   = "mean_overlap"
	formulaQuestions = "questions"
)

// findingSpec is the spec whose expected figures are the published counts of CheXStruct: they lie
// there because the summary of a run names them.
const findingSpec = "chexstruct/spec.yaml"

// FindingClaims returns the published counts of CheXStruct, with those that they are of.
//
// Source: [paper] table 6 and appendix A.3.1, as the experiment's spec states them.
func FindingClaims() (list []Claim, counts []stats.Proportion, err error) {
	data, err := experiments.Files.ReadFile(findingSpec)
	if err != nil {
		return nil, nil, fmt.Errorf("claims: %w", err)
	}
	spec, err := experiments.Parse(findingSpec, data)
	if err != nil {
		return nil, nil, err
	}
	e := spec.Expected
	add := func(id, formula, of string, k, n int) {
		list = append(list, Claim{
			ID: id, Paper: CheXStruct, Source: e.Source, Printed: report.Number(k), Formula: formula,
			Population: of, Rounding: "a count",
		})
		counts = append(counts, stats.Proportion{K: k, N: n})
	}
	add("chexstruct/kept", formulaKept, "dataset=mimic-cxr-jpg view=PA,AP: images", e.Kept, e.Images)
	add("chexstruct/removed", formulaKept, "dataset=mimic-cxr-jpg view=PA,AP: images", e.Images-e.Kept, e.Images)
	for _, t := range e.Tasks {
		add(contract.LabelRef(t.Task, "").String(), formulaLabelled, "task="+t.Task+": images kept by the global filter", t.Total, e.Kept)
		for _, l := range slices.Sorted(maps.Keys(t.Labels)) {
			add(contract.LabelRef(t.Task, l).String(), formulaLabel, "task="+t.Task+": images with a label", t.Labels[l], t.Total)
		}
	}
	return list, counts, nil
}

// findings checks the published counts against the tables of a run that names them.
func (c *Checked) findings(s *contract.Summary) error {
	list, counts, err := FindingClaims()
	if err != nil {
		return err
	}
	overlaps, err := OverlapClaims()
	if err != nil {
		return err
	}
	for _, claim := range overlaps {
		c.other(claim, "overlaps of masks are measured by `cxrepro segment eval`, not by a reproduction")
	}
	if s == nil || s.Expected == "" {
		for _, claim := range list {
			c.other(claim, "the spec of this reproduction states no published counts: it is over other images")
		}
		return nil
	}
	ours := countsOf(s)
	for i, claim := range list {
		r := Result{Claim: claim, Evaluation: -1}
		p, ok := ours[claim.ID]
		if !ok {
			r.Verdict, r.Why = report.NotComputable, "this run has no such count"
			c.Results = append(c.Results, r)
			continue
		}
		cell := report.Share(p.K, p.N, claim.Formula).Against(report.Published{K: counts[i].K, N: counts[i].N})
		r.Ours, r.Known, r.Counted, r.Verdict = report.Number(p.K), true, p, cell.Verdict
		if r.Verdict == report.NotComputable {
			r.Why = "nothing is counted"
		}
		c.Results = append(c.Results, r)
	}
	return nil
}

// countsOf are our counts by the names of the claims.
func countsOf(s *contract.Summary) map[string]stats.Proportion {
	out := map[string]stats.Proportion{
		"chexstruct/kept":    {K: s.Global.Kept, N: s.Images.Images},
		"chexstruct/removed": {K: s.Global.Removed, N: s.Images.Images},
	}
	for _, l := range s.Labels() {
		out[l.Ref.String()] = stats.Proportion{K: l.K, N: l.N}
	}
	return out
}

// OverlapClaims returns the published overlaps of masks.
func OverlapClaims() ([]Claim, error) {
	o, err := PublishedOverlaps()
	if err != nil {
		return nil, err
	}
	var list []Claim
	for _, r := range o.Rows {
		for _, x := range []struct {
			name  string
			value float64
		}{{"f1", r.F1}, {"iou", r.IoU}, {"dice", r.Dice}} {
			id := report.NewRef(overlapTable, []string{r.Structure}, x.name).String()
			list = append(list, Claim{
				ID: id, Cells: []string{id}, Paper: CheXStruct, Source: o.Source, Printed: fmt.Sprintf("%.2f", x.value),
				Formula: formulaOverlap, Population: "structure=" + r.Structure + ": pictures of the test set", Rounding: "two decimals",
			})
		}
	}
	return list, nil
}

// overlapTable is the number of the paper's table of overlaps.
const overlapTable = 7

// benchmark checks the numbers of cases and questions of the released benchmark.
func (c *Checked) benchmark(in Input) {
	want := dataset.CXRBRelease
	var cases int
	var t cxreasonbench.Tally
	whole := in.Summary != nil && in.Tally != nil && in.Released && in.Summary.Benchmark.Cases == want.Cases
	if whole {
		cases, t = in.Summary.Benchmark.Cases, *in.Tally
	}
	for _, x := range []struct {
		name, of string
		k, ours  int
	}{
		{"cases", "cases of the release", want.Cases, cases}, {"path1", "rounds of Path 1", want.Path1, t.Path1}, {"path2", "stages of Path 2", want.Path2, t.Path2},
		{"re_path1", "rounds of the re-evaluated Path 1", want.RePath1, t.RePath1}, {"pairs", "question-answer pairs in all", want.Pairs(), t.Pairs()},
	} {
		claim := Claim{ID: "benchmark/" + x.name, Paper: CXReasonBench, Source: "the text on the benchmark", Printed: report.Number(x.k), Formula: formulaQuestions, Population: x.of, Rounding: "a count"}
		if !whole {
			c.other(claim, "the numbers of questions are of the whole released benchmark, which was not asked")
			continue
		}
		c.Results = append(c.Results, Result{
			Claim: claim, Evaluation: -1, Ours: report.Number(x.ours), Known: true, Counted: stats.Proportion{K: x.ours, N: x.ours},
			Verdict: report.Count(x.ours, formulaQuestions).Against(report.Published{K: x.k}).Verdict,
		})
	}
}
