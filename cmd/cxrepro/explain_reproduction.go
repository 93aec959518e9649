package main

import (
	"context"
	"fmt"
	"regexp"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// explainedReproduction is what `explain REPRODUCTION` prints with --json.
type explainedReproduction struct {
	Kind         string                `json:"kind"` // "reproduction"
	Reproduction string                `json:"reproduction"`
	ResultDigest artifacts.Digest      `json:"result_digest"`
	Steps        contract.ReceiptSteps `json:"steps"`
	// Reasons say why steps were run, by step; reused steps need none.
	Reasons []runReason `json:"reasons"`
	// Unexplained counts keys beyond the first mostExplained of a step.
	Unexplained int `json:"unexplained"`
}

// runReason is why keys of one step were computed: the first field that differs from the
// nearest earlier key. An empty field means that there was no earlier key.
type runReason struct {
	Step  string `json:"step"`
	Field string `json:"field,omitempty"`
	Ours  string `json:"ours,omitempty"`
	Other string `json:"other,omitempty"`
	Keys  int    `json:"keys"`
	// Example is one of the keys, to be explained in full; zero for what was computed while
	// the data set was read.
	Example artifacts.Key `json:"example,omitzero"`
}

// mostExplained is how many keys of one step are compared with earlier ones: each is compared
// with up to mostCompared.
const mostExplained = 20

var reproductionID = regexp.MustCompile(`^[0-9a-f]{16}$`)

// explainReproduction says why a finished reproduction ran what it ran. ok is false when
// no finished reproduction has that id.
func (a *app) explainReproduction(ctx context.Context, x *shelfIndex, id string) (e *explainedReproduction, ok bool, err error) {
	if !reproductionID.MatchString(id) {
		return nil, false, nil
	}
	r, _, err := receiptOf(ctx, x.store, id)
	if err != nil || r == nil {
		return nil, false, err
	}
	e = &explainedReproduction{Kind: "reproduction", Reproduction: id, ResultDigest: r.ResultDigest, Steps: r.Steps, Reasons: []runReason{}}
	for _, s := range r.BySteps {
		keys, more, err := x.ownKeys(ctx, s.Step, id)
		if err != nil {
			return nil, false, err
		}
		e.Unexplained += more
		if len(keys) == 0 && s.Run > 0 { // ingest computes under an effort of its own
			e.Reasons = append(e.Reasons, runReason{Step: s.Step, Keys: s.Run})
		}
		for _, key := range keys {
			one, err := a.explain(ctx, x, key.String(), id)
			if err != nil {
				return nil, false, err
			}
			e.count(one)
		}
	}
	return e, true, nil
}

// ownKeys lists the first keys of a step that the reproduction computed itself.
func (x *shelfIndex) ownKeys(ctx context.Context, step, id string) (keys []artifacts.Key, more int, err error) {
	cat, err := x.catalog(ctx)
	if err != nil {
		return nil, 0, err
	}
	steps, total, err := cat.Own(ctx, step, id, mostExplained)
	for _, s := range steps {
		keys = append(keys, s.Key)
	}
	return keys, total - len(keys), err
}

// count adds one explained key to the reason it shares.
func (e *explainedReproduction) count(one *explanation) {
	r := runReason{Step: one.Key.Step, Keys: 1, Example: one.Key}
	if one.Nearest != nil {
		d := one.Nearest.Differs[0]
		r.Field, r.Ours, r.Other = d.Field, d.Ours, d.Other
	}
	for i := range e.Reasons {
		have := &e.Reasons[i]
		if have.Step == r.Step && have.Field == r.Field && (have.Ours == r.Ours && have.Other == r.Other) {
			have.Keys++
			return
		}
	}
	e.Reasons = append(e.Reasons, r)
}

func (a *app) showReproduction(e *explainedReproduction) error {
	w := a.out
	fmt.Fprintf(w, "reproduction  %s\nresult        %s\nsteps         %d needed = %d run + %d reused\n", e.Reproduction, e.ResultDigest, e.Steps.Needed, e.Steps.Run, e.Steps.Reused)
	for _, r := range e.Reasons {
		switch {
		case r.Example.IsZero():
			fmt.Fprintf(w, "%-13s %d run, while the data set was read\n", r.Step, r.Keys)
			continue
		case r.Field == "":
			fmt.Fprintf(w, "%-13s %d run, because no other reproduction had computed this step before\n", r.Step, r.Keys)
		default:
			fmt.Fprintf(w, "%-13s %d run, because %s is %s; in the nearest earlier key it is %s\n", r.Step, r.Keys, r.Field, short(r.Ours), short(r.Other))
		}
		fmt.Fprintf(w, "              %s\n", r.Example)
	}
	if e.Unexplained > 0 {
		fmt.Fprintf(w, "and %d more keys of the same steps\n", e.Unexplained)
	}
	if e.Steps.Run == 0 {
		_, err := fmt.Fprintln(w, "nothing was run: every step had its record")
		return err
	}
	return nil
}
