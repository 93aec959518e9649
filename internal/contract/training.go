package contract

import (
	"cxrepro/artifacts"
	"cxrepro/experiments"
)

// StepPrepareTraining puts the training of a spec together: data, initial weights, runs.
const StepPrepareTraining = "prepare-training"

const versionPrepareTraining = 1

// TrainingDocMediaType is that of a TrainingDoc.
const TrainingDocMediaType = "application/vnd.cxrepro.training-doc+json"

// PrepareTrainingInput asks for the training of a plan, whose checkpoints Questions will judge.
type PrepareTrainingInput struct {
	Plan         artifacts.Ref `json:"plan"`
	Questions    artifacts.Ref `json:"questions"`
	Reproduction string        `json:"reproduction"`
}

// PreparedTraining is a training that can be run.
type PreparedTraining struct {
	Training artifacts.Ref    `json:"training"`
	Base     artifacts.Digest `json:"base"`
	// Stages names its runs, in order.
	Stages []string `json:"stages"`
	// Rounds is the number of steps of runs that roll out, Steps that of the others.
	Rounds int `json:"rounds"`
	Steps  int `json:"steps"`
	// Plan and Questions are what rounds roll out; Windows of their pictures are to be measured
	// first.
	Plan      artifacts.Ref `json:"plan"`
	Questions artifacts.Ref `json:"questions"`
	Windows   int           `json:"windows"`
}

// PrepareTrainingKey is the key of a training's document: the plan of its rounds, which pins policy,
// arm and reward, what the recipe is and begins with, and the section.
func PrepareTrainingKey(plan, recipe, base artifacts.Digest, section any) artifacts.KeyDoc {
	return artifacts.KeyDoc{
		Step: StepPrepareTraining, Version: versionPrepareTraining, Params: map[string]any{"training": section},
		Inputs: []artifacts.Material{{Name: "base", Digest: base}, {Name: "plan", Digest: plan}, {Name: "recipe", Digest: recipe}},
	}
}

// NamedWeights are weights by the name that a spec gives a checkpoint.
type NamedWeights struct {
	Name    string           `json:"name"`
	Weights artifacts.Digest `json:"weights"`
}

// ServeCheckpointInput makes the policy's server answer as weights of a training.
type ServeCheckpointInput struct {
	Training artifacts.Ref    `json:"training"`
	Weights  artifacts.Digest `json:"weights"`
}

// CloseTrainingInput asks for the documents of a training that has ended, from the records alone.
type CloseTrainingInput struct {
	Training artifacts.Ref `json:"training"`
	// Plan and Questions are what its checkpoints are judged on.
	Plan         artifacts.Ref `json:"plan"`
	Questions    artifacts.Ref `json:"questions"`
	Reproduction string        `json:"reproduction"`
}

// ClosedTraining ends a training. Doc is its TrainingDoc, Calls a Packed list of CallsDoc.
type ClosedTraining struct {
	Doc   artifacts.Ref `json:"doc"`
	Calls artifacts.Ref `json:"calls"`
}

// TrainingDoc is everything that a training gave, by content. It is a function of the records: it
// names no time, attempt or worker.
type TrainingDoc struct {
	Format   string        `json:"format"`
	Training artifacts.Ref `json:"training"`
	Name     string        `json:"name"`
	Runs     []TrainedRun  `json:"runs"`
	// Rollouts counts those of all rounds.
	Rollouts int `json:"rollouts"`
}

// TrainingDocFormat is TrainingDoc.Format.
const TrainingDocFormat = "cxrepro-training-doc-1"

// TrainedRun is one run of a trainer.
type TrainedRun struct {
	Stage string           `json:"stage"`
	Run   artifacts.Digest `json:"run"`
	Steps int              `json:"steps"`
	// Segments are TrainedSegments in order, Weights those of the last.
	Segments []artifacts.Ref  `json:"segments"`
	Weights  artifacts.Digest `json:"weights"`
	// Determinism is the class that the recipe declares.
	Determinism string         `json:"determinism"`
	Rounds      []TrainedRound `json:"rounds,omitempty"`
}

// TrainedRound is a round by its Batch.
type TrainedRound struct {
	Step    int           `json:"step"`
	Batch   artifacts.Ref `json:"batch"`
	Rewards RoundRewards  `json:"rewards"`
}

// BaseCheckpoint names the weights that a training begins with, as specs do.
const BaseCheckpoint = experiments.CheckpointBase

// ReceiptTraining carries what a receipt says about a training.
type ReceiptTraining struct {
	Prepared PreparedTraining `json:"prepared"`
	Closed   ClosedTraining   `json:"closed"`
	// Checkpoints are the weights by name, the base first.
	Checkpoints []NamedWeights `json:"checkpoints"`
}

// Activities of a training that is a stage of a reproduction; see Train for the others.
var (
	PrepareTraining = Activity[PrepareTrainingInput, PreparedTraining]{Name: "PrepareTraining"}
	ServeCheckpoint = Activity[ServeCheckpointInput, struct{}]{Name: "ServeCheckpoint"}
	CloseTraining   = Activity[CloseTrainingInput, ClosedTraining]{Name: "CloseTraining"}
)
