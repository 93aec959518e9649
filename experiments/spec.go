package experiments

// Spec is one experiment as written. Every field that can change a number is required or
// has no default that is a number.
type Spec struct {
	// Name is the experiment's own name, lower-case words joined by '-'.
	Name string `yaml:"name" json:"name"`
	// Paper names the publication whose numbers are reproduced.
	Paper string `yaml:"paper" json:"paper"`
	// Preset is as_published, as_released or corrected.
	Preset string `yaml:"preset" json:"preset"`
	// Thresholds override single rows of the threshold table, limits and switches alike, by
	// task.rule.name.
	Thresholds map[string]any `yaml:"thresholds,omitempty" json:"thresholds,omitempty"`
	// Tasks are the diagnostic tasks to assess, in any order; stored in the table's order.
	// They and the masks are stated unless a released benchmark is read.
	Tasks   []string `yaml:"tasks,omitempty" json:"tasks"`
	Dataset Dataset  `yaml:"dataset" json:"dataset"`
	Masks   Masks    `yaml:"masks,omitempty" json:"masks"`
	// Expected are the published figures, for comparison; they enter no step key but that
	// of the summary.
	Expected *Expected `yaml:"expected,omitempty" json:"expected,omitempty"`
	// Switches override single switches of the preset of benchmark, dialogue, judge and
	// scores, by name.
	Switches map[string]string `yaml:"switches,omitempty" json:"switches,omitempty"`
	// Benchmark and Evaluation go on where the findings end.
	Benchmark  *Benchmark  `yaml:"benchmark,omitempty" json:"benchmark,omitempty"`
	Evaluation *Evaluation `yaml:"evaluation,omitempty" json:"evaluation,omitempty"`
	// Agent stands in their place: questions that a two-turn agent answers.
	Agent *Agent `yaml:"agent,omitempty" json:"agent,omitempty"`
	// Training makes checkpoints that the agent section evaluates.
	Training *Training `yaml:"training,omitempty" json:"training,omitempty"`
}

// Dataset says which images of which data set enter, and with which companions.
type Dataset struct {
	// Name is what --data NAME=PATH refers to.
	Name string `yaml:"name" json:"name"`
	// Layout is the published folder layout: mimic-cxr-jpg, or cxreasonbench for a released
	// benchmark, which has only name, layout and data_use; for an agent that of a question set.
	Layout string `yaml:"layout" json:"layout"`
	// Views are the view positions that enter, for example [PA, AP].
	Views []string `yaml:"views,omitempty" json:"views"`
	// Split is all, train, validate or test.
	Split string `yaml:"split,omitempty" json:"split"`
	// Boxes is the source of anatomical boxes: chest-imagenome or none.
	Boxes string `yaml:"boxes,omitempty" json:"boxes"`
	// Lungs is the source of the second right-lung contour: chexmask or none.
	Lungs string `yaml:"lungs,omitempty" json:"lungs"`
	// LungsMinDice is the least estimated quality at which a CheXmask contour is used; 0
	// takes all, as CheXStruct does. Stated exactly when lungs is chexmask.
	LungsMinDice *float64 `yaml:"lungs_min_dice,omitempty" json:"lungs_min_dice,omitempty"`
	// DataUse is the class of the data: synthetic, public, public_attribution or
	// credentialed. A known data set cannot be given a weaker class than its licence asks for.
	DataUse string `yaml:"data_use" json:"data_use"`
	// Sampling limits the number of images; absent means all.
	Sampling *Sampling `yaml:"sampling,omitempty" json:"sampling,omitempty"`
	Limits   Limits    `yaml:"limits,omitempty" json:"limits"`
	// Quiz says which questions are drawn, for layout quiz.
	Quiz *Quiz `yaml:"quiz,omitempty" json:"quiz,omitempty"`
	// Counts of a published question set are checked unless this is any.
	Counts string `yaml:"counts,omitempty" json:"counts,omitempty"`
}

// Sampling takes the first Limit images that pass the selection.
type Sampling struct {
	Limit int `yaml:"limit" json:"limit"`
	// Order is table (as the metadata lists them) or hash (by digest of the image's name,
	// which is even across the data set).
	Order string `yaml:"order" json:"order"`
}

// Limits bound one image; an image beyond them is quarantined, so they can change counts.
type Limits struct {
	MaxBytes  int64 `yaml:"max_bytes" json:"max_bytes"`
	MaxPixels int64 `yaml:"max_pixels" json:"max_pixels"`
}

// Masks says where anatomical masks come from.
type Masks struct {
	// Source is onnx (a model described by a card) or import (files made elsewhere).
	Source string `yaml:"source" json:"source"`
	// Card is the model card's path, relative to the spec. A plan replaces it by digests.
	Card string `yaml:"card,omitempty" json:"card,omitempty"`
	// Provider is the ONNX Runtime execution provider: cpu or cuda.
	Provider string `yaml:"provider,omitempty" json:"provider,omitempty"`
	// Import names the file form of imported masks.
	Import *Import `yaml:"import,omitempty" json:"import,omitempty"`
}

// Import describes mask files that exist already.
type Import struct {
	// Kind is the form of the files.
	Kind string `yaml:"kind" json:"kind"`
	// Folder lies below the data root "masks", or below the data set's where there is none,
	// and holds one entry per image, named by the image.
	Folder string `yaml:"folder" json:"folder"`
	// Structures are what the files can hold at all; absent means all 159.
	Structures []string `yaml:"structures,omitempty" json:"structures,omitempty"`
}

// Values of the closed fields.
const (
	LayoutMIMIC = "mimic-cxr-jpg"
	SourceNone  = "none"
	BoxesChest  = "chest-imagenome"
	LungsMask   = "chexmask"
	MasksONNX   = "onnx"
	MasksImport = "import"
	SplitAll    = "all"
	OrderTable  = "table"
	OrderHash   = "hash"
)

// Expected are the figures that the paper publishes for this experiment.
type Expected struct {
	// Source says where they stand.
	Source string `yaml:"source" json:"source"`
	// Images is the number of images before, Kept after the global filter.
	Images int `yaml:"images" json:"images"`
	Kept   int `yaml:"kept" json:"kept"`
	// Tasks are the rows of the label table.
	Tasks []ExpectedTask `yaml:"tasks" json:"tasks"`
}

// ExpectedTask is one published row: images with a label, and how many per label.
type ExpectedTask struct {
	Task   string         `yaml:"task" json:"task"`
	Total  int            `yaml:"total" json:"total"`
	Labels map[string]int `yaml:"labels" json:"labels"`
}
