package contract

import (
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/xragent"
)

// Media types of question sets and rollouts.
const (
	QuestionsMediaType    = "application/vnd.cxrepro.questions+json"
	MeasurementMediaType  = "application/vnd.cxrepro.measurement+json"
	ObservationMediaType  = "application/vnd.cxrepro.observation+json"
	RolloutsMediaType     = "application/vnd.cxrepro.rollouts+json"
	RolloutSetMediaType   = "application/vnd.cxrepro.rollout-set+json"
	AgentTablesMediaType  = "application/vnd.cxrepro.agent-tables+json"
	AgentResultsMediaType = "application/vnd.cxrepro.agent-results+json"
)

// Questions is a question set: the data set of an agent's reproduction. Items are in the order
// of their ids; an item's number is its place. Their pictures are in the store.
type Questions struct {
	Format string `json:"format"`
	// Layout is that of the data set, Version names its importer with its rules.
	Layout  string         `json:"layout"`
	Version string         `json:"version"`
	DataUse string         `json:"data_use"`
	Items   []xragent.Item `json:"items"`
	Notes   []string       `json:"notes,omitempty"`
}

// QuestionsFormat is Questions.Format.
const QuestionsFormat = "cxrepro-questions-1"

// Pictures lists every picture of the set once, in the order of their digests.
func (q *Questions) Pictures() []artifacts.Ref {
	seen := map[artifacts.Digest]bool{}
	var out []artifacts.Ref
	for i := range q.Items {
		for _, p := range q.Items[i].Pictures {
			if !seen[p.Image.Digest] {
				seen[p.Image.Digest] = true
				out = append(out, p.Image)
			}
		}
	}
	sortRefs(out)
	return out
}

// MeasurementDoc is what is known of one picture: how its view reads, its masks, and the bundle
// that the gate makes of them. One record serves data construction, training and evaluation.
type MeasurementDoc struct {
	Format string           `json:"format"`
	Image  artifacts.Digest `json:"image"`
	// View is the reading of the view check, Code what withholds the bundle for it; empty passes.
	View xragent.ViewReading `json:"view"`
	Code string              `json:"code,omitempty"`
	// Masks are on the model's grid.
	Masks artifacts.Ref `json:"masks"`
	// Gated is the bundle; Ungated the one where the view's validity is ignored.
	Gated   xragent.Bundle `json:"gated"`
	Ungated xragent.Bundle `json:"ungated"`
}

// MeasurementFormat is MeasurementDoc.Format.
const MeasurementFormat = "cxrepro-measurement-1"

// Steps of an agent's reproduction.
const (
	StepMeasure       = "measure-picture"
	StepTool          = "tool"
	StepTabulateAgent = "tabulate-agent"
)

const (
	versionMeasure       = 1
	versionTool          = 1
	versionTabulateAgent = 1
)

// Measuring identifies how a picture is measured: both models, and everything that the gate
// decides by.
type Measuring struct {
	View, Segmentation Inference
	// Calibration is the digest of the limits in force, Rules the thresholds in words.
	Calibration artifacts.Digest
	Profile     string
	AdmitAP     bool
	Rules       string
	// Gate is the version of our own code.
	Gate int
}

// MeasureKey is the key of the MeasurementDoc of one picture.
func MeasureKey(image artifacts.Digest, m Measuring) artifacts.KeyDoc {
	model := func(f Inference) map[string]any {
		return map[string]any{"provider": f.Provider, "decoder": f.Decoder, "preprocessing": f.Preprocessing}
	}
	return artifacts.KeyDoc{
		Step: StepMeasure, Version: versionMeasure,
		Params: map[string]any{
			"view": model(m.View), "segmentation": model(m.Segmentation), "profile": m.Profile, "admit_ap": m.AdmitAP,
			"rules": m.Rules, "gate": m.Gate,
		},
		Inputs: []artifacts.Material{
			{Name: "calibration", Digest: m.Calibration}, {Name: "image", Digest: image},
			{Name: "model", Digest: m.Segmentation.Model}, {Name: "settings", Digest: m.Segmentation.Settings},
			{Name: "view", Digest: m.View.Model}, {Name: "view-settings", Digest: m.View.Settings},
		},
	}
}

// ToolKey is the key of what a tool of the platform answers: the tool with its version and
// arguments, the picture, and the masks where it reads them.
func ToolKey(name string, version int, arguments map[string]any, image, masks artifacts.Digest) artifacts.KeyDoc {
	in := []artifacts.Material{{Name: "image", Digest: image}}
	if !masks.IsZero() {
		in = append(in, artifacts.Material{Name: "masks", Digest: masks})
	}
	return artifacts.KeyDoc{
		Step: StepTool, Version: versionTool,
		Params: map[string]any{"tool": name, "tool_version": version, "arguments": arguments}, Inputs: in,
	}
}

// TabulateAgentKey is the key of an agent's tables: what was asked, every set of rollouts, and
// how they are counted.
func TabulateAgentKey(questions artifacts.Digest, sets []artifacts.Digest, params map[string]any) artifacts.KeyDoc {
	in := []artifacts.Material{{Name: "questions", Digest: questions}}
	for i, d := range sets {
		in = append(in, artifacts.Material{Name: fmt.Sprintf("rollouts.%04d", i), Digest: d})
	}
	return artifacts.KeyDoc{Step: StepTabulateAgent, Version: versionTabulateAgent, Params: params, Inputs: in}
}
