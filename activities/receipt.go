package activities

import (
	"context"
	"errors"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
)

// FindReceipt returns the receipt of a finished reproduction. The store answers, not the
// history: histories are forgotten.
func (a *Activities) FindReceipt(ctx context.Context, in contract.FindReceiptInput) (contract.FindReceiptResult, error) {
	p := a.beat(ctx, 1)
	defer p.close()
	key, err := contract.ReproductionKey(in.Plan.Digest, in.Manifest.Digest).Key()
	if err != nil {
		return contract.FindReceiptResult{}, err
	}
	rec, err := a.opts.Store.Lookup(p.work, key)
	if errors.Is(err, artifacts.ErrNotFound) {
		// From here until the receipt the reproduction's own pin stands for what is under way.
		err := a.open(p, artifacts.Pin{Name: pinName(in.Reproduction), Roots: []artifacts.Ref{in.Plan, in.Manifest}, Note: "reproduction under way"}, launchPin(in.Plan))
		return contract.FindReceiptResult{}, errors.Join(err, a.launched(p, in.Plan))
	}
	if err != nil {
		return contract.FindReceiptResult{}, err
	}
	receipt, err := getJSON[contract.Receipt](p.work, a.opts.Store, rec.Result)
	if err != nil {
		return contract.FindReceiptResult{}, err
	}
	if has, err := a.opts.Store.Has(p.work, receipt.Results.Digest); err != nil || !has {
		return contract.FindReceiptResult{}, err
	}
	return contract.FindReceiptResult{Receipt: rec.Result}, a.launched(p, in.Plan)
}

func pinName(reproduction string) string { return contract.PinPrefix + reproduction }

// WriteReceipt stores the receipt, pins the result, and marks the reproduction finished.
func (a *Activities) WriteReceipt(ctx context.Context, in contract.ReceiptInput) (contract.ReceiptResult, error) {
	p := a.beat(ctx, 1)
	defer p.close()
	pl, err := a.plan(ctx, in.Common.Plan)
	if err != nil {
		return contract.ReceiptResult{}, err
	}
	r := receipt(pl, in)
	if r.Benchmark = in.Benchmark; in.Evaluation == nil && !in.Benchmark.IsZero() {
		if r.Results, err = a.onlyBuilt(p, in); err != nil {
			return contract.ReceiptResult{}, err
		}
		r.ResultDigest = r.Results.Digest
	}
	if e := in.Evaluation; e != nil {
		r.Benchmark, r.Evaluations, r.Tables, r.Dialogues = e.Benchmark, e.Evaluations, e.Tables.Summary, &e.Totals
		r.Accounts = e.Calls
		r.ResultDigest, r.Results = e.Tables.ResultDigest, e.Tables.Results
		r.Reports = append(r.Reports, e.Tables.Reports...)
		if r.Calls, r.Tokens, r.Cost, err = a.callsOf(p, e.Calls); err != nil {
			return contract.ReceiptResult{}, err
		}
		if r.Determinism == bitExact {
			r.Determinism = recordedAnswers
		}
	}
	if e := in.Rollouts; e != nil {
		r.Questions, r.RolloutSets, r.AgentTables, r.Rollouts = e.Questions.Questions, e.Sets, e.Tables.Summary, &e.Totals
		r.Accounts = e.Calls
		r.ResultDigest, r.Results = e.Tables.ResultDigest, e.Tables.Results
		if r.Calls, r.Tokens, r.Cost, err = a.callsOf(p, e.Calls); err != nil {
			return contract.ReceiptResult{}, err
		}
		if t := e.Training; t != nil {
			r.Training, r.Checkpoints = t.Closed.Doc, t.Checkpoints
		}
		if r.Determinism == bitExact {
			r.Determinism = recordedAnswers
		}
	}
	if wrong := r.Check(); len(wrong) > 0 {
		return contract.ReceiptResult{}, fail(contract.ErrTypeExhausted, "the receipt does not add up: %s", strings.Join(wrong, "; "))
	}
	roots := []artifacts.Ref{in.Common.Plan, in.Ingest.Manifest.Manifest, in.Summary.Results, in.Summary.Summary, r.Benchmark, r.Results}
	if e := in.Evaluation; e != nil {
		roots = append(roots, e.Tables.Summary)
		roots = append(append(roots, e.Evaluations...), e.Calls...)
	}
	if e := in.Rollouts; e != nil {
		roots = append(append(append(roots, r.AgentTables, r.Training), e.Sets...), e.Calls...)
	}
	roots = slices.DeleteFunc(roots, artifacts.Ref.IsZero)
	if r.Incomplete() {
		// What is missing is asked by the same command: nothing is marked as finished.
		ref, err := putJSON(p.work, a.opts.Store, r, contract.ReceiptMediaType)
		if err != nil {
			return contract.ReceiptResult{}, err
		}
		err = a.open(p, artifacts.Pin{Name: pinName(in.Reproduction), Roots: append(roots, ref), Note: "reproduction with undetermined cases"}, pinName(in.Reproduction))
		return contract.ReceiptResult{Receipt: ref, ResultDigest: r.ResultDigest}, err
	}
	doc := contract.ReproductionKey(pl.Ref.Digest, in.Ingest.Manifest.Manifest.Digest)
	uncounted := &tally{effort: effort{id: in.Reproduction}}
	rec, err := a.steps.once(p, doc, uncounted, "", func(context.Context) (product, error) {
		text, err := artifacts.Canonical(r)
		return product{data: text, mediaType: contract.ReceiptMediaType}, err
	})
	if err != nil {
		return contract.ReceiptResult{}, err
	}
	roots = append(roots, rec.Result)
	err = a.opts.Store.SetPin(p.work, artifacts.Pin{Name: pinName(in.Reproduction), Roots: roots, Keys: []artifacts.Key{rec.Key}, Note: "finished reproduction of " + pl.Spec.Name})
	return contract.ReceiptResult{Receipt: rec.Result, ResultDigest: r.ResultDigest}, err
}

