package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/ledger"
)

// Words of a verdict.
const (
	VerdictEqual   = "equal"
	VerdictWithin  = "in the range"
	VerdictOff     = "off"
	VerdictUnknown = "was unknown"
	// VerdictBeyond: the figure rests on what was recorded so far, and lies beyond that.
	VerdictBeyond = "beyond what was recorded"
)

// Verdict compares one figure of a forecast with what happened.
type Verdict struct {
	Figure    string  `json:"figure"`
	Predicted Figure  `json:"predicted"`
	Actual    float64 `json:"actual"`
	Verdict   string  `json:"verdict"`
}

// Branch is what control flow did on one path of an evaluation, or in one set of rollouts: how
// its dialogues ended.
type Branch struct {
	Evaluation string           `json:"evaluation,omitempty"`
	Path       string           `json:"path,omitempty"`
	Rollouts   string           `json:"rollouts,omitempty"`
	Dialogues  int              `json:"dialogues"`
	Ends       []contract.Count `json:"ends"`
}

// Check is the outcome of a forecast.
type Check struct {
	Format       string           `json:"format"`
	Reproduction string           `json:"reproduction"`
	Plan         artifacts.Digest `json:"plan"`
	Verdicts     []Verdict        `json:"verdicts"`
	Branches     []Branch         `json:"branches"`
	// Equal, Within, Off, Unknown and Beyond count verdicts.
	Equal   int `json:"equal"`
	Within  int `json:"in_the_range"`
	Off     int `json:"off"`
	Unknown int `json:"was_unknown"`
	Beyond  int `json:"beyond"`
}

// CheckFormat is Check.Format.
const CheckFormat = "cxrepro-forecast-check-1"

// Compare compares a forecast with the receipt of the reproduction it was about.
//
// Errors: a receipt of another experiment or of other data.
func Compare(ctx context.Context, store *artifacts.Repository, f *Forecast, r *contract.Receipt) (*Check, error) {
	if f.Format != Format {
		return nil, fmt.Errorf("format %q of the plan, want %q", f.Format, Format)
	}
	if f.Plan.Digest != r.Plan.Digest {
		return nil, fmt.Errorf("the plan is of experiment %s, the receipt of %s", contract.SpecID(f.Plan.Digest), contract.SpecID(r.Plan.Digest))
	}
	if f.Reproduction != "" && f.Reproduction != r.Reproduction {
		return nil, fmt.Errorf("the plan is of reproduction %s, the receipt of %s: the data set is another one", f.Reproduction, r.Reproduction)
	}
	c := &Check{Format: CheckFormat, Reproduction: r.Reproduction, Plan: r.Plan.Digest, Verdicts: []Verdict{}, Branches: []Branch{}}
	if f.Finished {
		c.finished(f, r)
		return c, nil
	}
	c.steps(f, r)
	docs := newDocuments(store)
	if err := c.calls(ctx, docs, f, r); err != nil {
		return nil, err
	}
	c.sums(f, r)
	return c, c.branches(ctx, docs, r)
}

// finished is about a reproduction that had ended before the plan was made: nothing was to run,
// so that the receipt is still that of then.
func (c *Check) finished(f *Forecast, r *contract.Receipt) {
	before := 0.0
	if !r.Ended.After(f.Made) {
		before = 1
	}
	c.counted("reproduction finished before", sure(1).figure(), before)
}

// counted judges a count: it must be what was said.
func (c *Check) counted(name string, f Figure, actual float64) { c.add(name, f, actual, VerdictOff) }

// recorded judges a figure that rests on what was recorded.
func (c *Check) recorded(name string, f Figure, actual float64) {
	c.add(name, f, actual, VerdictBeyond)
}

