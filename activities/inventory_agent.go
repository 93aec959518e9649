package activities

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// agent notes an agent's reproduction: the question set with its pictures, what was measured, the
// rollouts with the records that they rest on, and the tables.
func (v *inventory) agent(ctx context.Context) error {
	r := v.r
	v.bound(r.Questions, "the question set")
	if m := v.pl.Plan.View; m != nil {
		v.open(m.Card, "card of the view model "+m.Name)
		v.blob(m.Weights, ClassWeights, "weights of the view model "+m.Name)
	}
	v.open(v.pl.Calibration, "the calibration of the gate")
	q, ok, err := readHeld[contract.Questions](ctx, v, r.Questions, "the question set")
	if err != nil {
		return err
	}
	if ok {
		if err := v.pictures(ctx, &q); err != nil {
			return err
		}
	}
	for i, ref := range r.RolloutSets {
		if err := v.rolloutSet(ctx, i, ref); err != nil {
			return err
		}
	}
	if err := v.training(ctx); err != nil {
		return err
	}
	v.open(r.AgentTables, "the tables of the agent")
	sets := make([]artifacts.Digest, len(r.RolloutSets))
	for i, ref := range r.RolloutSets {
		sets[i] = ref.Digest
	}
	_, err = v.entry(ctx, v.pl.AgentTablesKey(r.Questions.Digest, sets), "", "record of the tables of the agent")
	return err
}

// pictures notes the pictures of a question set with their masks and measurements.
func (v *inventory) pictures(ctx context.Context, q *contract.Questions) error {
	gate, err := v.a.gate(ctx, v.pl)
	if err != nil {
		return v.gap(artifacts.BlobObject(v.pl.Calibration.Digest), "the calibration of the gate", err)
	}
	for i, image := range q.Pictures() {
		v.bound(image, fmt.Sprintf("picture %d", i))
		if v.pl.Plan.View == nil {
			continue // no arm measures
		}
		role := fmt.Sprintf("masks of picture %d", i)
		rec, err := v.entry(ctx, contract.SegmentKey(image.Digest, v.pl.Inference()), "", "record of the "+role)
		if err != nil {
			return err
		}
		v.bound(rec.Result, role)
		key, err := v.pl.MeasureKey(image.Digest, gate)
		if err != nil {
			return err
		}
		role = fmt.Sprintf("measurement of picture %d", i)
		if rec, err = v.entry(ctx, key, "", "record of the "+role); err != nil {
			return err
		}
		v.bound(rec.Result, role)
		v.p.progress()
	}
	return nil
}

// rolloutSet notes the pages of a set with what they refer to.
func (v *inventory) rolloutSet(ctx context.Context, i int, ref artifacts.Ref) error {
	name := fmt.Sprintf("rollouts %d", i)
	v.open(ref, "the document of "+name)
	doc, ok, err := readHeld[contract.RolloutSetDoc](ctx, v, ref, name)
	if err != nil || !ok {
		return err
	}
	name = "rollouts of " + doc.Set.Name
	v.open(doc.Pages, "list of the "+name)
	packed, ok, err := readHeld[contract.Packed](ctx, v, doc.Pages, name)
	if err != nil || !ok {
		return err
	}
	for _, item := range packed.Items {
		where := fmt.Sprintf("page %d of the %s", item.Index, name)
		v.bound(item.Ref, where) // it holds what was asked and said
		page, ok, err := readHeld[contract.RolloutsDoc](ctx, v, item.Ref, where)
		if err != nil {
			return err
		}
		for k := 0; ok && k < len(page.Rollouts); k++ {
			if err := v.rolled(ctx, &page.Rollouts[k], name); err != nil {
				return err
			}
		}
		v.p.progress()
	}
	if i >= len(v.r.Accounts) || v.r.Accounts[i].IsZero() {
		return nil
	}
	return v.accounts(ctx, v.r.Accounts[i], name)
}

// rolled notes the records of one rollout.
func (v *inventory) rolled(ctx context.Context, d *contract.RolloutDoc, name string) error {
	for _, c := range d.Calls {
		v.bound(c.Answer, fmt.Sprintf("answer to %s, item %d, %s", c.Part, d.Item, name))
	}
	for _, tool := range d.Tools {
		role := fmt.Sprintf("observation of call %d, item %d, %s", tool.Call, d.Item, name)
		v.bound(tool.Result, role)
		if _, err := v.record(ctx, artifacts.Key{Step: contract.StepTool, Digest: tool.Key}, "", "record of the "+role); err != nil {
			return err
		}
	}
	for _, o := range d.Trajectory.Observations {
		for _, image := range o.Images {
			v.bound(image, fmt.Sprintf("picture of call %d, item %d, %s", o.Call, d.Item, name))
		}
	}
	return nil
}