// onlyBuilt lists what counts as the result where nobody is asked: the benchmark, and the
// findings that it was built from.
func (a *Activities) onlyBuilt(p *pulse, in contract.ReceiptInput) (artifacts.Ref, error) {
	return putJSON(p.work, a.opts.Store, contract.EvaluationResults{
		Format: contract.EvaluationResultsFormat, Findings: in.Summary.Results.Digest,
		Benchmark: in.Benchmark.Digest, Evaluations: []artifacts.Digest{},
	}, contract.EvaluationResultsMediaType)
}

// receipt gathers what every part of the effort counted.
func receipt(pl *derive.Plan, in contract.ReceiptInput) *contract.Receipt {
	totals := contract.ChunkTotals{}
	for _, t := range []contract.ChunkTotals{in.Ingest.Totals, in.Totals, in.Summary.Totals} {
		totals.Add(t)
	}
	if in.Evaluation != nil {
		totals.Add(in.Evaluation.Tables.Totals)
	}
	if in.Rollouts != nil {
		totals.Add(in.Rollouts.Tables.Totals)
	}
	m := in.Ingest.Manifest
	r := &contract.Receipt{
		Format: contract.ReceiptFormat, Reproduction: in.Reproduction, Name: pl.Spec.Name, Paper: pl.Spec.Paper,
		Rules: pl.Rules.String(), Determinism: determinism(pl),
		Plan: pl.Ref, Manifest: m.Manifest, ResultDigest: in.Summary.ResultDigest,
		Results: in.Summary.Results, Summary: in.Summary.Summary, Reports: in.Summary.Reports, Assessed: in.Outputs,
		Images: contract.ReceiptImages{
			In: m.In, Kept: m.Images, Filtered: emptyNotNil(m.Filtered), Quarantined: emptyNotNil(m.Quarantined),
			GlobalKept: in.Summary.Kept, GlobalRemoved: in.Summary.Removed,
		},
		Notes: emptyNotNil(totals.Notes), BySteps: totals.Steps, RedoneWindows: in.Redone, Conflicts: totals.Conflicts,
		FirstWork: totals.Started, Launched: in.Launched.UTC(), Ended: in.Ended.UTC(), Workers: emptyNotNil(totals.Workers), DataUse: pl.Spec.Dataset.DataUse,
		WallSeconds: in.Ended.Sub(in.Launched).Seconds(),
	}
	r.Steps, r.Bytes, r.BusySeconds = sumSteps(totals.Steps)
	if r.Reports == nil {
		r.Reports = []contract.Report{}
	}
	return r
}

// Classes of results: inference on an accelerator is not bit-exact; what models say is as
// exact as the recorded answers, and asking them anew may give others.
const (
	bitExact        = "bit-exact"
	tolerance       = "tolerance"
	recordedAnswers = "bit-exact from recorded answers"
)

func determinism(pl *derive.Plan) string {
	if pl.Spec.Masks.Provider == "cuda" {
		return tolerance
	}
	return bitExact
}

// sumSteps adds up the rows of steps.
func sumSteps(rows []contract.StepCount) (sum contract.ReceiptSteps, bytes int64, busy float64) {
	sum.Causes = []contract.Count{}
	for _, s := range rows {
		sum.Needed += s.Needed
		sum.Run += s.Run
		sum.Reused += s.Reused
		sum.Repeated += s.Repeated
		sum.Causes = contract.AddCounts(sum.Causes, s.Causes)
		bytes += s.Bytes
		busy += s.Busy
	}
	return sum, bytes, busy
}
