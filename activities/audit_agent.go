package activities

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/xragent"
)

// RolloutSets is the number of sets of rollouts of an agent's reproduction.
func (u *Audit) RolloutSets() int { return len(u.r.RolloutSets) }

// Rollouts makes the document of one set of rollouts again from the records of calls, tools and
// measurements, and returns what it would be called. Reasons of undetermined rollouts, which no
// record tells, are taken as they were recorded.
func (u *Audit) Rollouts(ctx context.Context, i int) (artifacts.Ref, error) {
	doc, err := u.rolloutSet(ctx, i)
	if err != nil {
		return artifacts.Ref{}, err
	}
	why, items := map[int]string{}, 0
	err = eachPacked(ctx, u.a.opts.Store, doc.Pages, func(page *contract.RolloutsDoc) error {
		for _, d := range page.Rollouts {
			if items++; d.Undetermined != "" {
				why[d.Item] = d.Undetermined
			}
		}
		return nil
	})
	if err != nil {
		return artifacts.Ref{}, fmt.Errorf("pages of the rollouts of %s: %w", doc.Set.Name, err)
	}
	rg := contract.RolloutRange{Plan: u.r.Plan, Questions: u.r.Questions, Reproduction: u.r.Reproduction, Set: doc.Set, Items: items}
	out, err := u.a.closeRollouts(u.p, rg, why, refOfJSON)
	return out.Doc, err
}

// rolloutSet loads the document of one set.
func (u *Audit) rolloutSet(ctx context.Context, i int) (*contract.RolloutSetDoc, error) {
	doc, err := getJSON[*contract.RolloutSetDoc](ctx, u.a.opts.Store, u.r.RolloutSets[i])
	if err == nil && (doc.Format != contract.RolloutSetFormat || doc.Set.Index != i) {
		err = fmt.Errorf("format %q, number %d", doc.Format, doc.Set.Index)
	}
	if err != nil {
		return nil, fmt.Errorf("rollouts %d: %w", i, err)
	}
	return doc, nil
}

// Measurements asks the gate again about every picture, from the view reading and the masks of its
// measurement, and returns how many there are. What is needed and not there is left out and
// counted as open.
func (u *Audit) Measurements(ctx context.Context) (found []Difference, checked, open int, err error) {
	q, err := u.a.questions(ctx, u.r.Questions)
	if err != nil {
		return nil, 0, 0, err
	}
	gate, err := u.a.gate(ctx, u.pl)
	if err != nil {
		return nil, 0, 0, err
	}
	for i, image := range q.Pictures() {
		d, err := u.measurement(ctx, gate, image)
		switch {
		case err != nil && absent(err):
			open++
			continue
		case err != nil:
			return found, checked, open, fmt.Errorf("measurement of picture %d: %w", i, err)
		}
		if checked++; d.Detail != "" {
			d.What = fmt.Sprintf("the measurement of picture %d", i)
			found = append(found, d)
		}
		u.p.progress()
	}
	return found, checked, open, nil
}

// measurement compares the record of a picture with what the gate decides.
func (u *Audit) measurement(ctx context.Context, gate xragent.Gate, image artifacts.Ref) (d Difference, err error) {
	rec, ok, err := u.a.measurementRecord(ctx, u.pl, gate, image.Digest)
	if err == nil && !ok {
		err = fmt.Errorf("measurement of %s: %w", image.Digest.Short(), artifacts.ErrNotFound)
	}
	if err != nil {
		return d, err
	}
	doc, err := getJSON[contract.MeasurementDoc](ctx, u.a.opts.Store, rec.Result)
	if err != nil {
		return d, err
	}
	again, err := u.a.Regate(ctx, u.r.Plan, doc)
	if err != nil {
		return d, err
	}
	again.Image = image.Digest
	ref, err := refOfJSON(again, contract.MeasurementMediaType)
	if err == nil && ref.Digest != rec.Result.Digest {
		d = Difference{Object: artifacts.BlobObject(rec.Result.Digest), Detail: fmt.Sprintf("recorded is %s, from its view reading and masks follows %s", rec.Result.Digest.Short(), ref.Digest.Short())}
	}
	return d, err
}

// AgentTables makes the tables of an agent and the list of results again from the pages of
// rollouts, and returns what they would be called.
func (u *Audit) AgentTables(ctx context.Context) (tables, results artifacts.Ref, err error) {
	t, err := u.a.agentTables(u.p, u.pl, contract.TabulateAgentInput{Plan: u.r.Plan, Questions: u.r.Questions, Reproduction: u.r.Reproduction, Sets: u.r.RolloutSets})
	if err != nil {
		return tables, results, err
	}
	if tables, err = refOfJSON(t, contract.AgentTablesMediaType); err != nil {
		return tables, results, err
	}
	list := contract.AgentResults{Format: contract.AgentResultsFormat, Questions: u.r.Questions.Digest, Sets: []artifacts.Digest{}, Tables: tables.Digest, Training: u.r.Training.Digest}
	for _, ref := range u.r.RolloutSets {
		list.Sets = append(list.Sets, ref.Digest)
	}
	results, err = refOfJSON(list, contract.AgentResultsMediaType)
	return tables, results, err
}

// Training makes the document of a training again from the records of its rollouts, batches and
// segments, and returns what it would be called; ok is false for a reproduction that trains nothing.
func (u *Audit) Training(ctx context.Context) (ref artifacts.Ref, ok bool, err error) {
	if u.r.Training.IsZero() {
		return ref, false, nil
	}
	doc, err := getJSON[contract.TrainingDoc](ctx, u.a.opts.Store, u.r.Training)
	if err != nil {
		return ref, true, fmt.Errorf("the training: %w", err)
	}
	out, _, err := u.a.closeTraining(u.p, doc.Training, u.r.Reproduction, refOfJSON)
	return out.Doc, true, err
}
