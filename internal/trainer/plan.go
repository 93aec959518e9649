package trainer

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"cxrepro/artifacts"
)

// Mode says who generates.
type Mode string

const (
	// PlatformDriven: we roll out against a served checkpoint and score; the trainer updates.
	PlatformDriven Mode = "platform_driven"
	// TrainerDriven: the trainer generates, and asks us for observations and rewards.
	TrainerDriven Mode = "trainer_driven"
)

// Stage says what is trained.
type Stage string

const (
	// SFT trains on examples; a step is one step of the optimizer.
	SFT Stage = "sft"
	// GRPO trains on groups of rollouts; a step is one round.
	GRPO Stage = "grpo"
)

// File is one file by content. Name is its path below its folder, with slashes.
type File struct {
	Name   string           `json:"name"`
	Digest artifacts.Digest `json:"digest"`
	Size   int64            `json:"size"`
}

// Spec is everything that decides what a training gives. Addresses, tokens, folders and
// timeouts are not in it.
type Spec struct {
	// Trainer names the recipe, Recipe is its digest; Image is the digest of the container
	// image or program, where there is one.
	Trainer string           `json:"trainer"`
	Recipe  artifacts.Digest `json:"recipe"`
	Image   string           `json:"image,omitempty"`
	Mode    Mode             `json:"mode"`
	Stage   Stage            `json:"stage"`
	// Base are the weights that the training begins with, Reference those of a KL term.
	Base      artifacts.Digest `json:"base"`
	Reference artifacts.Digest `json:"reference,omitzero"`
	// Data are files of the run's folder that are there before the first step.
	Data []File `json:"data,omitempty"`
	// Schedule is the digest of schedule.jsonl; Steps is how many it has.
	Schedule artifacts.Digest `json:"schedule"`
	Steps    int              `json:"steps"`
	// Group is the number of draws of an item in a step, 1 for SFT.
	Group int `json:"group_size"`
	// Updates is how many times a step moves the optimizer.
	Updates int `json:"updates_per_step"`
	// SaveEvery is the number of steps between two checkpoints.
	SaveEvery int    `json:"save_every"`
	Seed      uint64 `json:"seed"`
	// Reward is the digest of the reward's configuration, zero for SFT.
	Reward artifacts.Digest `json:"reward,omitzero"`
	GPUs   int              `json:"gpus"`
	// Drops is how many rows the trainer may leave out because they are too long.
	Drops int `json:"allowed_drops"`
	// Hyper are the trainer's own settings.
	Hyper map[string]any `json:"hyperparameters"`
	// Scaled and Permuted say how advantages are made of rewards, where we make them: divided by the
	// group's deviation, and of rewards that are permuted inside the group (Permuted, a control).
	Scaled   bool `json:"scaled_advantages,omitempty"`
	Permuted bool `json:"permuted_rewards,omitempty"`
}

// Identity is the run identity: equal specs are one training.
func (s Spec) Identity() (artifacts.Digest, error) {
	if err := s.Validate(); err != nil {
		return artifacts.Digest{}, err
	}
	text, err := artifacts.Canonical(s)
	return artifacts.Sum(text), err
}

// Validate refuses a spec that no trainer could be started with.
func (s Spec) Validate() error {
	for _, c := range []struct {
		bad        bool
		field, way string
	}{
		{s.Trainer == "", "trainer", "the name of a recipe"},
		{s.Mode != PlatformDriven && s.Mode != TrainerDriven, "mode", "platform_driven or trainer_driven"},
		{s.Stage != SFT && s.Stage != GRPO, "stage", "sft or grpo"},
		{s.Base.IsZero(), "base", "the digest of the weights it begins with"},
		{s.Schedule.IsZero(), "schedule", "the digest of schedule.jsonl"},
		{s.Steps < 1, "steps", "at least 1"},
		{s.Group < 1 || s.Stage == SFT && s.Group != 1, "group_size", "the number of draws of an item: at least 1, and 1 for sft"},
		{s.Updates < 1, "updates_per_step", "at least 1"},
		{s.SaveEvery < 1, "save_every", "at least 1: without checkpoints nothing can be resumed or believed"},
		{s.GPUs < 0, "gpus", "0 or more"},
		{s.Drops < 0, "allowed_drops", "0 or more"},
		{s.Stage == GRPO && s.Reward.IsZero(), "reward", "the digest of the reward's configuration"},
	} {
		if c.bad {
			return fmt.Errorf("training spec: %s: want %s", c.field, c.way)
		}
	}
	for _, f := range s.Data {
		if !local(f.Name) {
			return fmt.Errorf("training spec: data: %q leads out of the run's folder", f.Name)
		}
	}
	return nil
}

