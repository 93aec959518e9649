package activities

import (
	"cmp"
	"context"
	"slices"

	"go.temporal.io/sdk/worker"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/ledger"
	"cxrepro/internal/xragent"
	benchmarks "cxrepro/internal/xragent/bench"
)

// registerAgent registers what an agent's reproduction does beside measuring and asking.
func (a *Activities) registerAgent(r worker.ActivityRegistry) {
	register(a, r, contract.ImportQuestions, a.ImportQuestions)
	register(a, r, contract.PlanRollouts, a.PlanRollouts)
	register(a, r, contract.FindRollouts, a.FindRollouts)
	register(a, r, contract.CloseRollouts, a.CloseRollouts)
	register(a, r, contract.TabulateAgent, a.TabulateAgent)
}

// PlanRollouts lists what a plan runs.
func (a *Activities) PlanRollouts(ctx context.Context, in contract.PlanRolloutsInput) (contract.PlanRolloutsResult, error) {
	p := a.beat(ctx, 1)
	defer p.close()
	pl, err := a.plan(p.work, in.Plan)
	if err != nil {
		return contract.PlanRolloutsResult{}, err
	}
	var out contract.PlanRolloutsResult
	out.Sets = pl.AgentSets()
	for i := range out.Sets {
		s := &out.Sets[i]
		if _, err := pl.Arm(s.Arm); err != nil {
			return out, fail(contract.ErrTypeSpec, "%w", err)
		}
		name := pl.Spec.Agent.Policies[s.Policy].Checkpoint
		if name == "" {
			continue
		}
		k := slices.IndexFunc(in.Checkpoints, func(c contract.NamedWeights) bool { return c.Name == name })
		if k < 0 {
			return out, fail(contract.ErrTypeSpec, "policy %d: the training gave no checkpoint %q", s.Policy, name)
		}
		s.Checkpoint = in.Checkpoints[k].Weights
	}
	return out, nil
}

// FindRollouts says which rollouts the records do not bring to their end.
func (a *Activities) FindRollouts(ctx context.Context, in contract.FindRolloutsInput) (contract.FindRolloutsResult, error) {
	p := a.beat(ctx, in.End-in.Begin)
	defer p.close()
	var out contract.FindRolloutsResult
	for item := in.Begin; item < in.End; item++ {
		if err := p.next(); err != nil {
			return out, err
		}
		r, err := a.rollout(p.work, in.Range.Input(item, 0))
		if err != nil {
			return out, err
		}
		_, done, err := a.follow(p.work, r)
		if err != nil {
			return out, err
		}
		if !done {
			out.Missing = append(out.Missing, item)
		}
		p.step(1)
	}
	return out, nil
}

// CloseRollouts makes the documents of a set from the records alone: pages of rollouts with their
// reward terms, and the accounts of their calls. What a workflow knows beside that, why a call
// failed, only names the reason of a rollout that has no end.
func (a *Activities) CloseRollouts(ctx context.Context, in contract.CloseRolloutsInput) (contract.RolloutsResult, error) {
	p := a.beat(ctx, in.Range.Items)
	defer p.close()
	failed := map[int]string{}
	for _, f := range in.Failed {
		failed[f.Item] = f.Type
	}
	pl, err := a.plan(p.work, in.Range.Plan)
	if err != nil {
		return contract.RolloutsResult{}, err
	}
	store := a.opts.Store.ForClass(pl.Class())
	return a.closeRollouts(p, in.Range, failed, func(doc any, mediaType string) (artifacts.Ref, error) {
		return putJSON(p.work, store, doc, mediaType)
	})
}

// closeRollouts makes the documents of a set; put stores one, or only names it.
func (a *Activities) closeRollouts(p *pulse, rg contract.RolloutRange, failed map[int]string, put putDoc) (out contract.RolloutsResult, err error) {
	calls := contract.Packed{Items: []contract.PackItem{}}
	acc := newAccount()
	out.Doc, err = rolloutPages(p, rg, put, func(item int) (contract.RolloutDoc, error) {
		d, err := a.closeRollout(p.work, rg, item, failed[item], &acc)
		countRollout(&out.Totals, &d)
		return d, err
	}, func() error {
		out.Totals.Calls = contract.AddCounts(out.Totals.Calls, acc.kinds)
		account := acc.doc(contract.DialogueRange{})
		account.Set = rg.Set.Name
		acc = newAccount()
		return appendDoc(&calls, put, account, contract.CallsMediaType)
	})
	if err != nil {
		return out, err
	}
	out.Calls, err = put(calls, contract.PackMediaType)
	return out, err
}

// putDoc stores a document, or only names it.
type putDoc func(doc any, mediaType string) (artifacts.Ref, error)

// appendDoc adds a document to a list.
func appendDoc(to *contract.Packed, put putDoc, doc any, mediaType string) error {
	ref, err := put(doc, mediaType)
	to.Items = append(to.Items, contract.PackItem{Index: len(to.Items), Ref: ref})
	return err
}

