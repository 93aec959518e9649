package experiments

import (
	"fmt"

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
}

// Model is a segmentation model by content.
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

// NewPlan pins a spec. model must be given exactly when the masks come from a model.
func NewPlan(s *Spec, model *Model) (*Plan, error) {
	if (s.Masks.Source == MasksONNX) != (model != nil) {
		return nil, fmt.Errorf("plan %s: masks.source is %q, so the model must be %s", s.Name, s.Masks.Source,
			map[bool]string{true: "given", false: "absent"}[s.Masks.Source == MasksONNX])
	}
	p := &Plan{Format: planFormat, Spec: *s, Model: model}
	p.Spec.Masks.Card = ""
	return p, nil
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
