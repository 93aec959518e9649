package contract

import (
	"fmt"
	"time"

	"cxrepro/artifacts"
)

// Steps of a training.
const (
	// StepPlanTraining makes spec and schedule of one run of a training.
	StepPlanTraining = "plan-training"
	// StepBatch makes the batch of one step out of its rollouts.
	StepBatch = "batch"
	// StepCheckpointFiles are the files of one complete checkpoint, in whatever attempt.
	StepCheckpointFiles = "checkpoint-files"
	// StepTrainSegment trains the steps of one segment.
	StepTrainSegment = "train-segment"
)

const (
	versionPlanTraining    = 1
	versionBatch           = 1
	versionCheckpointFiles = 1
	versionTrainSegment    = 1
)

// Media types of a training.
const (
	TrainingMediaType     = "application/vnd.cxrepro.training+json"
	TrainingPlanMediaType = "application/vnd.cxrepro.training-plan+json"
	BatchMediaType        = "application/vnd.cxrepro.batch+json"
	SegmentMediaType      = "application/vnd.cxrepro.train-segment+json"
	ScheduleMediaType     = "application/vnd.cxrepro.schedule+jsonl"
	SamplesMediaType      = "application/vnd.cxrepro.samples+jsonl"
)

// Training is everything that a training is told: the runs of trainers, one after the other,
// and what they read. It is the recipe in the records of its checkpoints.
type Training struct {
	Format  string `json:"format"`
	Name    string `json:"name"`
	DataUse string `json:"data_use"`
	// Base names the published model or the initial weights, BaseWeights is their digest, and
	// BaseFiles the manifest of their files, if they are in the store.
	Base        string           `json:"base"`
	BaseWeights artifacts.Digest `json:"base_weights"`
	BaseFiles   artifacts.Ref    `json:"base_files,omitzero"`
	// Plan and Questions are the agent's plan and question set, for runs that roll out. Policy is
	// the place of its card in the plan, Arm the way in which the agent runs.
	Plan      artifacts.Ref `json:"plan,omitzero"`
	Questions artifacts.Ref `json:"questions,omitzero"`
	Policy    int           `json:"policy"`
	Arm       string        `json:"arm,omitempty"`
	Runs      []TrainingRun `json:"runs"`
}

// TrainingFormat is Training.Format.
const TrainingFormat = "cxrepro-training-1"

// TrainingRun is one run of a trainer.
type TrainingRun struct {
	// Trainer names the recipe, Recipe is its digest with the programs beside it.
	Trainer string           `json:"trainer"`
	Recipe  artifacts.Digest `json:"recipe"`
	Image   string           `json:"image,omitempty"`
	// Mode and Stage are those of the trainer contract.
	Mode  string `json:"mode"`
	Stage string `json:"stage"`
	Steps int    `json:"steps"`
	// Batch is the number of items of a step, Group that of their draws.
	Batch   int `json:"batch"`
	Group   int `json:"group_size"`
	Updates int `json:"updates_per_step"`
	// SaveEvery is the number of steps between checkpoints, Segment that of one activity.
	SaveEvery int    `json:"save_every"`
	Segment   int    `json:"segment"`
	Seed      uint64 `json:"seed"`
	GPUs      int    `json:"gpus"`
	Drops     int    `json:"allowed_drops"`
	// Scale divides advantages by the group's deviation. Reward is the digest of the reward's
	// configuration, zero for SFT.
	Scale  bool             `json:"scale_rewards"`
	Reward artifacts.Digest `json:"reward,omitzero"`
	Hyper  map[string]any   `json:"hyperparameters"`
	// KeepNear names the weights that the run begins with as the reference of a KL term.
	KeepNear bool `json:"kl_to_base,omitempty"`
	// Permute makes a control of the run: advantages are made of rewards that are permuted inside
	// each group (trainer.Permuted). Rewards stay as they were in records and sums.
	Permute bool `json:"permute_rewards,omitempty"`
	// Files are those of the run's folder that are there before the first step.
	Files []NamedRef `json:"files,omitempty"`
	// Items are the ids that the schedule deals: of examples, or of questions, whose numbers in
	// the question set are Numbers. Trained is the training set of a run that reads examples.
	Items   artifacts.Ref `json:"items"`
	Trained artifacts.Ref `json:"trained,omitzero"`
}

// RollsOut reports a run whose rollouts are ours.
func (r TrainingRun) RollsOut() bool { return r.Mode == "platform_driven" && r.Stage == "grpo" }

// NamedRef is a stored file with its name.
type NamedRef struct {
	Name string        `json:"name"`
	Ref  artifacts.Ref `json:"ref"`
}

// TrainingItem is one item that a schedule deals; Number is its place in the question set.
type TrainingItem struct {
	ID     string `json:"id"`
	Number int    `json:"number"`
}

// TrainingItemsKind is a list (package manifest) of TrainingItem.
const TrainingItemsKind = "training-items"

