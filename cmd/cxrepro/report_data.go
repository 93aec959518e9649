package main

import (
	"context"
	"fmt"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/claims"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/report/evaluation"
	"cxrepro/internal/report/scoring"
)

// evaluated is a reproduction that has tables of an evaluation, as a report reads it.
type evaluated struct {
	store   *artifacts.Repository
	receipt *contract.Receipt
	summary *contract.EvaluationSummary
	docs    []contract.EvaluationDoc
	bench   *contract.Benchmark

	// overlaps are the models about which no claim stands, once they were looked for.
	overlaps []checkpoint.Standing

	cases   map[int]*contract.CaseDoc
	answers map[artifacts.Digest]lvlm.Answer
	// noise is that of each evaluation, once it was counted; repeat asked the same questions again,
	// nil without.
	noise  []*claims.Noise
	repeat *evaluated
}

// answersKept bounds the answers that stay in memory while a report is made.
const answersKept = 20000

// openEvaluation finds a reproduction by its id, the beginning of it, the name of its
// experiment, or latest, and opens its tables. One with undetermined cases is found too.
//
// Errors: usage errors that name what there is.
func (a *app) openEvaluation(ctx context.Context, which string) (*evaluated, error) {
	store, r, err := a.openChosen(ctx, which, hasTables)
	if err != nil {
		return nil, err
	}
	return loadEvaluation(ctx, store, r.receipt)
}

// openReported finds a reproduction that has tables of models, of an evaluation or of an agent.
func (a *app) openReported(ctx context.Context, which string) (*artifacts.Repository, *remembered, error) {
	return a.openChosen(ctx, which, func(r *remembered) bool { return hasTables(r) || hasAgentTables(r) })
}

func (a *app) openChosen(ctx context.Context, which string, fits func(r *remembered) bool) (*artifacts.Repository, *remembered, error) {
	store, list, err := a.remembers(ctx)
	if err != nil {
		return nil, nil, err
	}
	r, err := chooseReproduction(list, which, fits)
	switch {
	case err != nil:
		return nil, nil, err
	case fits(r):
		return store, r, nil
	case r.asks:
		return nil, nil, usageError("the same `cxrepro run` goes on with it; `cxrepro status "+r.ID+"` shows how far it is",
			"reproduction %s (%s) has no tables yet: they are made when every model was asked", r.ID, r.Name)
	case which == latest:
		return nil, nil, usageError("run an experiment with an evaluation, for example `cxrepro demo`", "no reproduction here has asked a model")
	}
	return nil, nil, usageError("`cxrepro status "+r.ID+"` prints its tables", "reproduction %s (%s) asks no model", r.ID, r.Name)
}

// hasTables fits a reproduction that asked models, finished or with undetermined cases.
func hasTables(r *remembered) bool { return r.receipt != nil && !r.receipt.Tables.IsZero() }

func loadEvaluation(ctx context.Context, store *artifacts.Repository, r *contract.Receipt) (*evaluated, error) {
	e := &evaluated{store: store, receipt: r, summary: &contract.EvaluationSummary{}, bench: &contract.Benchmark{}, cases: map[int]*contract.CaseDoc{}, answers: map[artifacts.Digest]lvlm.Answer{}}
	if err := readJSON(ctx, store, r.Tables, e.summary); err != nil {
		return nil, err
	}
	if err := readJSON(ctx, store, r.Benchmark, e.bench); err != nil {
		return nil, err
	}
	e.docs = make([]contract.EvaluationDoc, len(r.Evaluations))
	for i, ref := range r.Evaluations {
		if err := readJSON(ctx, store, ref, &e.docs[i]); err != nil {
			return nil, err
		}
	}
	if len(e.docs) != len(e.summary.Evaluations) {
		return nil, fmt.Errorf("reproduction %s: %d evaluations, its tables have %d", r.Reproduction, len(e.docs), len(e.summary.Evaluations))
	}
	return e, nil
}

// pages calls fn for every page of an evaluation.
func (e *evaluated) pages(ctx context.Context, i int, fn func(*contract.DialoguesDoc) error) error {
	err := activities.EachPage(ctx, e.store, &e.docs[i], fn)
	if artifacts.ClassOf(err) == artifacts.Unknown {
		return err // nil, or of fn
	}
	return storeError(err)
}

func (e *evaluated) caseDoc(ctx context.Context, n int) (*contract.CaseDoc, error) {
	if c := e.cases[n]; c != nil {
		return c, nil
	}
	if n < 0 || n >= len(e.bench.Cases) {
		return nil, fmt.Errorf("case %d: the benchmark has %d", n, len(e.bench.Cases))
	}
	c := &contract.CaseDoc{}
	if err := readJSON(ctx, e.store, e.bench.Cases[n].Doc, c); err != nil {
		return nil, err
	}
	e.cases[n] = c
	return c, nil
}

