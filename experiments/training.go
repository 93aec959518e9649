package experiments

import (
	"fmt"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/picture"
	"cxrepro/internal/xragent"
)

// Training is a training whose checkpoints an agent section evaluates: examples, then rounds, by a
// trainer that is a program of others (docs/training.md).
type Training struct {
	// Trainer names a recipe, the folder with its recipe.yaml. A plan holds its digest.
	Trainer string `yaml:"trainer" json:"trainer"`
	// Mode says who generates in rounds: platform or trainer.
	Mode string `yaml:"mode" json:"mode"`
	// Policy is how the trained weights are asked. They are served by the recipe's own server,
	// which adds no setting that the recipe does not hold.
	Policy TrainedPolicy `yaml:"policy" json:"policy"`
	// Arm is how the agent runs in rounds.
	Arm  string       `yaml:"arm" json:"arm"`
	Data TrainingData `yaml:"data" json:"data"`
	// SFT and GRPO run in this order; one may be left out.
	SFT  *SFT  `yaml:"sft,omitempty" json:"sft,omitempty"`
	GRPO *GRPO `yaml:"grpo,omitempty" json:"grpo,omitempty"`
	// Seed decides order, sampling and, where the trainer makes them, the first weights.
	Seed uint64 `yaml:"seed" json:"seed"`
}

// TrainedPolicy is the model card of weights that are not there yet.
type TrainedPolicy struct {
	Name  string `yaml:"name" json:"name"`
	Title string `yaml:"title" json:"title"`
	// Weights is the digest of published weights to begin with; absent, the recipe makes them.
	Weights  artifacts.Digest `yaml:"weights,omitempty" json:"weights,omitzero"`
	Pictures string           `yaml:"pictures" json:"pictures"`
	Greedy   lvlm.Decoding    `yaml:"greedy" json:"greedy"`
	Draws    lvlm.Decoding    `yaml:"draws" json:"draws"`
}

// TrainingData says what is trained on: exactly one of its fields.
type TrainingData struct {
	// Quiz are drawn questions, which a scripted teacher answers for SFT.
	Quiz *Quiz `yaml:"quiz,omitempty" json:"quiz,omitempty"`
	// RadCoT is the digest of a construction's document (`cxrepro xragent radcot run`).
	RadCoT artifacts.Digest `yaml:"radcot,omitempty" json:"radcot,omitzero"`
}

// SFT trains on examples; a step is one of the optimizer.
type SFT struct {
	Steps     int            `yaml:"steps" json:"steps"`
	Batch     int            `yaml:"batch" json:"batch"`
	SaveEvery int            `yaml:"save_every" json:"save_every"`
	Hyper     map[string]any `yaml:"hyperparameters,omitempty" json:"hyperparameters,omitempty"`
}

// GRPO trains on rewarded rollouts, Group for each of Items questions a round.
type GRPO struct {
	Rounds  int `yaml:"rounds" json:"rounds"`
	Items   int `yaml:"items" json:"items"`
	Group   int `yaml:"group" json:"group"`
	Updates int `yaml:"updates" json:"updates"`
	// ScaleRewards divides advantages by the group's deviation.
	ScaleRewards bool `yaml:"scale_rewards" json:"scale_rewards"`
	// KeepNear has the trainer keep near the weights that the rounds begin with (a KL term).
	KeepNear bool `yaml:"kl_to_base" json:"kl_to_base"`
	// PermuteRewards makes a control of the training: rewards are permuted inside each group.
	PermuteRewards bool           `yaml:"permute_rewards,omitempty" json:"permute_rewards,omitempty"`
	Hyper          map[string]any `yaml:"hyperparameters,omitempty" json:"hyperparameters,omitempty"`
}

// Modes of a training, and the checkpoints that an agent section evaluates.
const (
	ModePlatform = "platform"
	ModeTrainer  = "trainer"

	CheckpointBase = "base"
	CheckpointSFT  = "sft"
	CheckpointGRPO = "grpo"
)

// Checkpoints lists what a training gives, in order: the weights that it begins with first.
func (t *Training) Checkpoints() []string {
	out := []string{CheckpointBase}
	if t.SFT != nil {
		out = append(out, CheckpointSFT)
	}
	if t.GRPO != nil {
		out = append(out, CheckpointGRPO)
	}
	return out
}

// TrainingPin is what a plan holds of a training beside its section.
type TrainingPin struct {
	// Recipe is the digest of the recipe with its programs.
	Recipe artifacts.Digest `json:"recipe"`
	// Base are the weights that it begins with, Files the manifest of their files, zero for
	// published weights that workers have.
	Base  artifacts.Digest `json:"base"`
	Files artifacts.Ref    `json:"files,omitzero"`
}

// Card is the model card of the policy at a checkpoint; of the policy that rolls out where the
// checkpoint is "". Its weights are those that the training begins with: what answers is said by
// whoever asks, and goes into the key.
func (t *Training) Card(pin TrainingPin, checkpoint string) ModelCard {
	p := t.Policy
	draws := p.Draws
	c := ModelCard{Name: p.Name, Title: p.Title, Adapter: lvlm.OpenAI, Identity: lvlm.Identity{Weights: pin.Base}, Pictures: p.Pictures, Greedy: p.Greedy, Draws: &draws}
	if checkpoint != "" {
		c.Name += "-" + checkpoint
		c.Title += ", " + checkpoint
	}
	return c
}

