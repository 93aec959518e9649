package activities

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/provenance"
)

// Account compares what the receipt counts and is called with what follows from the plan, the
// data set and its tables, the dialogues or rollouts and the accounts of calls: names, rules,
// class, images, dialogues, rollouts, calls, tokens, cost and the steps of countedAgain.
// NotDerived follows from nothing that is kept.
//
// What is not there leaves its part open; open names those parts.
func (u *Audit) Account(ctx context.Context) (found []Difference, open []string, err error) {
	for _, part := range []struct {
		what string
		// derive fills in the fields of a receipt, take copies them from the recorded one.
		derive func(ctx context.Context, r *contract.Receipt) error
		take   func(to, from *contract.Receipt)
	}{
		{"names and rules", u.names, func(to, from *contract.Receipt) {
			to.Name, to.Paper, to.Rules, to.Determinism, to.DataUse = from.Name, from.Paper, from.Rules, from.Determinism, from.DataUse
		}},
		{"images", u.images, func(to, from *contract.Receipt) {
			to.Images = from.Images
			to.Images.Filtered, to.Images.Quarantined = emptyNotNil(from.Images.Filtered), emptyNotNil(from.Images.Quarantined)
		}},
		{"dialogues", u.dialogues, func(to, from *contract.Receipt) { to.Dialogues = from.Dialogues }},
		{"rollouts", u.rollouts, func(to, from *contract.Receipt) { to.Rollouts = from.Rollouts }},
		{"steps", u.steps, func(to, from *contract.Receipt) { to.BySteps = stepsAgain(from.BySteps) }},
		{"sums of steps", u.sums, func(to, from *contract.Receipt) {
			to.Steps, to.Bytes, to.BusySeconds = from.Steps, from.Bytes, from.BusySeconds
			to.Steps.Causes = emptyNotNil(from.Steps.Causes)
		}},
		{"calls, tokens and cost", u.calls, func(to, from *contract.Receipt) { to.Calls, to.Tokens, to.Cost = from.Calls, from.Tokens, from.Cost }},
	} {
		var recorded, want contract.Receipt
		part.take(&recorded, u.r)
		part.take(&want, u.r) // what is not derived here is as it was
		err := part.derive(ctx, &want)
		if err != nil && !absent(err) {
			return found, open, err
		}
		if err != nil {
			open = append(open, part.what)
			continue
		}
		d, err := u.unlike(part.what, &recorded, &want)
		if err != nil {
			return found, open, err
		}
		found = append(found, d...)
	}
	return found, open, nil
}

// NotDerived lists the parts of the receipt that only its bytes and a signature vouch for: what a
// clock, a queue or a store said while the reproduction ran, and what is made again from the rest.
// An agent's steps are not derived.
func (u *Audit) NotDerived() []string {
	parts := []string{"times", "workers", "windows started again", "conflicts", "notes", "steps of ingest and of pictures as sent", "reports"}
	if !u.r.Questions.IsZero() {
		return append(parts, "steps")
	}
	return parts
}

func (u *Audit) unlike(what string, recorded, want *contract.Receipt) ([]Difference, error) {
	a, err := artifacts.Canonical(recorded)
	if err != nil {
		return nil, err
	}
	b, err := artifacts.Canonical(want)
	if err != nil {
		return nil, err
	}
	c, err := provenance.CompareDocuments(a, b)
	if err != nil || len(c.Differs) == 0 {
		return nil, err
	}
	d := c.Differs[0]
	return []Difference{{
		Object: artifacts.BlobObject(u.ref.Digest), What: "the receipt: " + what,
		Detail: fmt.Sprintf("%s is %s; from what it names follows %s", d.Field, d.Ours, d.Other),
	}}, nil
}

func (u *Audit) names(_ context.Context, r *contract.Receipt) error {
	spec := &u.pl.Spec
	r.Name, r.Paper, r.DataUse = spec.Name, spec.Paper, spec.Dataset.DataUse
	r.Rules, r.Determinism = u.pl.Rules.String(), determinism(u.pl)
	if len(u.r.Accounts) > 0 && r.Determinism == bitExact {
		r.Determinism = recordedAnswers
	}
	return nil
}