func (e *evaluated) answer(ctx context.Context, ref artifacts.Ref) (lvlm.Answer, error) {
	if a, ok := e.answers[ref.Digest]; ok {
		return a, nil
	}
	var a lvlm.Answer
	if err := readJSON(ctx, e.store, ref, &a); err != nil {
		return a, err
	}
	if len(e.answers) >= answersKept {
		clear(e.answers)
	}
	e.answers[ref.Digest] = a
	return a, nil
}

// eachCall calls fn for every call of an evaluation, each once, with the page that it is on
// first. A reproduction whose accounts are not there has none.
func (e *evaluated) eachCall(ctx context.Context, i int, fn func(page *contract.CallsDoc, c *contract.CallRecord)) error {
	if i >= len(e.receipt.Accounts) || e.receipt.Accounts[i].IsZero() {
		return nil
	}
	var list contract.Packed
	if err := readJSON(ctx, e.store, e.receipt.Accounts[i], &list); err != nil {
		return err
	}
	seen := map[artifacts.Digest]bool{}
	for _, item := range list.Items {
		var doc contract.CallsDoc
		if err := readJSON(ctx, e.store, item.Ref, &doc); err != nil {
			return err
		}
		for k := range doc.Calls {
			if c := &doc.Calls[k]; !seen[c.Key] {
				seen[c.Key] = true
				fn(&doc, c)
			}
		}
	}
	return nil
}

// hours sums the time of the calls by task, each call of an evaluation once.
func (e *evaluated) hours(ctx context.Context) ([]evaluation.Hours, error) {
	var out []evaluation.Hours
	for i := range e.receipt.Accounts {
		sum := map[cxreasonbench.Task]*evaluation.Hours{}
		err := e.eachCall(ctx, i, func(page *contract.CallsDoc, c *contract.CallRecord) {
			h := sum[page.Task]
			if h == nil {
				h = &evaluation.Hours{Evaluation: i, Task: page.Task}
				sum[page.Task] = h
			}
			if c.Count.Kind == cxreasonbench.CallJudge.String() {
				h.JudgeSeconds += c.Count.Busy
				h.JudgeCalls++
			} else {
				h.ModelSeconds += c.Count.Busy
				h.ModelCalls++
			}
		})
		if err != nil {
			return nil, err
		}
		for _, t := range cxreasonbench.Tasks() {
			if h := sum[t]; h != nil {
				out = append(out, *h)
			}
		}
	}
	return out, nil
}

// scored are the evaluations as tables take them.
func (e *evaluated) scored() []cxreasonbench.Evaluation {
	out := make([]cxreasonbench.Evaluation, len(e.summary.Evaluations))
	for i := range out {
		out[i] = scoring.Scored(e.summary.Rules, &e.summary.Evaluations[i])
	}
	return out
}

// document makes the report.
func (e *evaluated) document(ctx context.Context, o evaluation.Options) (*evaluation.Document, error) {
	hours, err := e.hours(ctx)
	if err != nil {
		return nil, err
	}
	var beside *claims.Checked
	if o.Compare || o.Stated != nil {
		s, err := loadFindings(ctx, e.store, e.receipt)
		if err != nil {
			return nil, err
		}
		if beside, err = checked(ctx, e, s, stated{text: o.Stated}); err != nil {
			return nil, err
		}
	}
	return evaluation.Build(evaluation.Input{
		Claims: beside, Summary: e.summary, Reproduction: e.receipt.Reproduction, Result: e.receipt.ResultDigest.String(), Hours: hours, Calls: e.receipt.Calls, Cost: e.receipt.Cost,
	}, o)
}

// transcripts collects the dialogues of a page. Pictures of credentialed data enter only if
// asked for.
func (e *evaluated) transcripts(ctx context.Context, l evaluation.Limits, withPictures bool) (*evaluation.Transcripts, error) {
	src := evaluation.Source{Pages: e.pages, Case: e.caseDoc, Answer: e.answer, Picture: e.store.Get}
	if _, local := evaluation.ClassNotice(e.bench.DataUse); local && !withPictures {
		src.Picture = nil
		src.NoPictures = "Pictures of credentialed data (class " + e.bench.DataUse + ") are left out; --with-pictures puts them into a file that stays on this machine."
	}
	return evaluation.Collect(ctx, e.summary, src, l)
}
