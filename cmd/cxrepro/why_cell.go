package main

import (
	"context"
	"slices"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report/scoring"
	"cxrepro/internal/why"
)

// cellEvaluator computes one cell under changed settings, from what is recorded.
type cellEvaluator struct {
	archive *archive
	e       *evaluated
	ref     cxreasonbench.CellRef
	// stored is the setting whose dialogues the reproduction holds already.
	stored string
	held   map[string]*heldDialogues
	cases  map[artifacts.Digest][]contract.BenchmarkCase
}

// heldDialogues are the dialogues of one setting, counted.
type heldDialogues struct {
	cases   map[cxreasonbench.Task][]cxreasonbench.CaseScores
	open    why.Open
	waiting int
}

func newCellEvaluator(s *archive, e *evaluated, ref cxreasonbench.CellRef, ours why.Setting) (*cellEvaluator, error) {
	stored, err := ours.Dialogues()
	return &cellEvaluator{archive: s, e: e, ref: ref, stored: stored, held: map[string]*heldDialogues{}, cases: map[artifacts.Digest][]contract.BenchmarkCase{}}, err
}

// forget makes every setting be held anew.
func (v *cellEvaluator) forget() { clear(v.held) }

// figure is why.Evaluate.
func (v *cellEvaluator) figure(ctx context.Context, s why.Setting) (why.Value, error) {
	h, err := v.dialogues(ctx, s)
	if err != nil {
		return why.Value{}, err
	}
	rules, err := experiments.BenchmarkRules(&s.Plan.Spec)
	if err != nil {
		return why.Value{}, err
	}
	cases := h.cases
	if s.Only != nil {
		if cases, err = v.only(ctx, s, cases); err != nil {
			return why.Value{}, err
		}
	}
	ref := v.ref
	ref.Evaluation = 0
	out := valueOf(ref.Figure([]cxreasonbench.Evaluation{{
		Model: ref.Model, Sampling: ref.Sampling, Paths: []cxreasonbench.PathScores{cxreasonbench.ScorePath(rules, ref.Path, cases)},
	}}))
	out.Open, out.Waiting = h.open, h.waiting
	return out, nil
}

// only keeps the cases that count.
func (v *cellEvaluator) only(ctx context.Context, s why.Setting, cases map[cxreasonbench.Task][]cxreasonbench.CaseScores) (map[cxreasonbench.Task][]cxreasonbench.CaseScores, error) {
	list, ok := v.cases[s.Benchmark.Digest]
	if !ok {
		var b contract.Benchmark
		if err := readJSON(ctx, v.archive.store, s.Benchmark, &b); err != nil {
			return nil, err
		}
		list = b.Cases
		v.cases[s.Benchmark.Digest] = list
	}
	out := map[cxreasonbench.Task][]cxreasonbench.CaseScores{}
	for t, all := range cases {
		for _, c := range all {
			n, err := scoring.CaseNumber(c.Case)
			if err != nil {
				return nil, err
			}
			if n >= 0 && n < len(list) && s.Only[why.Case{Task: list[n].Task, ID: list[n].ID}] {
				out[t] = append(out[t], c)
			}
		}
	}
	return out, nil
}

// dialogues holds the dialogues of a setting again, once; those of the reproduction itself are
// there.
func (v *cellEvaluator) dialogues(ctx context.Context, s why.Setting) (*heldDialogues, error) {
	name, err := s.Dialogues()
	if err != nil {
		return nil, err
	}
	if h := v.held[name]; h != nil {
		return h, nil
	}
	h := &heldDialogues{}
	tasks := v.ref.Tasks()
	upTo := cxreasonbench.Path1
	if v.ref.Path != cxreasonbench.Path1 {
		upTo = cxreasonbench.Path2
	}
	waits := func(cxreasonbench.Task, int) { h.waiting++ }
	var counted *scoring.Evaluation
	add := func(page *contract.DialoguesDoc) error {
		if !slices.Contains(tasks, page.Task) || page.Path > upTo {
			return nil
		}
		h.count(page)
		return counted.Add(page)
	}
	if name == v.stored {
		doc := &v.e.docs[v.ref.Evaluation]
		counted = scoring.New(doc.Evaluation)
		err = v.e.pages(ctx, v.ref.Evaluation, add)
	} else {
		var r *activities.Replay
		if r, err = v.archive.replays.Open(ctx, s.Plan, s.Benchmark, 0); err != nil {
			return nil, err
		}
		counted = scoring.New(r.Evaluation())
		err = r.Pages(ctx, tasks, upTo, add, waits)
	}
	if err != nil {
		return nil, err
	}
	h.cases = counted.Cases(v.ref.Path)
	v.held[name] = h
	return h, nil
}

// count counts dialogues that wait for calls that nobody made.
func (h *heldDialogues) count(page *contract.DialoguesDoc) {
	for _, d := range page.Dialogues {
		if u := d.Undetermined; u != nil && u.Why == activities.CallNotRecorded {
			if u.Call.Kind == cxreasonbench.CallModel {
				h.open.Model++
			} else {
				h.open.Judge++
			}
		}
	}
}