// rolloutPages makes the document of a set out of its rollouts; paged is called after each page.
func rolloutPages(p *pulse, rg contract.RolloutRange, put putDoc, rollout func(item int) (contract.RolloutDoc, error), paged func() error) (ref artifacts.Ref, err error) {
	pages := contract.Packed{Items: []contract.PackItem{}}
	for begin := 0; begin < rg.Items; begin += contract.PageRollouts {
		doc := contract.RolloutsDoc{Format: contract.RolloutsFormat, Set: rg.Set.Name}
		for item := begin; item < min(begin+contract.PageRollouts, rg.Items); item++ {
			if err := p.next(); err != nil {
				return ref, err
			}
			d, err := rollout(item)
			if err != nil {
				return ref, err
			}
			doc.Rollouts = append(doc.Rollouts, d)
			p.step(1)
		}
		if err := appendDoc(&pages, put, doc, contract.RolloutsMediaType); err != nil {
			return ref, err
		}
		if err := paged(); err != nil {
			return ref, err
		}
	}
	set := contract.RolloutSetDoc{Format: contract.RolloutSetFormat, Questions: rg.Questions, Set: rg.Set}
	if set.Pages, err = put(pages, contract.PackMediaType); err != nil {
		return ref, err
	}
	return put(set, contract.RolloutSetMediaType)
}

func countRollout(t *contract.RolloutTotals, d *contract.RolloutDoc) {
	t.Rollouts++
	if d.Undetermined != "" {
		t.Undetermined++
		t.Reasons = contract.AddCount(t.Reasons, d.Undetermined, 1)
		return
	}
	t.Done++
	t.Endings = contract.AddCount(t.Endings, d.Outcome.Ending, 1)
}

// closeRollout walks one rollout over the records and describes it.
func (a *Activities) closeRollout(ctx context.Context, rg contract.RolloutRange, item int, why string, acc *account) (contract.RolloutDoc, error) {
	r, err := a.rollout(ctx, rg.Input(item, 0))
	if err != nil {
		return contract.RolloutDoc{}, err
	}
	k, done, err := a.follow(ctx, r)
	if err != nil {
		return contract.RolloutDoc{}, err
	}
	for _, c := range r.accounts {
		acc.add(c.key, c.count)
	}
	if !done && !k.missing.IsZero() {
		n, err := ledger.Attempted(ctx, a.opts.Store, k.missing)
		if err != nil {
			return contract.RolloutDoc{}, err
		}
		if n.Attempts > 0 {
			n.Kind = k.kind
			acc.open[k.missing] = n
		}
	}
	return r.doc(rg.Set, done, why)
}

// doc describes the rollout. why is the reason where it has no end.
func (r *rollout) doc(set contract.RolloutSet, done bool, why string) (d contract.RolloutDoc, err error) {
	d = contract.RolloutDoc{Item: r.in.Item, Ending: string(r.Ending), Calls: r.calls, Tools: r.tools, Measured: r.pictures}
	if d.Calls == nil {
		d.Calls = []contract.RolloutCall{}
	}
	if !done {
		d.Undetermined = cmp.Or(why, callMissing)
	}
	d.Trajectory = r.arm.Agent.Trajectory(r.Rollout)
	if done && r.arm.Agent.Direct == "" {
		score := xragent.ScoreTrajectory(d.Trajectory, r.plan.Spec.Agent.Reward.Setting())
		d.Score = &score
	}
	d.Outcome, err = r.outcome(set, d.Undetermined)
	return d, err
}

// outcome is the row of the rollout in tables.
func (r *rollout) outcome(set contract.RolloutSet, undetermined string) (xragent.Outcome, error) {
	direct := r.arm.Agent.Direct != ""
	o := xragent.Outcome{
		Item: r.item.ID, Config: configOf(r.plan.Spec.Agent.Policies[set.Policy].Role, set), Arm: set.Arm, Policy: set.Card, Repeat: set.Repeat,
		Ending: string(r.Ending),
	}
	if undetermined != "" {
		o.Undetermined, o.Why = true, undetermined
		return o, o.Validate()
	}
	if r.terminal != "" {
		o.Ending = string(r.terminal)
	}
	if r.Turn1 != nil && !direct {
		o.Calls = xragent.CalledTools(*r.Turn1, r.arm.Agent.Routed)
	}
	if b := r.Measurement; b != nil {
		o.Gated, o.Withheld, o.ViewOK = true, b.Reason, r.viewOK
	}
	scorer, err := benchmarks.ParseScorer(r.plan.Spec.Agent.Scorer)
	if err != nil {
		return o, fail(contract.ErrTypeSpec, "%w", err)
	}
	form := benchmarks.TagOnly
	switch {
	case direct:
		o.Reply, form = r.Turn1.Text, benchmarks.Cascade
	case r.Turn2 != nil:
		o.Reply = r.Turn2.Text
	}
	read := scorer.Score(r.item.Question, o.Reply, form)
	o.Answer, o.Unparsed, o.Correct = read.Answer, read.Unparsed, read.Correct
	return o, o.Validate()
}

// result is what an activity says of a finished rollout.
func (r *rollout) result() (contract.RolloutResult, error) {
	o, err := r.outcome(contract.RolloutSet{Policy: r.in.Policy, Card: r.card.Name, Arm: r.in.Arm}, "")
	if err != nil {
		return contract.RolloutResult{}, err
	}
	return contract.RolloutResult{Ending: string(r.Ending), Correct: o.Correct, Asked: len(r.calls)}, nil
}

// configOf names the configuration that a set counts in: by the training that its policy had, or
// by the policy's card where the spec names none.
func configOf(role string, set contract.RolloutSet) string {
	if role == "" {
		role = set.Card
	}
	return xragent.ConfigurationOf(role, set.Arm)
}
