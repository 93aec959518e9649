package experiments

import (
	"fmt"
	"reflect"
	"slices"

	"cxrepro/artifacts"
)

// PlanMediaType is the media type of a stored plan.
const PlanMediaType = "application/vnd.cxrepro.plan+json"

// Plan is a spec in normal form: tasks in the table's order, numbers as numbers, and the
// outside files it names replaced by the digests of their bytes. Its canonical encoding is
// the identity of the experiment.
type Plan struct {
	Format string `json:"format"`
	Spec   Spec   `json:"spec"`
	// Model holds the card and weights of masks.source onnx; nil otherwise.
	Model *Model `json:"model,omitempty"`
	// Models are the cards of the models under evaluation, in the spec's order, Judge that
	// of the judge.
	Models []ModelCard `json:"models,omitempty"`
	Judge  *ModelCard  `json:"judge,omitempty"`
	// Prompts is the prompt pack of an experiment with a benchmark.
	Prompts artifacts.Ref `json:"prompts,omitzero"`
	// The rest belongs to an agent, whose policies' cards are Models: the view model, the card
	// of the reference book, the stored calibration (zero for limits from literature), and the
	// arms by content.
	View        *Model        `json:"view,omitempty"`
	Lookup      *ModelCard    `json:"lookup,omitempty"`
	Calibration artifacts.Ref `json:"calibration,omitzero"`
	Arms        []ArmPin      `json:"arms,omitempty"`
	// Training is what a training begins with.
	Training *TrainingPin `json:"training,omitempty"`
}

// Model is a segmentation model, or a view model, by content.
type Model struct {
	Name string `json:"name"`
	// Card is the digest of the card's bytes, Weights of the graph's bytes.
	Card    artifacts.Ref `json:"card"`
	Weights artifacts.Ref `json:"weights"`
	// Settings is the digest of what the card says about input, output and channels, and
	// Preprocessing names the code around the model. Workers with other code refuse the plan.
	Settings      artifacts.Digest `json:"settings"`
	Preprocessing string           `json:"preprocessing"`
}

// planFormat changes when a plan's meaning changes.
const planFormat = "cxrepro-plan-1"

// Pins are what replaces the outside files that a spec names.
type Pins struct {
	// Model is given exactly when the masks come from a model.
	Model *Model
	// Models are the cards of evaluation.models, or of agent.policies, in their order, Judge
	// that of evaluation.judge.
	Models []ModelCard
	Judge  *ModelCard
	// Prompts is the stored prompt pack, given exactly with a benchmark.
	Prompts artifacts.Ref
	// View, Lookup and Calibration are given as an agent section names them.
	View        *Model
	Lookup      *ModelCard
	Calibration artifacts.Ref
	// Training is given exactly with a training section, whose cards are among Models.
	Training *TrainingPin
}

// NewPlan pins a spec without benchmark. model must be given exactly when the masks come from
// a model.
func NewPlan(s *Spec, model *Model) (*Plan, error) { return Pin(s, Pins{Model: model}) }

