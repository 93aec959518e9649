package activities

import (
	"context"
	"fmt"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/provenance"
)

// countedAgain are the steps whose every key follows from the documents of a reproduction, and
// that no ingest makes. Facts of quarantined pictures, imported masks and prepared pictures are
// counted by those who read or sent them, and no document lists them.
var countedAgain = []string{
	contract.StepSegment, contract.StepAssess, contract.StepSummarise, contract.StepDrawCases, contract.StepBuildCase, contract.StepTabulate,
}

// stepsAgain are the rows of countedAgain, without the time that computing took.
func stepsAgain(rows []contract.StepCount) []contract.StepCount {
	out := []contract.StepCount{}
	for _, c := range rows {
		if slices.Contains(countedAgain, c.Step) {
			c.Busy, c.Causes = 0, emptyNotNil(c.Causes)
			out = append(out, c)
		}
	}
	return out
}

// steps counts the keys of countedAgain by what their statements say of who ran them.
func (u *Audit) steps(ctx context.Context, r *contract.Receipt) error {
	if !u.r.Questions.IsZero() {
		return nil // an agent's steps are not among them
	}
	t := &tally{effort: effort{reproduction: u.r.Reproduction}}
	v := &inventory{Audit: u, held: map[string]*Held{}}
	v.see = func(rec artifacts.Record) error {
		if !slices.Contains(countedAgain, rec.Key.Step) {
			return nil
		}
		data, err := u.a.opts.Store.StatementOf(ctx, rec)
		if err != nil {
			return err
		}
		st, err := provenance.Decode(data)
		if err == nil {
			t.add(rec, st.Predicate.Invocation)
		}
		return err
	}
	for _, part := range []struct {
		has  bool
		walk func(context.Context) error
	}{{!u.r.Summary.IsZero(), v.findings}, {true, v.tables}} {
		if !part.has {
			continue
		}
		if err := part.walk(ctx); err != nil {
			return err
		}
	}
	if len(v.gaps) > 0 {
		return fmt.Errorf("%s: %w", v.gaps[0].Role, v.gaps[0].Err)
	}
	r.BySteps = stepsAgain(t.totals.Steps)
	return nil
}

// sums adds up the rows of the steps.
func (u *Audit) sums(_ context.Context, r *contract.Receipt) error {
	r.Steps, r.Bytes, r.BusySeconds = sumSteps(u.r.BySteps)
	return nil
}