// PlanTrainingInput asks for spec and schedule of a run that begins with weights.
type PlanTrainingInput struct {
	Training artifacts.Ref    `json:"training"`
	Index    int              `json:"index"`
	Weights  artifacts.Digest `json:"weights,omitzero"`
}

// PlannedRun is a run with what its spec depends on. It is the record of StepPlanTraining.
type PlannedRun struct {
	// Run is the run identity, Spec the stored spec, Schedule the stored schedule.jsonl.
	Run      artifacts.Digest `json:"run"`
	Spec     artifacts.Ref    `json:"spec"`
	Schedule artifacts.Ref    `json:"schedule"`
	// Base are the weights that it begins with.
	Base artifacts.Digest `json:"base"`
	// Steps, Segment, Group and RollsOut are the run's, for workflows.
	Steps    int  `json:"steps"`
	Segment  int  `json:"segment"`
	Group    int  `json:"group_size"`
	RollsOut bool `json:"rolls_out"`
}

// PlanTrainingKey is the key of a planned run.
func PlanTrainingKey(training artifacts.Digest, index int, weights artifacts.Digest) artifacts.KeyDoc {
	return artifacts.KeyDoc{Step: StepPlanTraining, Version: versionPlanTraining, Params: map[string]any{"index": index},
		Inputs: []artifacts.Material{{Name: "training", Digest: training}, {Name: "weights", Digest: weights}}}
}

// RoundInput is one step of a run that rolls out.
type RoundInput struct {
	Training artifacts.Ref `json:"training"`
	Index    int           `json:"index"`
	Run      PlannedRun    `json:"run"`
	Step     int           `json:"step"`
	// Weights answer in this round.
	Weights artifacts.Digest `json:"weights"`
	// Reproduction pays for the calls.
	Reproduction string `json:"reproduction"`
}

// OpenRoundResult is what a round asks. The policy is loaded.
type OpenRoundResult struct {
	Plan      artifacts.Ref `json:"plan"`
	Questions artifacts.Ref `json:"questions"`
	Policy    int           `json:"policy"`
	Arm       string        `json:"arm"`
	// Items are their numbers in the question set.
	Items []int `json:"items"`
	// Card names the policy's model card, whose queue is asked.
	Card string `json:"card"`
}

// Batch is the record of StepBatch: the samples of a step and where they come from.
type Batch struct {
	Format  string           `json:"format"`
	Run     artifacts.Digest `json:"run"`
	Step    int              `json:"step"`
	Weights artifacts.Digest `json:"weights"`
	// Samples is the file that the trainer reads, Rollouts the page of its rollouts.
	Samples  artifacts.Ref `json:"samples"`
	Rollouts artifacts.Ref `json:"rollouts"`
	// Pictures are those that samples name.
	Pictures []NamedRef `json:"pictures"`
	// Trained is the training set that the batch is.
	Trained artifacts.Ref `json:"trained"`
	Count   int           `json:"count"`
	Rewards RoundRewards  `json:"rewards"`
}

// BatchFormat is Batch.Format.
const BatchFormat = "cxrepro-batch-1"

// RoundRewards sums up the rewards of a round.
type RoundRewards struct {
	Mean    float64 `json:"mean"`
	Correct int     `json:"correct"`
	Calls   int     `json:"calls"`
	// Degenerate are groups whose rewards are all equal, of Groups.
	Degenerate int `json:"degenerate"`
	Groups     int `json:"groups"`
	Malformed  int `json:"malformed"`
}

// BatchKey is the key of a batch: run, step, the weights that answered, and what they answered.
func BatchKey(run artifacts.Digest, step int, weights, rollouts artifacts.Digest) artifacts.KeyDoc {
	return artifacts.KeyDoc{Step: StepBatch, Version: versionBatch, Params: map[string]any{"step": step},
		Inputs: []artifacts.Material{{Name: "rollouts", Digest: rollouts}, {Name: "run", Digest: run}, {Name: "weights", Digest: weights}}}
}

// CloseRoundResult names a batch.
type CloseRoundResult struct {
	Batch   artifacts.Ref `json:"batch"`
	Rewards RoundRewards  `json:"rewards"`
}

// TrainSegmentInput trains the steps after From up to To.
type TrainSegmentInput struct {
	Training     artifacts.Ref    `json:"training"`
	Index        int              `json:"index"`
	Run          PlannedRun       `json:"run"`
	Reproduction string           `json:"reproduction"`
	From         int              `json:"from_step"`
	To           int              `json:"to_step"`
	Weights      artifacts.Digest `json:"weights"`
	// Batch is the Batch of an update, zero where the trainer reads examples or generates.
	Batch artifacts.Ref `json:"batch,omitzero"`
}

// TrainSegmentResult names the checkpoint that a segment ended with.
type TrainSegmentResult struct {
	// Segment is the record's document, Checkpoint the entry of the checkpoint.
	Segment    artifacts.Ref    `json:"segment"`
	Checkpoint artifacts.Ref    `json:"checkpoint"`
	Weights    artifacts.Digest `json:"weights"`
}