// TrainingPlan is the plan of the rounds: the agent of p with one arm and the one policy that is
// trained. It depends on nothing that is only evaluated.
func (p *Plan) TrainingPlan() (*Plan, error) {
	t, a := p.Spec.Training, p.Spec.Agent
	if t == nil || p.Training == nil {
		return nil, fmt.Errorf("plan %s trains nothing", p.Spec.Name)
	}
	out := &Plan{Format: p.Format, Models: []ModelCard{t.Card(*p.Training, "")}}
	out.Spec.Preset, out.Spec.Thresholds, out.Spec.Dataset.DataUse, out.Spec.Dataset.Limits = p.Spec.Preset, p.Spec.Thresholds, p.Spec.Dataset.DataUse, p.Spec.Dataset.Limits
	out.Spec.Agent = &Agent{
		Profile: a.Profile, AdmitAP: a.AdmitAP, Policies: []Policy{{}}, Arms: []string{t.Arm}, Sampling: Draws, Repeats: 1, Scorer: a.Scorer, Reward: a.Reward,
	}
	out.Lookup, out.Calibration = p.Lookup, p.Calibration
	if measures(t.Arm) {
		out.Model, out.View, out.Spec.Masks = p.Model, p.View, p.Spec.Masks
	}
	var err error
	out.Arms, err = pinArms(out.Spec.Agent)
	return out, err
}

// measures reports whether an arm measures pictures, which needs image models.
func measures(arm string) bool {
	a, err := xragent.ArmOf(arm, xragent.ProfileTable)
	return err != nil || !a.Agent.NoMeasurement && a.Agent.Direct == ""
}

// Measures reports whether any arm of the spec measures pictures.
func (s *Spec) Measures() bool {
	if s.Agent == nil {
		return false
	}
	return s.Training != nil && measures(s.Training.Arm) || slices.ContainsFunc(s.Agent.allArms(), measures)
}

// training checks the training section of an agent's spec.
func (v *validation) training(s *Spec) {
	t := s.Training
	if t == nil {
		for i, p := range s.Agent.Policies {
			if p.Checkpoint != "" {
				v.Add(fmt.Sprintf("agent.policies[%d].checkpoint", i), "%q is of no training; add a training section, or name a card", p.Checkpoint)
			}
		}
		return
	}
	if !nameForm.MatchString(t.Trainer) {
		v.Add("training.trainer", "%q: want the name of a recipe's folder such as tiny", t.Trainer)
	}
	v.oneOf("training.mode", t.Mode, ModePlatform, ModeTrainer)
	v.oneOf("training.arm", t.Arm, xragent.Arms()...)
	if directArm(t.Arm) {
		v.Add("training.arm", "%s is one turn of free text, which has no reward", t.Arm)
	}
	v.trainedPolicy(&t.Policy)
	v.trainingData(s)
	if t.SFT == nil && t.GRPO == nil {
		v.Add("training", "neither sft nor grpo is there; state at least one")
	}
	if x := t.SFT; x != nil {
		v.positive("training.sft.steps", x.Steps)
		v.positive("training.sft.batch", x.Batch)
		v.positive("training.sft.save_every", x.SaveEvery)
	}
	if x := t.GRPO; x != nil {
		v.positive("training.grpo.rounds", x.Rounds)
		v.positive("training.grpo.items", x.Items)
		v.positive("training.grpo.updates", x.Updates)
		if x.Group < 2 {
			v.Add("training.grpo.group", "want 2 draws or more, got %d: one alone has nothing to differ from", x.Group)
		}
	}
	known := t.Checkpoints()
	for i, p := range s.Agent.Policies {
		if p.Checkpoint != "" {
			v.oneOf(fmt.Sprintf("agent.policies[%d].checkpoint", i), p.Checkpoint, known...)
		}
	}
	if !slices.ContainsFunc(s.Agent.Policies, func(p Policy) bool { return p.Checkpoint != "" }) {
		v.Add("agent.policies", "none is a checkpoint of the training; add for example {checkpoint: %s, role: full}", known[len(known)-1])
	}
}

func (v *validation) positive(field string, n int) {
	if n < 1 {
		v.Add(field, "want 1 or more, got %d", n)
	}
}

func (v *validation) trainedPolicy(p *TrainedPolicy) {
	if !cardNameForm.MatchString(p.Name) || len(p.Name) > 50 {
		v.Add("training.policy.name", "%q: want lower-case letters and digits in words joined by '-' or '.', at most 50", p.Name)
	}
	v.title("training.policy.title", p.Title)
	if _, err := picture.Parse(p.Pictures); err != nil {
		v.Add("training.policy.pictures", "%v", err)
	}
	if t := p.Greedy.Temperature; t == nil || *t != 0 {
		v.Add("training.policy.greedy.temperature", "want 0")
	}
	if t := p.Draws.Temperature; t == nil || *t <= 0 || *t > 2 {
		v.Add("training.policy.draws.temperature", "want more than 0 and at most 2: a round compares draws that differ")
	}
	if s := p.Draws.Seed; s == nil || *s < 0 {
		v.Add("training.policy.draws.seed", "want 0 or more: the number of the draw is added to it")
	}
}

func (v *validation) trainingData(s *Spec) {
	d, use := s.Training.Data, strings.TrimSpace(s.Dataset.DataUse)
	switch {
	case (d.Quiz == nil) == d.RadCoT.IsZero():
		v.Add("training.data", "want exactly one of quiz and radcot")
	case d.Quiz != nil:
		v.quiz("training.data.quiz", d.Quiz)
		if use != "synthetic" {
			v.Add("dataset.data_use", "%q does not go with training.data.quiz, which is synthetic", use)
		}
	}
}
