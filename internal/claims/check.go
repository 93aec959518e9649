package claims

import (
	"slices"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
	"cxrepro/internal/report/scoring"
	"cxrepro/internal/stats"
)

// Input is what claims are checked against. Parts may be missing.
type Input struct {
	// Summary holds the figures of evaluations, Noise the decoding noise of each of them; a nil
	// Noise was not measured.
	Summary *contract.EvaluationSummary
	Noise   []*Noise
	// Blocked says of each evaluation why no claim about its model stands, because the model was
	// trained on what it is judged on; empty where claims stand.
	Blocked []string
	// Findings are the tables of CheXStruct.
	Findings *contract.Summary
	// Tally counts the questions of the benchmark, Released says that it is the published one.
	Tally    *cxreasonbench.Tally
	Released bool
	// Agent are results of X-Ragent by the ids of its figures; nil without. AgentBlocked says why no
	// claim about them stands, because a policy was trained on what it is judged on.
	Agent        AgentResults
	AgentBlocked string
	// Stated are figures that stand in no table of the paper.
	Stated *Stated
}

// Result is a claim with what came of it.
type Result struct {
	Claim Claim
	// Evaluation is the place of the evaluation in the summary; -1 without one.
	Evaluation int
	// Ours is our figure; Known says whether there is one.
	Ours    string
	Known   bool
	Counted stats.Proportion
	Verdict report.Verdict
	Why     string
	// Interval is what the published figure was compared with, widened where Flips were
	// measured; Cases is the one over cases alone.
	Interval, Cases cxreasonbench.CellInterval
	// Flips are the decoding noise behind the figure; nil where it was not measured.
	Flips *Flips
}

// Checked is what came of every claim: Results are those that the reproduction has something to say
// of, Others are not computable from it, with the reason.
type Checked struct {
	Results []Result
	Others  []Result
	// Text are the results of the figures that were stated beside the tables, in their order.
	Text []int
	// Relations are orders and sums that a paper states.
	Relations []Relation
	figures   *cxreasonbench.Published
	at        map[compared]int
}

type compared struct {
	evaluation int
	place      cxreasonbench.Place
}

// Check compares every claim that the input has something to say of with ours.
func Check(in Input) (*Checked, error) {
	figures, err := PaperFigures()
	if err != nil {
		return nil, err
	}
	c := &Checked{figures: figures, at: map[compared]int{}}
	asked := in.evaluated()
	if err := c.tables(in, asked); err != nil {
		return nil, err
	}
	c.benchmark(in)
	if err := c.findings(in.Findings); err != nil {
		return nil, err
	}
	c.stated(in, asked)
	return c, c.agent(in.Agent, in.AgentBlocked)
}

// tables checks the figures of the paper's tables, one result for each evaluation of the model.
func (c *Checked) tables(in Input, asked []*evaluated) error {
	list, err := TableClaims()
	if err != nil {
		return err
	}
	taken := map[int]bool{}
	for _, e := range asked {
		for k := range list {
			at := list[k].place
			if at.Model != e.scored.Model || at.Sampling != e.scored.Sampling || !e.asked(at.Path) {
				continue
			}
			taken[k] = true
			c.at[compared{e.index, at}] = len(c.Results)
			f, _ := c.figures.Figure(at)
			c.Results = append(c.Results, in.block(e.result(list[k], f)))
		}
	}
	for k := range list {
		if !taken[k] {
			c.other(list[k], notAsked(list[k].place, in.Summary))
		}
	}
	return nil
}

// block takes the verdict from a claim about a model that was trained on what it is judged on.
// Our figure stays to be seen; it is nothing to compare.
func (in Input) block(r Result) Result {
	if r.Evaluation >= 0 && r.Evaluation < len(in.Blocked) && in.Blocked[r.Evaluation] != "" {
		r.Verdict, r.Why = report.NotComputable, "blocked: "+in.Blocked[r.Evaluation]
	}
	return r
}

// other notes a claim that the reproduction has nothing to say of.
func (c *Checked) other(claim Claim, why string) {
	c.Others = append(c.Others, Result{Claim: claim, Evaluation: -1, Verdict: report.NotComputable, Why: why})
}