// local reports a plain relative path without a way up.
func local(name string) bool {
	return name != "" && path.Clean(name) == name && !path.IsAbs(name) && name != ".." && !strings.HasPrefix(name, "../")
}

// PlanSchema is Plan.Schema.
const PlanSchema = 1

// Plan is plan.json, what a trainer reads of a spec. docs/trainer-contract.md has its fields.
type Plan struct {
	Schema    int              `json:"schema"`
	Run       artifacts.Digest `json:"run"`
	Trainer   string           `json:"trainer"`
	Mode      Mode             `json:"mode"`
	Stage     Stage            `json:"stage"`
	From      int              `json:"from_step"`
	To        int              `json:"to_step"`
	Group     int              `json:"group_size"`
	Seed      uint64           `json:"seed"`
	Base      artifacts.Digest `json:"base"`
	Reference string           `json:"reference"`
	SaveEvery int              `json:"save_every"`
	Hyper     map[string]any   `json:"hyperparameters"`
}

// Plan is the plan of the whole run.
func (s Spec) Plan() (Plan, error) {
	run, err := s.Identity()
	if err != nil {
		return Plan{}, err
	}
	p := Plan{
		Schema: PlanSchema, Run: run, Trainer: s.Trainer, Mode: s.Mode, Stage: s.Stage, To: s.Steps, Group: s.Group,
		Seed: s.Seed, Base: s.Base, SaveEvery: s.SaveEvery, Hyper: s.Hyper,
	}
	if !s.Reference.IsZero() {
		p.Reference = s.Reference.String()
	}
	if p.Hyper == nil {
		p.Hyper = map[string]any{}
	}
	return p, nil
}

// DecodePlan reads plan.json.
func DecodePlan(data []byte) (Plan, error) {
	var p Plan
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("plan.json: %w", err)
	}
	if p.Schema != PlanSchema || p.Run.IsZero() {
		return p, fmt.Errorf("plan.json: schema %d of run %s; hint: this version reads schema %d, with the identity of the run", p.Schema, p.Run.Short(), PlanSchema)
	}
	return p, nil
}

// Segment is a part of a run that is trained in one go: the steps after From up to To.
type Segment struct {
	Run  artifacts.Digest `json:"run"`
	From int              `json:"from_step"`
	To   int              `json:"to_step"`
	// Weights are those of step From.
	Weights artifacts.Digest `json:"weights"`
	// Batch is the file of the run's folder that holds the samples of an update, empty where
	// the trainer generates or reads examples.
	Batch string `json:"batch,omitempty"`
}

// Key is the idempotency key: the digest of run identity, from and to.
func (s Segment) Key() artifacts.Digest {
	return artifacts.Sum(fmt.Appendf(nil, "train-segment %s %d %d", s.Run, s.From, s.To))
}

// Validate refuses steps outside of a spec, and weights that cannot be those of step From.
func (s Segment) Validate(spec Spec) error {
	run, err := spec.Identity()
	if err != nil {
		return err
	}
	switch {
	case run != s.Run:
		return fmt.Errorf("training segment: it is of run %s and the spec is run %s; hint: a changed spec is another training and begins at its base", s.Run.Short(), run.Short())
	case s.From < 0 || s.To <= s.From || s.To > spec.Steps:
		return fmt.Errorf("training segment: steps (%d, %d] of a schedule of %d; hint: 0 <= from < to <= steps", s.From, s.To, spec.Steps)
	case s.Weights.IsZero() || s.From == 0 && s.Weights != spec.Base:
		return fmt.Errorf("training segment: step %d begins with weights %s, and the base is %s", s.From, s.Weights.Short(), spec.Base.Short())
	case s.Batch != "" && !local(s.Batch):
		return fmt.Errorf("training segment: batch: %q leads out of the run's folder", s.Batch)
	}
	return nil
}
