package activities

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
	"cxrepro/internal/lvlm/picture"
	"cxrepro/internal/provenance"
	"cxrepro/internal/trainer"
	"cxrepro/internal/xragent"
)

// batchSample is one line of a batch's file.
type batchSample struct {
	Schema    int              `json:"schema"`
	Step      int              `json:"step"`
	Item      string           `json:"item_id"`
	Draw      int              `json:"draw"`
	Model     artifacts.Digest `json:"model"`
	Images    []string         `json:"images"`
	Messages  []xragent.Said   `json:"messages"`
	Reward    float64          `json:"reward"`
	Advantage float64          `json:"advantage"`

	// example is what the training set says of it.
	example contract.TrainingExample
}

// CloseRound makes the batch of a round from the records alone: its rollouts, their rewards and
// advantages, and the file that the trainer reads.
func (a *Activities) CloseRound(ctx context.Context, in contract.RoundInput) (contract.CloseRoundResult, error) {
	var out contract.CloseRoundResult
	t, run, err := a.training(ctx, in.Training, in.Index)
	if err != nil {
		return out, err
	}
	items, err := a.roundItems(ctx, run, in)
	if err != nil {
		return out, err
	}
	p := a.beat(ctx, len(items)*run.Group)
	defer p.close()
	b, err := a.gather(p, t, run, in, false)
	if err != nil {
		return out, err
	}
	rollouts, err := putJSON(p.work, a.storeOf(t), b.doc, contract.RolloutsMediaType)
	if err != nil {
		return out, err
	}
	a.fault(FaultRewardsStored)
	rec, err := a.steps.once(p, contract.BatchKey(in.Run.Run, in.Step, in.Weights, rollouts.Digest), &tally{effort: effort{reproduction: in.Reproduction, id: in.Reproduction}}, t.DataUse,
		func(ctx context.Context) (product, error) { return b.product(ctx, rollouts) })
	if err != nil {
		return out, err
	}
	a.fault(FaultBatchWritten)
	doc, err := getJSON[contract.Batch](p.work, a.opts.Store, rec.Result)
	out.Batch, out.Rewards = rec.Result, doc.Rewards
	return out, err
}

// gather walks the rollouts of a round over the records; page leaves out what only the trainer reads.
func (a *Activities) gather(p *pulse, t *contract.Training, run *contract.TrainingRun, in contract.RoundInput, page bool) (*batchMaker, error) {
	items, err := a.roundItems(p.work, run, in)
	if err != nil {
		return nil, err
	}
	b := &batchMaker{
		a: a, in: in, training: t, run: run, page: page, doc: contract.RolloutsDoc{Format: contract.RolloutsFormat, Set: fmt.Sprintf("step %d", in.Step)},
		seen: map[string]artifacts.Ref{}, account: newAccount(),
	}
	for _, it := range items {
		if err := p.next(); err != nil {
			return nil, err
		}
		if err := b.group(p.work, it); err != nil {
			return nil, err
		}
		p.step(run.Group)
	}
	return b, nil
}

// batchMaker gathers the samples of a round.
type batchMaker struct {
	a        *Activities
	in       contract.RoundInput
	training *contract.Training
	run      *contract.TrainingRun
	doc      contract.RolloutsDoc
	samples  []batchSample
	rewards  contract.RoundRewards
	// page says that only doc is wanted; account has the calls.
	page    bool
	account account
	// seen are the pictures by name; answers what the rollouts rest on.
	seen     map[string]artifacts.Ref
	pictures []contract.NamedRef
	answers  []provenance.Descriptor
}

// group adds the draws of one item.
func (b *batchMaker) group(ctx context.Context, it contract.TrainingItem) error {
	var rewards []float64
	first := len(b.samples)
	for k := range b.run.Group {
		r, err := b.a.rollout(ctx, contract.RolloutInput{
			Plan: b.training.Plan, Questions: b.training.Questions, Reproduction: b.in.Reproduction, Policy: b.training.Policy, Checkpoint: b.in.Weights,
			Arm: b.training.Arm, Item: it.Number, Draw: contract.TrainDraw(b.in.Step, b.run.Group, k),
		})
		if err != nil {
			return err
		}
		_, done, err := b.a.follow(ctx, r)
		if err != nil {
			return err
		}
		if !done {
			return fail(contract.ErrTypeUnknown, "draw %d of item %d has no end in the records", k, it.Number)
		}
		if r.item.ID != it.ID {
			return fail(contract.ErrTypeSpec, "item %d of the question set is not the one that the schedule means", it.Number)
		}
		s, err := b.sample(ctx, r, k)
		if err != nil {
			return err
		}
		rewards = append(rewards, s.Reward)
		b.samples = append(b.samples, s)
	}
	b.rewards.Groups++
	if xragent.Degenerate(rewards) {
		b.rewards.Degenerate++
	}
	if b.run.Permute {
		rewards = trainer.Permuted(rewards, b.run.Seed, b.in.Step, it.ID)
	}
	for k, v := range xragent.Advantages(rewards, b.run.Scale) {
		b.samples[first+k].Advantage = v
	}
	return nil
}

