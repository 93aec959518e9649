package activities

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/datause"
)

// walker runs dialogues over the ledger alone: the same state machine that a workflow holds
// live, fed with what is recorded.
type walker struct {
	a     *Activities
	r     contract.DialogueRange
	bench *askBenchmark
	// again is how often a judge is asked again whose verdict could not be read.
	again int
	// population is set on Path 2.
	population *contract.PopulationDoc
}

// visit is called for every recorded call of a walk, with the key of its record, after the
// session has its result.
type visit func(c cxreasonbench.Call, out contract.AskResult, key artifacts.Key) error

func (a *Activities) walk(ctx context.Context, r contract.DialogueRange) (*walker, error) {
	w := &walker{a: a, r: r, again: 1}
	p, err := a.asks.plan(ctx, r.Plan)
	if err != nil {
		return nil, err
	}
	if w.bench, err = a.asks.benchmark(ctx, r.Benchmark); err != nil {
		return nil, err
	}
	if e := p.Spec.Evaluation; e != nil && e.Retry != nil && slices.Contains(e.Retry.Outcomes, cxreasonbench.JudgeUnparsable) {
		w.again += 2 * e.Retry.Round
	}
	if r.Path == cxreasonbench.Path1 {
		return w, nil
	}
	doc, err := getJSON[contract.PopulationDoc](ctx, a.opts.Store, r.Population)
	if err != nil {
		return nil, fmt.Errorf("load population: %w", err)
	}
	if doc.Format != contract.PopulationFormat || doc.Task != r.Task || len(doc.Entries) != r.Count {
		return nil, fail(contract.ErrTypeSpec, "population %s: format %q of %s with %d entries, want %s with %d",
			r.Population.Digest.Short(), doc.Format, doc.Task, len(doc.Entries), r.Task, r.Count)
	}
	w.population = &doc
	return w, nil
}

// store takes documents of the benchmark's class: what it is not attested for does not enter it.
func (w *walker) store() *artifacts.Repository {
	return w.a.opts.Store.ForClass(datause.StoreClass(w.bench.DataUse))
}

// caseAt is the number of the case at a place of the range, and of its re-evaluation's; -1
// for none.
func (w *walker) caseAt(place int) (number, review int) {
	if w.population != nil {
		e := w.population.Entries[place]
		return e.Case, e.Review
	}
	return w.r.First + place, -1
}

// begin returns the dialogue at a place before its first call.
func (w *walker) begin(ctx context.Context, place int) (*cxreasonbench.Session, error) {
	if place < 0 || place >= w.r.Count {
		return nil, fail(contract.ErrTypeSpec, "dialogue %d of %s: there are %d", place, w.r.Task, w.r.Count)
	}
	number, review := w.caseAt(place)
	c, err := w.a.asks.oneCase(ctx, w.bench, number)
	if err != nil {
		return nil, err
	}
	o := cxreasonbench.SessionOptions{Judged: w.r.Evaluation.Judge != "", Again: w.again}
	if w.population == nil {
		s, _, err := cxreasonbench.Start(w.r.Evaluation.Rules, w.r.Task, strconv.Itoa(number), c.shape(cxreasonbench.Path1), w.r.Evaluation.Draws)
		if err != nil {
			return nil, fail(contract.ErrTypeSpec, "case %d: %w", number, err)
		}
		return cxreasonbench.NewSession(s, o)
	}
	if review >= 0 {
		other, err := w.a.asks.oneCase(ctx, w.bench, review)
		if err != nil {
			return nil, err
		}
		o.ReviewCase, o.ReviewShape = strconv.Itoa(review), other.shape(cxreasonbench.RePath1)
	}
	s, _, err := cxreasonbench.StartPath2(w.population.Entries[place].Path1, c.rounds(cxreasonbench.Path2, cxreasonbench.StageStructures))
	if err != nil {
		return nil, fail(contract.ErrTypeSpec, "case %d: %w", number, err)
	}
	return cxreasonbench.NewSession(s, o)
}

// run feeds a session with what is recorded, as far as that goes. It returns the calls that
// have no record.
func (w *walker) run(ctx context.Context, s *cxreasonbench.Session, see visit) (missing []cxreasonbench.Call, err error) {
	for !s.Done() {
		calls := s.Calls()
		if len(calls) == 0 {
			return missing, nil
		}
		for _, c := range calls {
			if s.Done() {
				break // undetermined by another draw
			}
			in, err := w.r.AskInput(s, c, 0)
			if err != nil {
				return nil, err
			}
			out, key, ok, err := w.a.recorded(ctx, in)
			if err != nil {
				return nil, fmt.Errorf("case %d, %s: %w", in.Case, c, err)
			}
			if !ok {
				missing = append(missing, c)
				continue
			}
			if err := s.Record(c, out.CallResult()); err != nil {
				return nil, err
			}
			if see != nil {
				if err := see(c, out, key); err != nil {
					return nil, err
				}
			}
		}
	}
	return nil, nil
}

// rounds counts a case's questions of one stage on one path.
func (c *askCase) rounds(p cxreasonbench.Path, s cxreasonbench.Stage) int {
	n := 0
	for c.questions[cxreasonbench.Key{Path: p, Stage: s, Round: n}] != nil {
		n++
	}
	return n
}

func (c *askCase) shape(p cxreasonbench.Path) cxreasonbench.Shape {
	return cxreasonbench.Shape{
		CriteriaRounds:  c.rounds(p, cxreasonbench.StageCriteria),
		StructureRounds: c.rounds(p, cxreasonbench.StageStructures),
	}
}
