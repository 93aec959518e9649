package activities

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// RolloutSets is the number of sets of rollouts of an agent's reproduction.
func (u *Audit) RolloutSets() int { return len(u.r.RolloutSets) }

// Rollouts makes the document of one set of rollouts again from the records of calls, tools and
// measurements, and returns what it would be called. Reasons of undetermined rollouts, which no
// record tells, are taken as they were recorded.
func (u *Audit) Rollouts(ctx context.Context, i int) (artifacts.Ref, error) {
	doc, err := getJSON[contract.RolloutSetDoc](ctx, u.a.opts.Store, u.r.RolloutSets[i])
	if err != nil {
		return artifacts.Ref{}, fmt.Errorf("rollouts %d: %w", i, err)
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
