package contract

import (
	"bytes"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/xragent"
)

// ImportQuestionsInput reads or draws the plan's question set.
type ImportQuestionsInput struct {
	Plan artifacts.Ref `json:"plan"`
}

// QuestionsResult names the question set and the reproduction that it makes with the plan.
type QuestionsResult struct {
	Questions    artifacts.Ref `json:"questions"`
	Reproduction string        `json:"reproduction"`
	Ingest       string        `json:"ingest"`
	Items        int           `json:"items"`
	// Pictures are different ones, measured Windows at a time.
	Pictures int         `json:"pictures"`
	Windows  int         `json:"windows"`
	Totals   ChunkTotals `json:"totals"`
}

// MeasurePicturesInput measures one window of the pictures of a question set.
type MeasurePicturesInput struct {
	Plan         artifacts.Ref `json:"plan"`
	Questions    artifacts.Ref `json:"questions"`
	Reproduction string        `json:"reproduction"`
	Window       int           `json:"window"`
}

// PictureWindow is how many pictures one activity measures.
const PictureWindow = 64

// PictureWindows is how many windows so many pictures have.
func PictureWindows(pictures int) int { return (pictures + PictureWindow - 1) / PictureWindow }

// PlanRolloutsInput asks what a plan runs.
type PlanRolloutsInput struct {
	Plan artifacts.Ref `json:"plan"`
	// Checkpoints are those of the plan's training.
	Checkpoints []NamedWeights `json:"checkpoints,omitempty"`
}

// PlanRolloutsResult lists it, in the order of the tables.
type PlanRolloutsResult struct {
	Sets []RolloutSet `json:"sets"`
}

// RolloutSet tells workflows what is run, without the plan.
type RolloutSet struct {
	Index int `json:"index"`
	// Name is policy card, arm and repeat; Card the policy's card, whose queue is asked.
	Name   string `json:"name"`
	Card   string `json:"card"`
	Policy int    `json:"policy"`
	Arm    string `json:"arm"`
	Repeat int    `json:"repeat"`
	// Checkpoint are the weights that answer in the card's place, zero for the card's own.
	Checkpoint artifacts.Digest `json:"checkpoint,omitzero"`
}

// RolloutInput is one item under one arm by one policy in one draw.
type RolloutInput struct {
	Plan         artifacts.Ref `json:"plan"`
	Questions    artifacts.Ref `json:"questions"`
	Reproduction string        `json:"reproduction"`
	// Policy is the place of its card among the plan's models. Checkpoint, if set, is the weights
	// that answer in its place, served under their digest.
	Policy     int              `json:"policy"`
	Checkpoint artifacts.Digest `json:"checkpoint,omitzero"`
	Arm        string           `json:"arm"`
	// Item is its number in the question set. Draw is the repeat of an evaluation, or step times
	// group size plus place in training; it is added to the seed.
	Item int `json:"item"`
	Draw int `json:"draw"`
	// Budget is AskInput.Budget.
	Budget int64 `json:"budget,omitempty"`
}

// RolloutResult is how a rollout ended; the rest is in the records.
type RolloutResult struct {
	Ending  string `json:"ending"`
	Correct bool   `json:"correct"`
	// Asked counts the calls to models that it needed.
	Asked int `json:"asked"`
}

// RolloutGroupInput is the draws [Input.Draw, Input.Draw+Size) of one item, side by side.
type RolloutGroupInput struct {
	Input RolloutInput `json:"input"`
	Size  int          `json:"size"`
}

// RolloutGroupResult counts what a group asked; the rest is in the records.
type RolloutGroupResult struct {
	Asked int `json:"asked"`
}

// RolloutRange says which rollouts an activity is about.
type RolloutRange struct {
	Plan         artifacts.Ref `json:"plan"`
	Questions    artifacts.Ref `json:"questions"`
	Reproduction string        `json:"reproduction"`
	Set          RolloutSet    `json:"set"`
	Items        int           `json:"items"`
}

// Input is the input of one rollout of the range.
func (r RolloutRange) Input(item int, budget int64) RolloutInput {
	return RolloutInput{
		Plan: r.Plan, Questions: r.Questions, Reproduction: r.Reproduction, Policy: r.Set.Policy, Checkpoint: r.Set.Checkpoint, Arm: r.Set.Arm,
		Item: item, Draw: r.Set.Repeat, Budget: budget,
	}
}

