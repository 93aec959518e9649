package activities

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
	"cxrepro/internal/provenance"
	"cxrepro/internal/trainer/quiztraining"
	"cxrepro/internal/xragent"
)

// PrepareTraining puts the training of a plan together: what it is trained on, and its runs. A
// training that shares a picture with what will judge it is refused before it costs anything.
func (a *Activities) PrepareTraining(ctx context.Context, in contract.PrepareTrainingInput) (contract.PreparedTraining, error) {
	var out contract.PreparedTraining
	p := a.beat(ctx, 1)
	defer p.close()
	pl, err := a.plan(p.work, in.Plan)
	if err != nil {
		return out, err
	}
	section, pin := pl.Spec.Training, pl.Training
	if section == nil || pin == nil {
		return out, fail(contract.ErrTypeSpec, "plan %s has no training section", pl.Ref.Digest.Short())
	}
	plan, err := pl.TrainingPlan()
	if err != nil {
		return out, fail(contract.ErrTypeSpec, "%w", err)
	}
	if out.Plan, err = putJSON(p.work, a.opts.Store, plan, experiments.PlanMediaType); err != nil {
		return out, err
	}
	key := contract.PrepareTrainingKey(out.Plan.Digest, pin.Recipe, pin.Base, section)
	rec, err := a.steps.once(p, key, &tally{effort: effort{reproduction: in.Reproduction, id: in.Reproduction}}, pl.Class(), func(context.Context) (product, error) {
		return a.assemble(p, pl, out.Plan, in.Reproduction)
	})
	if err != nil {
		return out, err
	}
	t, _, err := a.training(p.work, rec.Result, 0)
	if err != nil {
		return out, err
	}
	q, err := a.questions(p.work, t.Questions)
	if err != nil {
		return out, err
	}
	if err := a.refuseLeak(p.work, pl, t, in.Questions); err != nil {
		return out, err
	}
	if plan.View != nil {
		out.Windows = contract.PictureWindows(len(q.Pictures()))
	}
	out.Training, out.Base, out.Questions = rec.Result, t.BaseWeights, t.Questions
	for _, run := range t.Runs {
		out.Stages = append(out.Stages, run.Stage)
		if run.Stage == experiments.CheckpointGRPO {
			out.Rounds += run.Steps
		} else {
			out.Steps += run.Steps
		}
	}
	return out, nil
}

// assemble stores a training and everything that it names.
func (a *Activities) assemble(p *pulse, pl *derive.Plan, plan artifacts.Ref, reproduction string) (product, error) {
	section, pin := pl.Spec.Training, pl.Training
	arm, err := xragent.ArmOf(section.Arm, xragent.Profile(pl.Spec.Agent.Profile))
	if err != nil {
		return product{}, fail(contract.ErrTypeSpec, "training.arm: %w", err)
	}
	t := contract.Training{
		Format: contract.TrainingFormat, Name: section.Policy.Name, DataUse: pl.Spec.Dataset.DataUse, Base: fmt.Sprintf("%s, seed %d", section.Trainer, section.Seed),
		BaseWeights: pin.Base, BaseFiles: pin.Files, Plan: plan, Arm: section.Arm,
	}
	if pin.Files.IsZero() {
		t.Base = section.Policy.Title
	}
	recorder := a.recorder(p.work, reproduction)
	var data quiztraining.Data
	if section.Data.Quiz != nil {
		data, err = quiztraining.Draw(p.work, recorder, t.Name, arm, *section.Data.Quiz, a.bundles(p, plan, reproduction), p.progress)
	} else {
		data, err = a.radcotData(p, recorder, &t, section)
	}
	if err != nil {
		return product{}, err
	}
	reward, err := artifacts.Canonical(pl.Spec.Agent.Reward)
	if err != nil {
		return product{}, err
	}
	t.Questions, t.Runs = data.Questions, quiztraining.Runs(section, pin.Recipe, artifacts.Sum(reward), data)
	text, err := artifacts.Canonical(t)
	materials := []provenance.Descriptor{described(pin.Base), provenance.Describe("plan", plan), provenance.Describe("questions", t.Questions)}
	if !data.Trained.IsZero() {
		materials = append(materials, provenance.Describe("training-set", data.Trained))
	}
	return product{data: text, mediaType: contract.TrainingMediaType, materials: materials}, err
}

// bundles measures pictures under the plan of a training, or finds what was measured.
func (a *Activities) bundles(p *pulse, plan artifacts.Ref, reproduction string) quiztraining.Bundles {
	return func(ctx context.Context, image artifacts.Ref) (xragent.Bundle, error) {
		pl, err := a.plan(ctx, plan)
		if err != nil {
			return xragent.Bundle{}, err
		}
		rec, err := a.measured(p, pl, image, &tally{effort: effort{reproduction: reproduction, id: reproduction}})
		if err != nil {
			return xragent.Bundle{}, err
		}
		doc, err := getJSON[contract.MeasurementDoc](ctx, a.opts.Store, rec.Result)
		return doc.Gated, err
	}
}

// ServeCheckpoint makes the policy's server answer as weights of a training.
func (a *Activities) ServeCheckpoint(ctx context.Context, in contract.ServeCheckpointInput) (struct{}, error) {
	t, run, err := a.training(ctx, in.Training, 0)
	if err != nil {
		return struct{}{}, err
	}
	p := a.beat(ctx, 1)
	defer p.close()
	return struct{}{}, a.serveStored(p, t, run, in.Weights)
}
