package lineage

import (
	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
)

// Kind is what a node is.
type Kind string

// Kinds, from figures to pixels.
const (
	KindCell         Kind = "cell"
	KindReproduction Kind = "reproduction"
	KindTable        Kind = "table"
	KindEvaluation   Kind = "evaluation"
	KindRollouts     Kind = "page of rollouts"
	KindDialogue     Kind = "dialogue"
	KindCall         Kind = "call"
	KindModel        Kind = "model"
	KindCheckpoint   Kind = "checkpoint"
	KindTrainingSet  Kind = "training set"
	KindRollout      Kind = "rollout"
	KindExample      Kind = "training example"
	KindSettings     Kind = "settings"
	KindPrompt       Kind = "prompt"
	KindQuestion     Kind = "question"
	KindPicture      Kind = "picture"
	KindBenchmark    Kind = "benchmark"
	KindCase         Kind = "case"
	KindFinding      Kind = "finding"
	KindFindings     Kind = "findings"
	KindMeasurement  Kind = "measurement"
	KindObservation  Kind = "observation"
	KindParameter    Kind = "parameter"
	KindMasks        Kind = "masks"
	KindFacts        Kind = "facts"
	KindImage        Kind = "image"
	KindDataset      Kind = "data set"
	KindPlan         Kind = "plan"
	KindDocument     Kind = "document"
	KindResult       Kind = "result"
	KindArtifact     Kind = "artifact"
	KindCode         Kind = "code"
)

// Kinds lists every kind in the order of reading, which is that of ranks in a picture.
func Kinds() []Kind {
	return []Kind{
		KindCell, KindReproduction, KindTable, KindEvaluation, KindRollouts, KindDialogue, KindCall, KindModel, KindCheckpoint, KindTrainingSet, KindRollout, KindExample, KindSettings, KindPrompt, KindQuestion, KindPicture, KindBenchmark,
		KindCase, KindObservation, KindMeasurement, KindFinding, KindFindings, KindParameter, KindMasks, KindFacts, KindImage, KindDataset, KindPlan, KindDocument, KindResult, KindArtifact, KindCode,
	}
}

// plurals are those that an s does not make.
var plurals = map[Kind]string{
	KindSettings: "settings of models", KindFindings: "tables of findings", KindMasks: "sets of masks", KindFacts: "pixel facts", KindRollouts: "pages of rollouts", KindDataset: "data sets", KindCode: "versions of the program",
}

// Count is a number of nodes in words: "37 calls".
func (k Kind) Count(n int) string {
	words := string(k)
	if n != 1 {
		if words = plurals[k]; words == "" {
			words = string(k) + "s"
		}
	}
	return report.Number(n) + " " + words
}

// Node is an artifact, or a row of one.
type Node struct {
	// ID tells nodes apart: the kind with a digest or a row.
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// Title says in words what it is.
	Title string `json:"title"`
	// Digest is that of the artifact, or of the document that the row stands in; of a call
	// that of its answer. Zero for a cell and for code.
	Digest artifacts.Digest `json:"digest,omitzero"`
	// Key is the computation that gave it, Reproduction the effort that computed it.
	Key          artifacts.Key `json:"key,omitzero"`
	Reproduction string        `json:"reproduction,omitempty"`
	// Removed: garbage collection removed it; its lineage is that of its statement.
	Removed bool `json:"removed,omitempty"`
	// Depth is its distance from where the walk began.
	Depth int `json:"depth"`

	at place
}

// place is what leads on from a row.
type place struct {
	run  *Run
	cell *cxreasonbench.CellRef
	// label is set instead of cell for the table of labels.
	label *contract.Label
	// evaluation is its place in the run.
	evaluation int
	page       *page
	dialogue   int // on the page
	// turn and draw place a call, kind who is asked.
	turn, draw int
	kind       cxreasonbench.CallKind
	number     int // of a case
	question   cxreasonbench.Key
	finding    *finding
	// parameter says what sort of parameter it is.
	parameter string
	code      string
	// example is a row of a training set.
	example *example
	// leaf: a walk down ends here, since what follows has a walk of its own.
	leaf bool
	// stop: what depends on it is reached in another way.
	stop bool
}

// Edge says that From depends on To.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Name is what To is to From: the name of a material, or a word of ours.
	Name string `json:"name,omitempty"`
}

// Way is the direction of a walk. The zero value is invalid.
type Way uint8

// Ways: Down to what something depends on, Up to what depends on it.
const (
	Down Way = iota + 1
	Up
)

// next is a node that one step leads to.
type next struct {
	node Node
	name string
}