// FindRolloutsInput asks which rollouts of [Begin, End) the records do not finish.
type FindRolloutsInput struct {
	Range RolloutRange `json:"range"`
	Begin int          `json:"begin"`
	End   int          `json:"end"`
}

// FindRolloutsResult lists them, in order.
type FindRolloutsResult struct {
	Missing []int `json:"missing,omitempty"`
}

// RolloutsInput runs one set over every item. The fields after Gate carry progress across
// continue-as-new.
type RolloutsInput struct {
	Common Common       `json:"common"`
	Range  RolloutRange `json:"range"`
	Parent string       `json:"parent"`
	Gate   Gate         `json:"gate"`
	// Next is the first item that was not looked up, Again are found ones to be run.
	Next  int   `json:"next"`
	Again []int `json:"again,omitempty"`
	Done  int   `json:"done"`
	// Failed are rollouts that a call failed for good, the first of FailedCount.
	Failed      []RolloutFailure `json:"failed,omitempty"`
	FailedCount int              `json:"failed_count,omitempty"`
	Calls       int              `json:"calls,omitempty"`
}

// RolloutFailure is a rollout that is undetermined because nothing came of a call.
type RolloutFailure struct {
	Item    int    `json:"item"`
	Type    string `json:"type"`
	Message string `json:"message,omitempty"`
}

// CloseRolloutsInput asks for the documents of a set, from the records alone.
type CloseRolloutsInput struct {
	Range  RolloutRange     `json:"range"`
	Failed []RolloutFailure `json:"failed,omitempty"`
}

// RolloutsResult ends a set. Doc is its RolloutSetDoc, Calls a Packed list of CallsDoc.
type RolloutsResult struct {
	Doc    artifacts.Ref `json:"doc"`
	Calls  artifacts.Ref `json:"calls"`
	Totals RolloutTotals `json:"totals"`
}

// RolloutTotals are sums over rollouts. Rollouts = Done + Undetermined.
type RolloutTotals struct {
	Rollouts     int `json:"rollouts"`
	Done         int `json:"done"`
	Undetermined int `json:"undetermined"`
	// Reasons counts why, Endings how the others ended.
	Reasons []Count `json:"reasons,omitempty"`
	Endings []Count `json:"endings,omitempty"`
	// Calls counts calls needed, by kind.
	Calls []Count `json:"calls,omitempty"`
}

// Add merges other totals.
func (t *RolloutTotals) Add(o RolloutTotals) {
	t.Rollouts += o.Rollouts
	t.Done += o.Done
	t.Undetermined += o.Undetermined
	t.Reasons = AddCounts(t.Reasons, o.Reasons)
	t.Endings = AddCounts(t.Endings, o.Endings)
	t.Calls = AddCounts(t.Calls, o.Calls)
}

// RolloutsDoc is a page of rollouts: what was asked, answered and observed, and how it is
// rewarded. It is a function of the records: it names no time, attempt or worker.
type RolloutsDoc struct {
	Format   string       `json:"format"`
	Set      string       `json:"set"`
	Rollouts []RolloutDoc `json:"rollouts"`
}

// RolloutsFormat is RolloutsDoc.Format.
const RolloutsFormat = "cxrepro-rollouts-1"

// PageRollouts is how many rollouts a page has.
const PageRollouts = 64

// PagesOf is how many pages so many rollouts have.
func PagesOf(rollouts int) int { return (rollouts + PageRollouts - 1) / PageRollouts }

// RolloutDoc is one rollout.
type RolloutDoc struct {
	Item int `json:"item"`
	// Ending is empty for an undetermined rollout, which is in no denominator; Undetermined says
	// why.
	Ending       string `json:"ending,omitempty"`
	Undetermined string `json:"undetermined,omitempty"`
	// Trajectory is what the reward reads; Score its terms, of a finished two-turn rollout.
	Trajectory xragent.Trajectory `json:"trajectory"`
	Score      *xragent.Score     `json:"score,omitempty"`
	// Outcome is the row that tables and analyses read.
	Outcome xragent.Outcome `json:"outcome"`
	// Calls are the calls to models in the order in which they were made.
	Calls []RolloutCall `json:"calls"`
	// Tools are the records of what the platform's tools answered, and Measured those of the
	// pictures whose measurements were read.
	Tools    []RolloutTool   `json:"tools,omitempty"`
	Measured []artifacts.Ref `json:"measured,omitempty"`
}

