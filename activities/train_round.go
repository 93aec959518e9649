package activities

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/internal/contract"
	"cxrepro/internal/provenance"
	"cxrepro/internal/trainer"
)

// scheduleStream names the order in which items are dealt to steps; the seed is the run's.
const scheduleStream = "training-order"

// PlanTraining makes the schedule and the spec of a run that begins with weights.
func (a *Activities) PlanTraining(ctx context.Context, in contract.PlanTrainingInput) (contract.PlannedRun, error) {
	var out contract.PlannedRun
	t, run, err := a.training(ctx, in.Training, in.Index)
	if err != nil {
		return out, err
	}
	base := in.Weights
	if base.IsZero() {
		base = t.BaseWeights
	}
	p := a.beat(ctx, 1)
	defer p.close()
	rec, err := a.steps.once(p, contract.PlanTrainingKey(in.Training.Digest, in.Index, base), &tally{}, t.DataUse, func(ctx context.Context) (product, error) {
		planned, err := a.planRun(ctx, t, run, base)
		if err != nil {
			return product{}, err
		}
		text, err := artifacts.Canonical(planned)
		return product{data: text, mediaType: contract.TrainingPlanMediaType,
			materials: []provenance.Descriptor{provenance.Describe("training", in.Training), described(base), provenance.Describe("items", run.Items)}}, err
	})
	if err != nil {
		return out, err
	}
	return getJSON[contract.PlannedRun](ctx, a.opts.Store, rec.Result)
}

func (a *Activities) planRun(ctx context.Context, t *contract.Training, run *contract.TrainingRun, base artifacts.Digest) (contract.PlannedRun, error) {
	var out contract.PlannedRun
	items, err := a.trainingItems(ctx, run.Items)
	if err != nil {
		return out, err
	}
	ids := make([]string, len(items))
	for i, it := range items {
		ids[i] = it.ID
	}
	schedule, err := trainer.NewSchedule(ids, run.Steps, run.Batch, scheduleStream, run.Seed)
	if err != nil {
		return out, fail(contract.ErrTypeSpec, "training %s: %w", t.Name, err)
	}
	lines, err := schedule.Encode()
	if err != nil {
		return out, err
	}
	spec := trainer.Spec{
		Trainer: run.Trainer, Recipe: run.Recipe, Image: run.Image, Mode: trainer.Mode(run.Mode), Stage: trainer.Stage(run.Stage), Base: base,
		Schedule: artifacts.Sum(lines), Steps: run.Steps, Group: run.Group, Updates: run.Updates, SaveEvery: run.SaveEvery, Seed: run.Seed,
		Reward: run.Reward, GPUs: run.GPUs, Drops: run.Drops, Hyper: run.Hyper, Scaled: run.RollsOut() && run.Scale, Permuted: run.RollsOut() && run.Permute,
	}
	if run.KeepNear {
		spec.Reference = base
	}
	for _, f := range run.Files {
		spec.Data = append(spec.Data, trainer.File{Name: f.Name, Digest: f.Ref.Digest, Size: f.Ref.Size})
	}
	if out.Run, err = spec.Identity(); err != nil {
		return out, fail(contract.ErrTypeSpec, "training %s: %w", t.Name, err)
	}
	store := a.storeOf(t)
	if out.Spec, err = putJSON(ctx, store, spec, contract.TrainingPlanMediaType); err != nil {
		return out, err
	}
	if out.Schedule, err = store.Put(ctx, lines, contract.ScheduleMediaType); err != nil {
		return out, err
	}
	out.Base, out.Steps, out.Segment, out.Group, out.RollsOut = base, run.Steps, max(run.Segment, 1), run.Group, run.RollsOut()
	return out, nil
}

// trainingItems reads the items that a schedule deals.
func (a *Activities) trainingItems(ctx context.Context, ref artifacts.Ref) ([]contract.TrainingItem, error) {
	return load(ctx, a.docs, ref, func(ctx context.Context, ref artifacts.Ref) ([]contract.TrainingItem, error) {
		list, err := manifest.Open(ctx, a.opts.Store, ref)
		if err != nil {
			return nil, fmt.Errorf("items of the training: %w", err)
		}
		var out []contract.TrainingItem
		err = list.Each(ctx, 0, list.Total(), func(_ int64, item json.RawMessage) error {
			var it contract.TrainingItem
			if err := json.Unmarshal(item, &it); err != nil {
				return err
			}
			out = append(out, it)
			return nil
		})
		return out, err
	})
}

// roundItems are the items of a step, in the order of the schedule.
func (a *Activities) roundItems(ctx context.Context, run *contract.TrainingRun, in contract.RoundInput) ([]contract.TrainingItem, error) {
	schedule, err := load(ctx, a.docs, in.Run.Schedule, func(ctx context.Context, ref artifacts.Ref) (trainer.Schedule, error) {
		data, err := a.opts.Store.Get(ctx, ref)
		if err != nil {
			return nil, err
		}
		return trainer.DecodeSchedule(data)
	})
	if err != nil {
		return nil, err
	}
	if in.Step < 1 || in.Step > len(schedule) {
		return nil, fail(contract.ErrTypeSpec, "step %d of a schedule of %d", in.Step, len(schedule))
	}
	all, err := a.trainingItems(ctx, run.Items)
	if err != nil {
		return nil, err
	}
	numbers := make(map[string]int, len(all))
	for _, it := range all {
		numbers[it.ID] = it.Number
	}
	var out []contract.TrainingItem
	for _, id := range schedule[in.Step-1].Items {
		out = append(out, contract.TrainingItem{ID: id, Number: numbers[id]})
	}
	return out, nil
}