// images counts those of the data set, and of the tables of the findings. A reproduction without
// findings has none.
func (u *Audit) images(ctx context.Context, r *contract.Receipt) error {
	if len(u.r.RolloutSets) > 0 {
		r.Images = contract.ReceiptImages{Filtered: []contract.Count{}, Quarantined: []contract.Count{}} // pictures of questions are not filtered
		return nil
	}
	if u.r.Summary.IsZero() {
		return nil
	}
	data, err := getJSON[contract.Dataset](ctx, u.a.opts.Store, u.r.Manifest)
	if err != nil {
		return err
	}
	tables, err := u.FindingsTables(ctx)
	if err != nil {
		return err
	}
	r.Images = contract.ReceiptImages{
		In: data.In, Kept: data.Images, Filtered: emptyNotNil(data.Filtered), Quarantined: emptyNotNil(data.Quarantined),
		GlobalKept: tables.Global.Kept, GlobalRemoved: tables.Global.Removed,
	}
	return nil
}

// dialogues counts them on their pages, and the calls that they need by the accounts.
func (u *Audit) dialogues(ctx context.Context, r *contract.Receipt) error {
	if len(u.r.Evaluations) == 0 {
		r.Dialogues = nil
		return nil
	}
	t := &contract.DialogueTotals{}
	for i := range u.r.Evaluations {
		doc, err := u.Evaluation(ctx, i)
		if err != nil {
			return err
		}
		err = EachPage(ctx, u.a.opts.Store, doc, func(page *contract.DialoguesDoc) error {
			for k := range page.Dialogues {
				count(t, &page.Dialogues[k])
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, task := range doc.Tasks {
			if task.Waits > 0 {
				t.Waiting++
			}
		}
	}
	var err error
	t.Calls, err = u.needed(ctx, u.r.Accounts)
	r.Dialogues = t
	return err
}

// rollouts counts them on their pages, and the calls that they need by the accounts.
func (u *Audit) rollouts(ctx context.Context, r *contract.Receipt) (err error) {
	if len(u.r.RolloutSets) == 0 {
		r.Rollouts = nil
		return nil
	}
	t := &contract.RolloutTotals{}
	for i := range u.r.RolloutSets {
		doc, err := u.rolloutSet(ctx, i)
		if err != nil {
			return err
		}
		err = eachPacked(ctx, u.a.opts.Store, doc.Pages, func(page *contract.RolloutsDoc) error {
			for k := range page.Rollouts {
				countRollout(t, &page.Rollouts[k])
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("pages of the rollouts of %s: %w", doc.Set.Name, err)
		}
	}
	// The account of a training stands behind those of the sets.
	t.Calls, err = u.needed(ctx, u.r.Accounts[:min(len(u.r.RolloutSets), len(u.r.Accounts))])
	r.Rollouts = t
	return err
}

// needed counts the calls of accounts by kind, shared ones each time.
func (u *Audit) needed(ctx context.Context, accounts []artifacts.Ref) (calls []contract.Count, err error) {
	for i, ref := range accounts {
		err := eachPacked(ctx, u.a.opts.Store, ref, func(doc *contract.CallsDoc) error {
			for _, c := range doc.Calls {
				calls = contract.AddCount(calls, c.Count.Kind, c.Times)
			}
			return nil
		})
		if err != nil {
			return calls, fmt.Errorf("account %d: %w", i, err)
		}
	}
	return calls, nil
}

// calls sums the accounts.
func (u *Audit) calls(_ context.Context, r *contract.Receipt) (err error) {
	if len(u.r.Accounts) == 0 {
		r.Calls, r.Tokens, r.Cost = nil, nil, nil
		return nil
	}
	r.Calls, r.Tokens, r.Cost, err = u.a.callsOf(u.p, u.r.Accounts)
	return err
}