// TrainedSegment is the record of StepTrainSegment. It is a function of what was trained: it
// names no time, attempt or machine.
type TrainedSegment struct {
	Format string           `json:"format"`
	Run    artifacts.Digest `json:"run"`
	From   int              `json:"from_step"`
	To     int              `json:"to_step"`
	// Files is the manifest of the checkpoint's files, Weights their digest.
	Files   artifacts.Ref    `json:"files"`
	Weights artifacts.Digest `json:"weights"`
	// Order is the digest of what was consumed, in order; Items, Samples and Dropped count it,
	// Counter is the trainer's own count.
	Order   artifacts.Digest `json:"order"`
	Items   int              `json:"items"`
	Samples int              `json:"samples"`
	Dropped int              `json:"dropped"`
	Counter int              `json:"counter"`
	// Determinism is the class that the recipe declares.
	Determinism string `json:"determinism"`
}

// SegmentFormat is TrainedSegment.Format.
const SegmentFormat = "cxrepro-train-segment-1"

// TrainSegmentKey is the key of a trained segment. batch and weights follow from the run and
// its steps; they are named so that lineage leads through them.
func TrainSegmentKey(spec, weights artifacts.Digest, from, to int, batch artifacts.Digest) artifacts.KeyDoc {
	in := []artifacts.Material{{Name: "spec", Digest: spec}, {Name: "weights", Digest: weights}}
	if !batch.IsZero() {
		in = append(in, artifacts.Material{Name: "batch", Digest: batch})
	}
	return artifacts.KeyDoc{Step: StepTrainSegment, Version: versionTrainSegment, Params: map[string]any{"from_step": from, "to_step": to}, Inputs: in}
}

// CheckpointFilesKey is the key of the files that one attempt left at a step.
func CheckpointFilesKey(run artifacts.Digest, step int, files artifacts.Digest) artifacts.KeyDoc {
	return artifacts.KeyDoc{Step: StepCheckpointFiles, Version: versionCheckpointFiles, Params: map[string]any{"step": step},
		Inputs: []artifacts.Material{{Name: "files", Digest: files}, {Name: "run", Digest: run}}}
}

// TrainInput runs a training. The fields after Reproduction carry progress across
// continue-as-new.
type TrainInput struct {
	Common       Common        `json:"common"`
	Training     artifacts.Ref `json:"training"`
	Runs         int           `json:"runs"`
	Reproduction string        `json:"reproduction"`
	Parent       string        `json:"parent,omitempty"`
	Gate         Gate          `json:"gate"`
	// Index is the run at hand, Run its plan, Step the last step that is trained.
	Index      int              `json:"index"`
	Run        *PlannedRun      `json:"run,omitempty"`
	Step       int              `json:"step"`
	Weights    artifacts.Digest `json:"weights,omitzero"`
	Checkpoint artifacts.Ref    `json:"checkpoint,omitzero"`
	Segment    artifacts.Ref    `json:"segment,omitzero"`
	Rollouts   int              `json:"rollouts"`
	// Ends are the weights with which runs ended, in order; Trained are their steps together.
	Ends    []artifacts.Digest `json:"ends,omitempty"`
	Trained int                `json:"trained,omitempty"`
}

// TrainResult names the last checkpoint of a training.
type TrainResult struct {
	Weights    artifacts.Digest `json:"weights"`
	Checkpoint artifacts.Ref    `json:"checkpoint"`
	Segment    artifacts.Ref    `json:"segment"`
	Rollouts   int              `json:"rollouts"`
	// Ends are the weights with which the runs ended, in order.
	Ends []artifacts.Digest `json:"ends,omitempty"`
}

// Train is the workflow of a training; the others are its activities.
var (
	Train        = Workflow[TrainInput, TrainResult]{Name: "Train"}
	PlanTraining = Activity[PlanTrainingInput, PlannedRun]{Name: "PlanTraining"}
	OpenRound    = Activity[RoundInput, OpenRoundResult]{Name: "OpenRound"}
	CloseRound   = Activity[RoundInput, CloseRoundResult]{Name: "CloseRound"}
	TrainSegment = Activity[TrainSegmentInput, TrainSegmentResult]{Name: "TrainSegment"}
)

// MostTraining bounds one attempt of a segment.
const MostTraining = 14 * 24 * time.Hour

// StageTrain names Train workflows in search attributes.
const StageTrain = "train"

// QueueTrain runs trainers and loads their checkpoints: its workers share a folder of runs.
func QueueTrain(prefix string) string { return prefix + "-train" }

// TrainWorkflowID is the id of a training's workflow.
func TrainWorkflowID(reproduction string) string {
	return fmt.Sprintf("%s%s/train", idRoot, reproduction)
}

// TrainingID names a training.
func TrainingID(training artifacts.Digest) string { return training.Hex()[:idDigits] }

// TrainDraw is the draw of a rollout in training: no two steps share one.
func TrainDraw(step, group, k int) int { return step*group + k }