// RolloutTool is the record of one tool call by its number.
type RolloutTool struct {
	Call   int              `json:"call"`
	Key    artifacts.Digest `json:"key"`
	Result artifacts.Ref    `json:"result"`
}

// RolloutCall is one call of a rollout by its record.
type RolloutCall struct {
	// Part is turn.1, turn.2, lookup.K or conditions.K, where K is the number of the tool call.
	Part string `json:"part"`
	// Key is the digest of the call's key, Answer what is recorded, Terminal its outcome where
	// nothing was answered.
	Key      artifacts.Digest `json:"key"`
	Answer   artifacts.Ref    `json:"answer"`
	Terminal string           `json:"terminal,omitempty"`
}

// RolloutSetDoc is where everything about one set of rollouts is, but its account.
type RolloutSetDoc struct {
	Format    string        `json:"format"`
	Questions artifacts.Ref `json:"questions"`
	Set       RolloutSet    `json:"set"`
	// Pages is a Packed list of RolloutsDoc.
	Pages artifacts.Ref `json:"pages"`
}

// RolloutSetFormat is RolloutSetDoc.Format.
const RolloutSetFormat = "cxrepro-rollout-set-1"

// TabulateAgentInput turns sets of rollouts into tables.
type TabulateAgentInput struct {
	Plan         artifacts.Ref `json:"plan"`
	Questions    artifacts.Ref `json:"questions"`
	Reproduction string        `json:"reproduction"`
	// Sets are RolloutSetDocs, in the order of the plan.
	Sets []artifacts.Ref `json:"sets"`
	// Training is the TrainingDoc whose checkpoints answered.
	Training artifacts.Ref `json:"training,omitzero"`
}

// AgentResults lists everything that counts as the result of an agent's reproduction, by
// content; its digest is the result digest. Sets are the digests of the RolloutSetDocs.
type AgentResults struct {
	Format    string             `json:"format"`
	Questions artifacts.Digest   `json:"questions"`
	Sets      []artifacts.Digest `json:"sets"`
	Tables    artifacts.Digest   `json:"tables"`
	// Training is the digest of the TrainingDoc.
	Training artifacts.Digest `json:"training,omitzero"`
}

// AgentResultsFormat is AgentResults.Format.
const AgentResultsFormat = "cxrepro-agent-results-1"

// ReceiptRollouts carries what a receipt says about an agent's rollouts.
type ReceiptRollouts struct {
	Questions QuestionsResult `json:"questions"`
	Tables    TabulateResult  `json:"tables"`
	// Sets are RolloutSetDocs, Calls Packed lists of CallsDoc.
	Sets   []artifacts.Ref `json:"sets"`
	Calls  []artifacts.Ref `json:"calls"`
	Totals RolloutTotals   `json:"totals"`
	// Training is there where checkpoints were trained before.
	Training *ReceiptTraining `json:"training,omitempty"`
}

// Workflow and activities of an agent's reproduction.
var (
	Rollouts = Workflow[RolloutsInput, RolloutsResult]{Name: "Rollouts"}

	ImportQuestions = Activity[ImportQuestionsInput, QuestionsResult]{Name: "ImportQuestions"}
	MeasurePictures = Activity[MeasurePicturesInput, ChunkResult]{Name: "MeasurePictures"}
	PlanRollouts    = Activity[PlanRolloutsInput, PlanRolloutsResult]{Name: "PlanRollouts"}
	FindRollouts    = Activity[FindRolloutsInput, FindRolloutsResult]{Name: "FindRollouts"}
	Rollout         = Activity[RolloutInput, RolloutResult]{Name: "Rollout"}
	RolloutGroup    = Activity[RolloutGroupInput, RolloutGroupResult]{Name: "RolloutGroup"}
	CloseRollouts   = Activity[CloseRolloutsInput, RolloutsResult]{Name: "CloseRollouts"}
	TabulateAgent   = Activity[TabulateAgentInput, TabulateResult]{Name: "TabulateAgent"}
)

// Stages of an agent's reproduction, in order; tabulate is the last.
const (
	StageQuestions = "questions"
	StageMeasure   = "measure"
	StageRollouts  = "rollouts"
)

// RolloutsWorkflowID is the id of one set of rollouts.
func RolloutsWorkflowID(reproduction, set string) string {
	return idRoot + reproduction + "/rollouts/" + set
}

func sortRefs(list []artifacts.Ref) {
	slices.SortFunc(list, func(a, b artifacts.Ref) int { return bytes.Compare(a.Digest[:], b.Digest[:]) })
}