func (c *Check) add(name string, f Figure, actual float64, off string) {
	v := Verdict{Figure: name, Predicted: f, Actual: actual}
	a := f.amount()
	slack := 1e-9 * (1 + a.high)
	switch {
	case f.Mark == Unknown:
		v.Verdict = VerdictUnknown
		c.Unknown++
	case f.Mark == Exact && actual >= a.low-slack && actual <= a.high+slack:
		v.Verdict = VerdictEqual
		c.Equal++
	case f.Mark == Between && actual >= a.low-slack && actual <= a.high+slack:
		v.Verdict = VerdictWithin
		c.Within++
	case off == VerdictBeyond:
		v.Verdict = off
		c.Beyond++
	default:
		v.Verdict = off
		c.Off++
	}
	c.Verdicts = append(c.Verdicts, v)
}

// steps compares the rows of steps, both ways.
func (c *Check) steps(f *Forecast, r *contract.Receipt) {
	for _, row := range f.Steps {
		at := slices.IndexFunc(r.BySteps, func(s contract.StepCount) bool { return s.Step == row.Step })
		got := contract.StepCount{}
		if at >= 0 {
			got = r.BySteps[at]
		}
		c.counted(row.Step+" needed", row.Needed, float64(got.Needed))
		c.counted(row.Step+" run", row.Run.Add(row.Done), float64(got.Run))
		c.counted(row.Step+" reused", row.Reused, float64(got.Reused))
		if row.Done.Zero() && !row.Run.Zero() {
			c.recorded(row.Step+" seconds", row.Seconds, got.Busy)
		}
	}
	for _, s := range r.BySteps {
		if !slices.ContainsFunc(f.Steps, func(row StepRow) bool { return row.Step == s.Step }) {
			c.counted(s.Step+" needed", sure(0).figure(), float64(s.Needed))
		}
	}
}

// rowOf names a row of calls.
func rowOf(kind, card, sampling string) string { return kind + " " + card + " " + sampling }

// calls compares the rows of calls with the accounts of the evaluations. A call that two
// evaluations need was run for the first.
func (c *Check) calls(ctx context.Context, docs *documents, f *Forecast, r *contract.Receipt) error {
	got, err := accounts(ctx, docs, r)
	if err != nil {
		return err
	}
	for _, row := range f.Calls {
		name := rowOf(row.Kind, row.Card, row.Sampling)
		n := got[name]
		if n == nil {
			n = &contract.CallCount{}
		}
		c.counted(name+" needed", row.Needed, float64(n.Needed))
		c.counted(name+" run", row.Run.Add(row.Done), float64(n.Run))
		c.counted(name+" reused", row.Reused, float64(n.Reused))
		if row.Done.Zero() && !row.Run.Zero() {
			c.recorded(name+" prompt tokens", row.Prompt, float64(n.Usage.Prompt))
			c.recorded(name+" completion tokens", row.Completion, float64(n.Usage.Completion))
			c.recorded(name+" cost", row.Cost, float64(n.Cost)/1e6)
		}
	}
	return nil
}