// sample is one rollout as the trainer reads it.
func (b *batchMaker) sample(ctx context.Context, r *rollout, k int) (batchSample, error) {
	s := batchSample{Schema: 1, Step: b.in.Step, Item: r.item.ID, Draw: k, Model: b.in.Weights}
	trajectory := r.arm.Agent.Trajectory(r.Rollout)
	score := xragent.ScoreTrajectory(trajectory, r.plan.Spec.Agent.Reward.Setting())
	s.Reward = score.R
	b.rewards.Mean += score.R
	b.rewards.Correct += score.Acc
	b.rewards.Calls += score.Calls
	if score.Format < 0 {
		b.rewards.Malformed++
	}
	outcome, err := r.outcome(contract.RolloutSet{Policy: r.in.Policy, Card: r.card.Name, Arm: r.in.Arm, Repeat: r.in.Draw}, "")
	if err != nil {
		return s, err
	}
	b.doc.Rollouts = append(b.doc.Rollouts, contract.RolloutDoc{Item: r.in.Item, Ending: string(r.Ending), Trajectory: trajectory, Score: &score, Calls: r.calls, Outcome: outcome})
	for _, c := range r.calls {
		b.answers = append(b.answers, provenance.Describe(fmt.Sprintf("rollout.%d.%s", len(b.doc.Rollouts)-1, c.Part), c.Answer))
	}
	for _, c := range r.accounts {
		b.account.add(c.key, c.count)
	}
	if b.page {
		return s, nil
	}
	if err := b.conversation(ctx, r, &s); err != nil {
		return s, err
	}
	line, err := artifacts.Canonical(s)
	s.example = contract.TrainingExample{Example: artifacts.Sum(line)}
	for _, image := range r.Pictures {
		s.example.Images = append(s.example.Images, image.Digest)
	}
	return s, err
}

// conversation writes what was sent and said, with pictures as they were sent.
func (b *batchMaker) conversation(ctx context.Context, r *rollout, s *batchSample) error {
	c, err := r.arm.Agent.Conversation(r.Rollout)
	if err != nil {
		return err
	}
	rule, err := picture.Parse(r.card.Pictures)
	if err != nil {
		return fail(contract.ErrTypeSpec, "card %s: %w", r.card.Name, err)
	}
	call := &derive.Call{Reproduction: b.in.Reproduction, ClassName: r.class, PictureRule: rule}
	s.Messages, s.Images = c.Messages, []string{}
	for _, image := range c.Images {
		sent, err := b.a.asks.picture(b.a, ctx, call, image)
		if err != nil {
			return err
		}
		s.Images = append(s.Images, b.picture(sent))
	}
	return nil
}

// picture names a picture in the run's folder.
func (b *batchMaker) picture(ref artifacts.Ref) string {
	end := ".png"
	if strings.Contains(ref.MediaType, "jpeg") {
		end = ".jpg"
	}
	name := "pictures/" + ref.Digest.Hex()[:32] + end
	if _, ok := b.seen[name]; !ok {
		b.seen[name] = ref
		b.pictures = append(b.pictures, contract.NamedRef{Name: name, Ref: ref})
	}
	return name
}

// product stores the batch with its file and its training set.
func (b *batchMaker) product(ctx context.Context, rollouts artifacts.Ref) (product, error) {
	var file bytes.Buffer
	for _, s := range b.samples {
		line, err := artifacts.Canonical(s)
		if err != nil {
			return product{}, err
		}
		file.Write(append(line, '\n'))
	}
	store := b.a.storeOf(b.training)
	doc := contract.Batch{
		Format: contract.BatchFormat, Run: b.in.Run.Run, Step: b.in.Step, Weights: b.in.Weights, Rollouts: rollouts, Pictures: b.pictures,
		Count: len(b.samples), Rewards: b.rewards,
	}
	doc.Rewards.Mean /= float64(max(1, len(b.samples)))
	var err error
	if doc.Samples, err = store.Put(ctx, file.Bytes(), contract.SamplesMediaType); err != nil {
		return product{}, err
	}
	if doc.Trained, err = b.trained(ctx); err != nil {
		return product{}, err
	}
	text, err := artifacts.Canonical(doc)
	materials := append([]provenance.Descriptor{described(b.in.Weights), provenance.Describe("spec", b.in.Run.Spec), provenance.Describe("rollouts", rollouts)}, b.answers...)
	return product{data: text, mediaType: contract.BatchMediaType, materials: materials,
		subjects: []provenance.Descriptor{provenance.Describe("samples", doc.Samples)}}, err
}

// trained records the batch as a training set, for lineage and overlap.
func (b *batchMaker) trained(ctx context.Context) (artifacts.Ref, error) {
	examples := make([]contract.TrainingExample, len(b.samples))
	for i, s := range b.samples {
		examples[i] = s.example
	}
	out, err := b.a.recorder(ctx, b.in.Reproduction).PutTrained(ctx, fmt.Sprintf("%s/step %d", b.training.Name, b.in.Step), b.training.DataUse, examples)
	return out.Set, err
}
