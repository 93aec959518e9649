package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	tables "cxrepro/internal/report"
)

// explainedReproduction is what `explain REPRODUCTION` prints with --json.
type explainedReproduction struct {
	Kind         string                `json:"kind"` // "reproduction"
	Reproduction string                `json:"reproduction"`
	ResultDigest artifacts.Digest      `json:"result_digest"`
	Steps        contract.ReceiptSteps `json:"steps"`
	// Reasons say why steps were run, by step; reused steps need none.
	Reasons []runReason `json:"reasons"`
	// Run counts what was run by step, and how many of those Reasons are about: the first
	// mostExplained of each, unless all were asked for.
	Run []stepRun `json:"run"`
	// Unexplained counts the keys beyond those.
	Unexplained int `json:"unexplained"`
}

// stepRun is how much of a step was run, and how much of that is explained.
type stepRun struct {
	Step      string `json:"step"`
	Run       int    `json:"run"`
	Explained int    `json:"explained"`
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

// artifactPrefix is what may be the beginning of a digest.
var artifactPrefix = regexp.MustCompile(`^[0-9a-f]{8,}$`)

// artifactName reports whether a text names a key or a digest and cannot name a reproduction.
func artifactName(text string) bool {
	return strings.ContainsAny(text, "/:") || len(text) > 16 && artifactPrefix.MatchString(text)
}

// withReceipt fits a reproduction that has an account of its steps.
func withReceipt(r *remembered) bool { return r.receipt != nil }

// explainReproduction says why a reproduction ran what it ran. It is named as for every verb;
// ok is false when the text may name a key or a digest instead. most is how many keys of a step
// are explained.
func (a *app) explainReproduction(ctx context.Context, x *shelfIndex, id string, most int) (e *explainedReproduction, ok bool, err error) {
	if artifactName(id) {
		return nil, false, nil
	}
	list, err := reproductions(ctx, x.store)
	if err != nil {
		return nil, false, err
	}
	chosen, err := chooseReproduction(list, id, withReceipt)
	switch {
	case err != nil && (len(list) == 0 || !idBeginning.MatchString(id) || artifactPrefix.MatchString(id)):
		return nil, false, nil // no reproduction: the beginning of a digest, perhaps
	case err != nil:
		return nil, false, err
	case !withReceipt(chosen):
		return nil, false, usageError("`cxrepro status "+chosen.ID+"` shows how far it is", "reproduction %s (%s) has not come to its end, so its account of steps is not written yet", chosen.ID, chosen.Name)
	}
	r := chosen.receipt
	id = r.Reproduction
	e = &explainedReproduction{Kind: "reproduction", Reproduction: id, ResultDigest: r.ResultDigest, Steps: r.Steps, Reasons: []runReason{}, Run: []stepRun{}}
	for _, s := range r.BySteps {
		if err := a.explainStep(ctx, x, e, s.Step, s.Run, most); err != nil {
			return nil, false, err
		}
	}
	if r.Calls != nil { // calls have an account of their own
		for _, step := range []string{contract.StepCall, contract.StepCallOutcome} {
			if err := a.explainStep(ctx, x, e, step, 0, most); err != nil {
				return nil, false, err
			}
		}
	}
	return e, true, nil
}

// explainStep explains the first most keys of a step that the reproduction computed. counted is
// how many its receipt says, for a step whose keys are not its own: ingest computes under an
// effort of its own.
func (a *app) explainStep(ctx context.Context, x *shelfIndex, e *explainedReproduction, step string, counted, most int) error {
	keys, more, err := x.ownKeys(ctx, step, e.Reproduction, most)
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		if counted > 0 {
			e.Run = append(e.Run, stepRun{Step: step, Run: counted})
			e.Reasons = append(e.Reasons, runReason{Step: step, Keys: counted})
		}
		return nil
	}
	e.Unexplained += more
	e.Run = append(e.Run, stepRun{Step: step, Run: len(keys) + more, Explained: len(keys)})
	for _, key := range keys {
		one, err := a.explain(ctx, x, key.String(), e.Reproduction)
		if err != nil {
			return err
		}
		e.count(one)
	}
	return nil
}

// ownKeys lists the first most keys of a step that the reproduction computed itself.
func (x *shelfIndex) ownKeys(ctx context.Context, step, id string, most int) (keys []artifacts.Key, more int, err error) {
	cat, err := x.catalog(ctx)
	if err != nil {
		return nil, 0, err
	}
	steps, total, err := cat.Own(ctx, step, id, most)
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
	for _, s := range e.Run {
		switch {
		case s.Explained == 0:
			fmt.Fprintf(w, "%-13s %s run, while the data set was read\n", s.Step, tables.Number(s.Run))
			continue
		case s.Explained < s.Run:
			fmt.Fprintf(w, "%-13s %s run; the list is cut, these are the reasons of the first %d (--all: of all)\n", s.Step, tables.Number(s.Run), s.Explained)
		case !slices.ContainsFunc(e.Reasons, func(r runReason) bool { return r.Step == s.Step && r.Keys == s.Run }):
			fmt.Fprintf(w, "%-13s %s run\n", s.Step, tables.Number(s.Run))
		}
		e.showReasons(w, s)
	}
	if len(e.Run) == 0 {
		_, err := fmt.Fprintln(w, "nothing was run: every step had its record")
		return err
	}
	return nil
}

// showReasons prints why keys of a step were computed, with an example of each reason.
func (e *explainedReproduction) showReasons(w io.Writer, s stepRun) {
	for _, r := range e.Reasons {
		if r.Step != s.Step {
			continue
		}
		why := "no other reproduction had computed this step before"
		if r.Field != "" {
			why = fmt.Sprintf("%s is %s; in the nearest earlier key it is %s", r.Field, short(r.Ours), short(r.Other))
		}
		if r.Keys == s.Run { // one reason for all of them
			fmt.Fprintf(w, "%-13s %s run, because %s\n", s.Step, tables.Number(s.Run), why)
		} else {
			fmt.Fprintf(w, "              %d because %s\n", r.Keys, why)
		}
		fmt.Fprintf(w, "              %s\n", r.Example)
	}
}