// OpenRound loads the weights that answer in a round, and says what is asked.
func (a *Activities) OpenRound(ctx context.Context, in contract.RoundInput) (contract.OpenRoundResult, error) {
	var out contract.OpenRoundResult
	t, run, err := a.training(ctx, in.Training, in.Index)
	if err != nil {
		return out, err
	}
	p := a.beat(ctx, 1)
	defer p.close()
	items, err := a.roundItems(p.ctx, run, in)
	if err != nil {
		return out, err
	}
	for _, it := range items {
		out.Items = append(out.Items, it.Number)
	}
	plan, err := a.plan(p.ctx, t.Plan)
	if err != nil {
		return out, err
	}
	if t.Policy < 0 || t.Policy >= len(plan.Models) {
		return out, fail(contract.ErrTypeSpec, "training %s: policy %d of a plan with %d model cards", t.Name, t.Policy, len(plan.Models))
	}
	out.Plan, out.Questions, out.Policy, out.Arm, out.Card = t.Plan, t.Questions, t.Policy, t.Arm, plan.Models[t.Policy].Name
	return out, a.serve(p, t, run, in)
}

// serve makes the policy's server answer as the weights of a round, which lie in the folder of the
// run but for the first.
func (a *Activities) serve(p *pulse, t *contract.Training, run *contract.TrainingRun, in contract.RoundInput) error {
	eq, recipe, err := a.policyServer(run)
	if err != nil {
		return err
	}
	a.fault(FaultServerLoading)
	folder := filepath.Join(eq.folder(in.Run.Run), filepath.FromSlash(recipe.Checkpoints))
	name := filepath.Join(folder, recipe.CheckpointName(in.Step-1, run.Updates))
	if _, err := os.Stat(filepath.Join(name, trainer.ManifestName)); in.Step == 1 || err != nil {
		return a.serveStored(p, t, run, in.Weights)
	}
	return eq.Server.Serve(p.ctx, recipe, name, in.Weights.String())
}

// serveStored makes the policy's server answer as weights of the store.
func (a *Activities) serveStored(p *pulse, t *contract.Training, run *contract.TrainingRun, weights artifacts.Digest) error {
	eq, recipe, err := a.policyServer(run)
	if err != nil {
		return err
	}
	name, err := a.bring(p.ctx, t, weights, recipe.Layout)
	if err != nil {
		return fmt.Errorf("weights %s, which answer: %w", weights.Short(), err)
	}
	return eq.Server.Serve(p.ctx, recipe, name, weights.String())
}

// policyServer refuses a worker that cannot serve the checkpoints of a run.
func (a *Activities) policyServer(run *contract.TrainingRun) (*Training, *trainer.Recipe, error) {
	eq, err := a.equipped()
	if err != nil {
		return nil, nil, err
	}
	if eq.Server == nil {
		return nil, nil, fail(contract.ErrTypeModel, "this worker serves no policy; start it with an address for the policy's server")
	}
	recipe, err := a.trainerRecipe(run)
	return eq, recipe, err
}

// bring puts stored weights into a folder of their own, and returns the checkpoint's.
func (a *Activities) bring(ctx context.Context, t *contract.Training, weights artifacts.Digest, layout string) (string, error) {
	eq, err := a.equipped()
	if err != nil {
		return "", err
	}
	var m trainer.Manifest
	if weights == t.BaseWeights && !t.BaseFiles.IsZero() {
		if m, err = a.filesManifest(ctx, t.BaseFiles); err != nil {
			return "", err
		}
	} else {
		list, err := a.stored(ctx, func(m trainer.Manifest) bool { return m.Weights == weights.String() })
		if err != nil {
			return "", err
		}
		if len(list) == 0 {
			return "", fail(contract.ErrTypeModel, "no checkpoint with weights %s is in the store, and the worker names no folder for them", weights)
		}
		m = list[len(list)-1]
	}
	return trainer.Download(ctx, a.opts.Store, m, filepath.Join(eq.Work, "weights", weights.Hex()[:16]), layout)
}

// batchLine is what of a sample in a batch's file the proof reads.
type batchLine struct {
	Step int    `json:"step"`
	Item string `json:"item_id"`
	Draw int    `json:"draw"`
}

func (a *Activities) batchLines(ctx context.Context, ref artifacts.Ref) (out []batchLine, err error) {
	data, err := a.opts.Store.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var l batchLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("batch %s: line %d: %w", ref.Digest.Short(), len(out)+1, err)
		}
		out = append(out, l)
	}
	return out, lines.Err()
}
