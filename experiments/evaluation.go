package experiments

import (
	"fmt"

	"cxrepro/internal/lvlm"
)

// Benchmark says which questions are asked. Absent, the experiment ends with its findings.
type Benchmark struct {
	// Source is build (from the findings of this experiment) or release (the published
	// benchmark, read from the data root dataset.name).
	Source string `yaml:"source" json:"source"`
	// Cases is the number of cases in all, divided evenly over the tasks.
	Cases int `yaml:"cases,omitempty" json:"cases,omitempty"`
	// Sample is balanced or random.
	Sample string `yaml:"sample,omitempty" json:"sample,omitempty"`
	// Pictures is the profile that pictures are drawn in: native or official.
	Pictures string `yaml:"pictures,omitempty" json:"pictures,omitempty"`
	// Seed names every random stream of the generator.
	Seed uint64 `yaml:"seed,omitempty" json:"seed"`
	// Prompts is the path of a prompt pack of one's own, relative to the spec. Absent, the
	// program's. A plan holds the pack itself.
	Prompts string `yaml:"prompts,omitempty" json:"prompts,omitempty"`
	// Radiographs is the name of the data root with the radiographs, for source release.
	Radiographs string `yaml:"radiographs,omitempty" json:"radiographs,omitempty"`
	// Counts of a release are checked against the published ones unless this is any.
	Counts string `yaml:"counts,omitempty" json:"counts,omitempty"`
}

// Evaluation says which models answer, how, and how they are judged.
type Evaluation struct {
	// Models are model cards' paths, relative to the spec. A plan replaces them by the cards.
	Models []string `yaml:"models" json:"models,omitempty"`
	// Judge is the judge's model card.
	Judge string `yaml:"judge,omitempty" json:"judge,omitempty"`
	// Scoring is judge (a model compares) or parser (the reply is read without one).
	Scoring string `yaml:"scoring" json:"scoring"`
	// Sampling lists greedy and draws3, each an evaluation of its own.
	Sampling []string `yaml:"sampling" json:"sampling"`
	// Paths lists path1, or path1 and path2; path2 brings the re-evaluation with it.
	Paths []string `yaml:"paths" json:"paths"`
	// Seed names the streams of the re-selection and the base of the draws' seeds.
	Seed uint64 `yaml:"seed" json:"seed"`
	// Bootstrap is the number of resamples of the intervals.
	Bootstrap int `yaml:"bootstrap" json:"bootstrap"`
	// Retry asks again where earlier rounds ended in a terminal outcome of these classes.
	Retry *RetryOutcomes `yaml:"retry,omitempty" json:"retry,omitempty"`
}

// RetryOutcomes asks calls again whose recorded outcome is terminal. judge_unparsable is a
// verdict that could not be read, also when the judge was asked again.
type RetryOutcomes struct {
	Outcomes []string `yaml:"outcomes" json:"outcomes"`
	// Round tells one repetition from the next; 1 for the first.
	Round int `yaml:"round" json:"round"`
}

// Values of closed fields.
const (
	SourceBuild   = "build"
	SourceRelease = "release"
	ScoringJudge  = "judge"
	ScoringParser = "parser"
	Greedy        = "greedy"
	Draws3        = "draws3"
	LayoutCXRB    = "cxreasonbench"
	CountsAny     = "any"
)

// ModelCard describes a vision-language model: what of it can change an answer. Where it
// runs stands in an endpoint card, which never enters a key.
type ModelCard struct {
	// Name is the card's own name; endpoint cards and task queues refer to it.
	Name string `yaml:"name" json:"name"`
	// Title is the model's name in tables, as the paper prints it.
	Title string `yaml:"title" json:"title"`
	// Adapter is openai, azure or gemini.
	Adapter  string        `yaml:"adapter" json:"adapter"`
	Identity lvlm.Identity `yaml:"identity" json:"identity"`
	// Pictures is the rule that prepares pictures: original, long1024, cxrb_original.
	Pictures string `yaml:"pictures" json:"pictures"`
	// MaxPictures is the most one request may hold; 0 means no limit.
	MaxPictures int `yaml:"max_pictures,omitempty" json:"max_pictures,omitempty"`
	// Greedy and Draws are what is sent in the two ways of sampling. A judge has Greedy.
	Greedy lvlm.Decoding  `yaml:"greedy" json:"greedy"`
	Draws  *lvlm.Decoding `yaml:"draws,omitempty" json:"draws,omitempty"`
	// Retries is how often a refusal, an empty or a truncated reply is asked again before it
	// is recorded as the call's outcome.
	Retries int `yaml:"retries" json:"retries"`
	// Simulated marks a stand-in; every table made with it says so.
	Simulated bool `yaml:"simulated,omitempty" json:"simulated,omitempty"`
	// Note is for people.
	Note string `yaml:"note,omitempty" json:"-"`
}

// KnownAs is how the keys of calls name the model. Nobody knows what answers under a card that
// pins nothing, so its name keeps it apart from others.
func (c *ModelCard) KnownAs() lvlm.Identity {
	id := c.Identity
	if id.Weights.IsZero() && id.Provider == "" && id.Unpinned != "" {
		id.Provider, id.Snapshot = "unpinned", c.Name
	}
	return id
}

// EvaluationOf is one model in one way of sampling: a line of the tables.
type EvaluationOf struct {
	// Index is its place in Plan.Evaluations.
	Index    int
	Model    *ModelCard
	Sampling string
	Draws    int
}

// Evaluations lists what the plan evaluates: model by model, each in every way of sampling.
func (p *Plan) Evaluations() []EvaluationOf {
	if p.Spec.Evaluation == nil {
		return nil
	}
	var out []EvaluationOf
	for i := range p.Models {
		for _, s := range p.Spec.Evaluation.Sampling {
			e := EvaluationOf{Index: len(out), Model: &p.Models[i], Sampling: s, Draws: 1}
			if s == Draws3 {
				e.Draws = 3
			}
			out = append(out, e)
		}
	}
	return out
}

// Name is the evaluation's name in workflow ids and reports, for example "gpt-4.1/draws3".
func (e EvaluationOf) Name() string { return fmt.Sprintf("%s/%s", e.Model.Name, e.Sampling) }