// notAsked says why there is nothing at a place.
func notAsked(at cxreasonbench.Place, s *contract.EvaluationSummary) string {
	if s == nil {
		return "no model was asked"
	}
	why := at.Model + " was not asked"
	for _, e := range s.Evaluations {
		if e.Model.Title != at.Model {
			continue
		}
		if (e.Draws > 1) == (at.Sampling == cxreasonbench.Stochastic) {
			return at.Model + " was not asked in " + cxreasonbench.PathTitle(at.Path)
		}
		why = at.Model + " was not asked in the " + at.Sampling.String() + " way"
	}
	return why
}

// evaluated is one evaluation as claims are checked against it.
type evaluated struct {
	index  int
	scored cxreasonbench.Evaluation
	rules  cxreasonbench.Rules
	noise  *Noise
	// open counts the cases without an outcome of each path and task.
	open map[openKey]int
}

type openKey struct {
	path cxreasonbench.Path
	task cxreasonbench.Task
}

// evaluated are the evaluations of the summary, each scored once; none without a summary.
func (in Input) evaluated() (list []*evaluated) {
	if in.Summary != nil {
		for i := range in.Summary.Evaluations {
			list = append(list, newEvaluated(in, i))
		}
	}
	return list
}

func newEvaluated(in Input, i int) *evaluated {
	s := &in.Summary.Evaluations[i]
	e := &evaluated{index: i, scored: scoring.Scored(in.Summary.Rules, s), rules: in.Summary.Rules, open: map[openKey]int{}}
	if i < len(in.Noise) {
		e.noise = in.Noise[i]
	}
	for _, u := range s.Undetermined {
		e.open[openKey{u.Path, u.Task}]++
		if u.Path == cxreasonbench.Path2 {
			e.open[openKey{cxreasonbench.RePath1, u.Task}]++
		}
	}
	for _, w := range s.Waiting {
		if t, ok := chexstruct.ParseTask(w.Name); ok {
			e.open[openKey{cxreasonbench.Path2, t}] += w.N
			e.open[openKey{cxreasonbench.RePath1, t}] += w.N
		}
	}
	return e
}

func (e *evaluated) asked(p cxreasonbench.Path) bool {
	return slices.ContainsFunc(e.scored.Paths, func(s cxreasonbench.PathScores) bool { return s.Path == p })
}

// result checks one claim about a place of the evaluation.
func (e *evaluated) result(c Claim, f cxreasonbench.PublishedFigure) Result {
	at := c.place
	r := Result{Claim: c, Evaluation: e.index}
	ours, err := e.scored.At(at)
	if err != nil {
		r.Verdict, r.Why = report.NotComputable, err.Error()
		return r
	}
	r.Ours, r.Known, r.Counted = cxreasonbench.Printed(ours.Cell, at.Refines()), ours.Plain.Known, stats.Proportion{K: ours.Plain.K, N: ours.Plain.N}
	r.Cases = ours.Interval
	in, flips, measured := e.noise.widen(at, ours, e.rules)
	if measured {
		r.Flips = &flips
	}
	r.Interval = in
	open := 0
	for _, t := range at.Tasks() {
		open += e.open[openKey{at.Path, t}]
	}
	if open > 0 {
		r.Verdict, r.Why = report.Undetermined, cxreasonbench.UndeterminedWords(open)
		return r
	}
	if r.Verdict, r.Why = judge(f, ours, in, at.Refines()); r.Verdict != report.Reproduced {
		if why := Contradiction(at); why != "" {
			r.Verdict, r.Why = report.NotComputable, "contradictory: "+why
		}
	}
	return r
}

// Has implements cxreasonbench.Beside.
func (c *Checked) Has(model string) bool { return c.figures.Has(model) }

// Compared implements cxreasonbench.Beside.
func (c *Checked) Compared(evaluation int, at cxreasonbench.Place) (x cxreasonbench.Comparison, ok bool) {
	i, ok := c.at[compared{evaluation, at}]
	if !ok {
		return x, false
	}
	r := &c.Results[i]
	return cxreasonbench.Comparison{Printed: r.Claim.Printed, Verdict: r.Verdict, Why: r.Why}, true
}

var _ cxreasonbench.Beside = (*Checked)(nil)

// Tally counts verdicts, each claim once; with numbers of tables, of the claims that those print.
func (c *Checked) Tally(tables ...int) map[report.Verdict]int {
	n := map[report.Verdict]int{}
	for _, r := range c.Results {
		if len(tables) == 0 || slices.ContainsFunc(tables, r.Claim.In) {
			n[r.Verdict]++
		}
	}
	return n
}