// Pin makes a spec a plan.
//
// Errors: pins that are missing or too many, cards that do not fit the evaluation.
func Pin(s *Spec, pins Pins) (*Plan, error) {
	for _, c := range []struct {
		field        string
		named, given bool
	}{
		{"masks.card", s.Masks.Source == MasksONNX, pins.Model != nil},
		{"evaluation.judge", s.Evaluation != nil && s.Evaluation.Judge != "", pins.Judge != nil},
		{"benchmark", s.Benchmark != nil, !pins.Prompts.IsZero()},
		{"agent.view", s.Agent != nil && s.Agent.View != "", pins.View != nil},
		{"training", s.Training != nil, pins.Training != nil},
		{"agent.lookup", s.Agent != nil && s.Agent.Lookup != "", pins.Lookup != nil},
		{"agent.calibration", s.Agent != nil && s.Agent.Calibration != "", !pins.Calibration.IsZero()},
	} {
		if c.named != c.given {
			return nil, fmt.Errorf("plan %s: %s: the spec names what is pinned there: %t; it was pinned: %t", s.Name, c.field, c.named, c.given)
		}
	}
	if err := s.fits(pins); err != nil {
		return nil, fmt.Errorf("plan %s: %w", s.Name, err)
	}
	p := &Plan{
		Format: planFormat, Spec: *s, Model: pins.Model, Models: slices.Clone(pins.Models), Judge: pins.Judge, Prompts: pins.Prompts,
		View: pins.View, Lookup: pins.Lookup, Calibration: pins.Calibration, Training: pins.Training,
	}
	p.Spec.Masks.Card = ""
	if b := s.Benchmark; b != nil {
		pinned := *b
		pinned.Prompts = ""
		p.Spec.Benchmark = &pinned
	}
	if e := s.Evaluation; e != nil {
		pinned := *e
		pinned.Models, pinned.Judge = nil, ""
		p.Spec.Evaluation = &pinned
	}
	if a := s.Agent; a != nil {
		pinned := *a
		pinned.View, pinned.Lookup, pinned.Calibration, pinned.Policies = "", "", "", slices.Clone(a.Policies)
		for i := range pinned.Policies {
			pinned.Policies[i].Card = ""
		}
		p.Spec.Agent = &pinned
		var err error
		if p.Arms, err = pinArms(a); err != nil {
			return nil, fmt.Errorf("plan %s: %w", s.Name, err)
		}
	}
	return p, nil
}

// fits compares the cards with the evaluation.
func (s *Spec) fits(pins Pins) error {
	field, named, draws := "evaluation.models", 0, ""
	switch {
	case s.Evaluation != nil:
		named = len(s.Evaluation.Models)
		if slices.Contains(s.Evaluation.Sampling, Draws3) {
			draws = Draws3
		}
	case s.Agent != nil:
		field, named = "agent.policies", len(s.Agent.Policies)
		if s.Agent.Sampling == Draws {
			draws = Draws
		}
	}
	if named != len(pins.Models) {
		return fmt.Errorf("%s: the spec names %d cards, %d were pinned", field, named, len(pins.Models))
	}
	seen := map[string]bool{}
	for i, m := range pins.Models {
		if seen[m.Name] {
			return fmt.Errorf("%s[%d]: %q is the name of an earlier card; cards are told apart by name", field, i, m.Name)
		}
		seen[m.Name] = true
		if m.Draws == nil && draws != "" {
			return fmt.Errorf("%s[%d]: card %s says nothing of draws, which sampling %s needs", field, i, m.Name, draws)
		}
		for k, o := range pins.Models[:i] {
			if o.answersAs(&m) && s.checkpointOf(k) == s.checkpointOf(i) {
				return fmt.Errorf("%s[%d]: cards %s and %s describe one model: every answer of one would be taken for the other; "+
					"give each the identity of its own weights or snapshot", field, i, o.Name, m.Name)
			}
		}
	}
	if l := pins.Lookup; l != nil && seen[l.Name] {
		return fmt.Errorf("agent.lookup: %q is the name of a policy's card; cards are told apart by name", l.Name)
	}
	return nil
}

// checkpointOf is the checkpoint of the spec's training that a card is asked as, "" for its own weights.
func (s *Spec) checkpointOf(card int) string {
	if s.Agent == nil || card >= len(s.Agent.Policies) {
		return ""
	}
	return s.Agent.Policies[card].Checkpoint
}

// answersAs reports whether two cards lead to the same calls.
func (c *ModelCard) answersAs(o *ModelCard) bool {
	a, b := *c, *o
	a.Name, a.Title, a.Note, a.Retries, a.MaxPictures, a.Simulated = b.Name, b.Title, b.Note, b.Retries, b.MaxPictures, b.Simulated
	return reflect.DeepEqual(a, b)
}

// Encode returns the plan's canonical bytes.
func (p *Plan) Encode() ([]byte, error) { return artifacts.Canonical(p) }

// Digest is the identity of the experiment.
func (p *Plan) Digest() (artifacts.Digest, error) {
	data, err := p.Encode()
	if err != nil {
		return artifacts.Digest{}, err
	}
	return artifacts.Sum(data), nil
}