// accounts sums the calls of a reproduction by kind, card and sampling.
func accounts(ctx context.Context, docs *documents, r *contract.Receipt) (map[string]*contract.CallCount, error) {
	out := map[string]*contract.CallCount{}
	if len(r.Accounts) == 0 {
		return out, nil
	}
	p, err := get[*experiments.Plan](ctx, docs, r.Plan)
	if err != nil {
		return nil, err
	}
	seen := map[artifacts.Digest]bool{}
	for i, name := range accountRows(p) {
		err := eachPacked(ctx, docs, r.Accounts[i], func(page contract.CallsDoc) error {
			for _, call := range page.Calls {
				name := name(call.Count.Kind)
				if out[name] == nil {
					out[name] = &contract.CallCount{}
				}
				sum := out[name]
				one := call.Count
				if seen[call.Key] {
					one = contract.CallCount{}
				}
				seen[call.Key] = true
				sum.Needed += call.Times
				sum.Run += one.Run
				sum.Reused += call.Times - one.Run
				sum.Usage = sum.Usage.Add(one.Usage)
				sum.Cost += one.Cost
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// accountRows names, for each account of a plan's reproduction, the row of a kind of calls.
func accountRows(p *experiments.Plan) (out []func(kind string) string) {
	for _, of := range p.Evaluations() {
		out = append(out, func(kind string) string {
			if kind == ledger.KindJudge {
				return rowOf(kind, p.Judge.Name, of.Sampling)
			}
			return rowOf(kind, of.Model.Name, of.Sampling)
		})
	}
	for _, s := range p.RolloutSets() {
		out = append(out, func(kind string) string {
			if kind == ledger.KindLookup {
				return rowOf(kind, p.Lookup.Name, experiments.Greedy)
			}
			return rowOf(kind, s.Card.Name, p.Spec.Agent.Sampling)
		})
	}
	return out
}

// sums compares the totals.
func (c *Check) sums(f *Forecast, r *contract.Receipt) {
	s := f.Totals.Steps
	c.counted("steps needed", s.Needed, float64(r.Steps.Needed))
	c.counted("steps run", s.Run.Add(s.Done), float64(r.Steps.Run))
	c.counted("steps reused", s.Reused, float64(r.Steps.Reused))
	if r.Rollouts != nil {
		n := 0
		for _, row := range f.Rollouts {
			n += row.Rollouts
		}
		c.counted("rollouts", sure(float64(n)).figure(), float64(r.Rollouts.Rollouts))
	}
	if r.Calls == nil {
		return
	}
	t := f.Totals.Calls
	c.counted("calls needed", t.Needed, float64(r.Calls.Needed))
	c.counted("calls run", t.Run.Add(t.Done), float64(r.Calls.Run))
	c.counted("calls reused", t.Reused, float64(r.Calls.Reused))
	for _, m := range f.Totals.Cost {
		got := 0.0
		for _, paid := range r.Cost {
			if paid.Currency == m.Currency {
				got += float64(paid.Micro) / 1e6
			}
		}
		if t.Done.Zero() {
			c.recorded("cost in "+m.Currency, m.Amount, got)
		}
	}
}

// branches says how the dialogues of every evaluation, and the rollouts of every set ended.
func (c *Check) branches(ctx context.Context, docs *documents, r *contract.Receipt) error {
	for _, ref := range r.Evaluations {
		doc, err := get[contract.EvaluationDoc](ctx, docs, ref)
		if err != nil {
			return err
		}
		for _, path := range []cxreasonbench.Path{cxreasonbench.Path1, cxreasonbench.Path2} {
			b := Branch{Evaluation: doc.Evaluation.Name, Path: path.String(), Ends: []contract.Count{}}
			for _, t := range doc.Tasks {
				list := t.Path1
				if path == cxreasonbench.Path2 {
					list = t.Path2
				}
				if err := b.read(ctx, docs, list); err != nil {
					return err
				}
			}
			if b.Dialogues > 0 {
				c.Branches = append(c.Branches, b)
			}
		}
	}
	return c.rollouts(ctx, docs, r)
}

func (c *Check) rollouts(ctx context.Context, docs *documents, r *contract.Receipt) error {
	for _, ref := range r.RolloutSets {
		doc, err := get[contract.RolloutSetDoc](ctx, docs, ref)
		if err != nil {
			return err
		}
		b := Branch{Rollouts: doc.Set.Name, Ends: []contract.Count{}}
		err = eachPacked(ctx, docs, doc.Pages, func(page contract.RolloutsDoc) error {
			for _, d := range page.Rollouts {
				b.Dialogues++
				b.Ends = contract.AddCount(b.Ends, cmp.Or(d.Ending, "undetermined"), 1)
			}
			return nil
		})
		if err != nil {
			return err
		}
		c.Branches = append(c.Branches, b)
	}
	return nil
}

func (b *Branch) read(ctx context.Context, docs *documents, list artifacts.Ref) error {
	if list.IsZero() {
		return nil
	}
	return eachPacked(ctx, docs, list, func(page contract.DialoguesDoc) error {
		for _, d := range page.Dialogues {
			b.Dialogues++
			end := "undetermined"
			if d.Undetermined == nil {
				end = d.End.String()
			}
			b.Ends = contract.AddCount(b.Ends, end, 1)
		}
		return nil
	})
}
