package contract

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/cxreasonbench"
)

// Media types of what an evaluation leaves behind.
const (
	CallsMediaType             = "application/vnd.cxrepro.calls+json"
	EvaluationResultsMediaType = "application/vnd.cxrepro.evaluation-results+json"
)

// PlanEvaluationsInput asks what a plan evaluates.
type PlanEvaluationsInput struct {
	Plan artifacts.Ref `json:"plan"`
}

// PlanEvaluationsResult lists it, in the order of the tables.
type PlanEvaluationsResult struct {
	Evaluations []EvaluationRef `json:"evaluations"`
}

// TaskRange are the cases of one task in a benchmark manifest.
type TaskRange struct {
	Task  cxreasonbench.Task `json:"task"`
	First int                `json:"first"`
	Count int                `json:"count"`
}

// EvaluationInput puts a benchmark to one model in one way of sampling.
type EvaluationInput struct {
	Common       Common        `json:"common"`
	Reproduction string        `json:"reproduction"`
	Benchmark    artifacts.Ref `json:"benchmark"`
	Index        int           `json:"index"`
	Evaluation   EvaluationRef `json:"evaluation"`
	Tasks        []TaskRange   `json:"tasks"`
	Parent       string        `json:"parent"`
	Gate         Gate          `json:"gate"`
}

// EvaluationResult names the evaluation's document and its account, a Packed list of CallsDoc.
type EvaluationResult struct {
	Doc    artifacts.Ref  `json:"doc"`
	Calls  artifacts.Ref  `json:"calls"`
	Totals DialogueTotals `json:"totals"`
}

// DialoguesInput holds the dialogues of one task on one path. The fields after Gate carry
// progress across continue-as-new.
type DialoguesInput struct {
	Common       Common             `json:"common"`
	Reproduction string             `json:"reproduction"`
	Benchmark    artifacts.Ref      `json:"benchmark"`
	Index        int                `json:"index"`
	Evaluation   EvaluationRef      `json:"evaluation"`
	Task         cxreasonbench.Task `json:"task"`
	Path         cxreasonbench.Path `json:"path"`
	// First and Count are the task's cases in the manifest; in Path 2 Count is that of the
	// population's entries.
	First      int           `json:"first"`
	Count      int           `json:"count"`
	Population artifacts.Ref `json:"population,omitzero"`
	Parent     string        `json:"parent"`
	Gate       Gate          `json:"gate"`
	// Next is the first dialogue that was not begun, Again are begun ones to be taken up
	// again, Done counts those that ended.
	Next  int   `json:"next"`
	Again []int `json:"again,omitempty"`
	Done  int   `json:"done"`
	// Failed are dialogues that a call failed for good, the first of FailedCount.
	Failed      []DialogueFailure `json:"failed,omitempty"`
	FailedCount int               `json:"failed_count,omitempty"`
	// Calls counts answered calls of the activities, for display.
	Calls int `json:"calls,omitempty"`
}

// DialogueFailure is a dialogue that is undetermined because nothing came of a call.
type DialogueFailure struct {
	// Dialogue is its place in the workflow's range.
	Dialogue int                `json:"dialogue"`
	Call     cxreasonbench.Call `json:"call"`
	Type     string             `json:"type"`
	Message  string             `json:"message"`
}

// DialoguesResult ends the dialogues of one task on one path.
type DialoguesResult struct {
	// Pages and Calls are Packed lists of DialoguesDoc and CallsDoc.
	Pages  artifacts.Ref  `json:"pages"`
	Calls  artifacts.Ref  `json:"calls"`
	Totals DialogueTotals `json:"totals"`
}

// DialogueTotals are sums over dialogues. Dialogues = Done + Undetermined.
type DialogueTotals struct {
	Dialogues    int `json:"dialogues"`
	Done         int `json:"done"`
	Undetermined int `json:"undetermined"`
	// Reasons counts why, Ends how the others ended.
	Reasons []Count `json:"reasons,omitempty"`
	Ends    []Count `json:"ends,omitempty"`
	// Waiting counts tasks whose Path 2 waits for Path 1.
	Waiting int `json:"waiting,omitempty"`
	// Calls counts calls needed, by kind; keys that dialogues share count for each.
	Calls []Count `json:"calls,omitempty"`
}

// Add merges other totals.
func (t *DialogueTotals) Add(o DialogueTotals) {
	t.Dialogues += o.Dialogues
	t.Done += o.Done
	t.Undetermined += o.Undetermined
	t.Reasons = AddCounts(t.Reasons, o.Reasons)
	t.Ends = AddCounts(t.Ends, o.Ends)
	t.Waiting += o.Waiting
	t.Calls = AddCounts(t.Calls, o.Calls)
}

// DialogueRange says which dialogues an activity is about.
type DialogueRange struct {
	Plan         artifacts.Ref      `json:"plan"`
	Benchmark    artifacts.Ref      `json:"benchmark"`
	Reproduction string             `json:"reproduction"`
	Index        int                `json:"index"`
	Evaluation   EvaluationRef      `json:"evaluation"`
	Task         cxreasonbench.Task `json:"task"`
	Path         cxreasonbench.Path `json:"path"`
	First        int                `json:"first"`
	Count        int                `json:"count"`
	Population   artifacts.Ref      `json:"population,omitzero"`
}

// LoadDialoguesInput asks for dialogues as far as the ledger answers them.
type LoadDialoguesInput struct {
	Range DialogueRange `json:"range"`
	// Dialogues are places in the range.
	Dialogues []int `json:"dialogues"`
}

// LoadDialoguesResult holds the first of them, at least one: as many as fit into a history.
type LoadDialoguesResult struct {
	Sessions []*cxreasonbench.Session `json:"sessions"`
}

// CloseDialoguesInput asks for the documents of a range, from the ledger alone.
type CloseDialoguesInput struct {
	Range  DialogueRange     `json:"range"`
	Failed []DialogueFailure `json:"failed,omitempty"`
}

// SelectPath2Input asks who enters Path 2 of a task.
type SelectPath2Input struct {
	Range DialogueRange `json:"range"`
	// Pages are those of Path 1.
	Pages artifacts.Ref `json:"pages"`
}

// SelectPath2Result names the population; it is zero while Waits cases have no Path 1 result.
type SelectPath2Result struct {
	Population artifacts.Ref `json:"population,omitzero"`
	Count      int           `json:"count"`
	Waits      int           `json:"waits,omitempty"`
}

// CloseEvaluationInput stores an evaluation's document, and joins the accounts of its tasks,
// each a Packed list of CallsDoc.
type CloseEvaluationInput struct {
	Doc   EvaluationDoc   `json:"doc"`
	Calls []artifacts.Ref `json:"calls"`
}

// CloseEvaluationResult names document and joint account.
type CloseEvaluationResult struct {
	Doc   artifacts.Ref `json:"doc"`
	Calls artifacts.Ref `json:"calls"`
}

// TabulateInput turns evaluations into tables.
type TabulateInput struct {
	Plan         artifacts.Ref `json:"plan"`
	Benchmark    artifacts.Ref `json:"benchmark"`
	Reproduction string        `json:"reproduction"`
	// Evaluations are EvaluationDocs, in the order of the plan.
	Evaluations []artifacts.Ref `json:"evaluations"`
	// Results is the result list of the findings that the benchmark was built from; zero for
	// a released benchmark.
	Results artifacts.Ref `json:"results,omitzero"`
}

// TabulateResult names the tables and the digest of everything that counts as the result:
// benchmark, dialogues, tables and the findings' results.
type TabulateResult struct {
	// Summary is an EvaluationSummary, Results the list behind ResultDigest.
	Summary      artifacts.Ref    `json:"summary"`
	Results      artifacts.Ref    `json:"results"`
	ResultDigest artifacts.Digest `json:"result_digest"`
	Reports      []Report         `json:"reports,omitempty"`
	Totals       ChunkTotals      `json:"totals"`
}

// EvaluationResults lists everything that counts as the result of a reproduction that
// evaluates, by content; its digest is the result digest. Evaluations are the digests of the
// EvaluationDocs, Tables that of the EvaluationSummary.
type EvaluationResults struct {
	Format      string             `json:"format"`
	Findings    artifacts.Digest   `json:"findings,omitzero"`
	Benchmark   artifacts.Digest   `json:"benchmark"`
	Evaluations []artifacts.Digest `json:"evaluations"`
	Tables      artifacts.Digest   `json:"tables,omitzero"`
}

// EvaluationResultsFormat is EvaluationResults.Format.
const EvaluationResultsFormat = "cxrepro-evaluation-results-1"

// Evaluation workflows.
var (
	Evaluation = Workflow[EvaluationInput, EvaluationResult]{Name: "Evaluation"}
	Dialogues  = Workflow[DialoguesInput, DialoguesResult]{Name: "Dialogues"}
)

// Evaluation activities.
var (
	PlanEvaluations = Activity[PlanEvaluationsInput, PlanEvaluationsResult]{Name: "PlanEvaluations"}
	LoadDialogues   = Activity[LoadDialoguesInput, LoadDialoguesResult]{Name: "LoadDialogues"}
	CloseDialogues  = Activity[CloseDialoguesInput, DialoguesResult]{Name: "CloseDialogues"}
	SelectPath2     = Activity[SelectPath2Input, SelectPath2Result]{Name: "SelectPath2"}
	CloseEvaluation = Activity[CloseEvaluationInput, CloseEvaluationResult]{Name: "CloseEvaluation"}
	Tabulate        = Activity[TabulateInput, TabulateResult]{Name: "Tabulate"}
)

// Stages of a reproduction that evaluates.
const (
	StageBenchmark = "benchmark"
	StageEvaluate  = "evaluate"
	StageTabulate  = "tabulate"
)

// EvaluationWorkflowID is the id of one evaluation; name is EvaluationRef.Name.
func EvaluationWorkflowID(reproduction, name string) string {
	return idRoot + reproduction + "/" + StageEvaluate + "/" + name
}

// DialoguesWorkflowID is the id of the dialogues of one task on one path.
func DialoguesWorkflowID(reproduction, name string, task cxreasonbench.Task, path cxreasonbench.Path) string {
	return strings.Join([]string{EvaluationWorkflowID(reproduction, name), task.String(), path.String()}, "/")
}

// UpdateBudget sets the most that a reproduction may spend; its argument is the new
// CallTuning.Budget.
const UpdateBudget = "budget"

// CallTuning is how patiently and how widely calls are made. It enters no key.
type CallTuning struct {
	// Evaluations is how many evaluations run at a time, Tasks how many tasks of each, Open
	// how many dialogues of a task are open.
	Evaluations int `json:"evaluations"`
	Tasks       int `json:"tasks"`
	Open        int `json:"open"`
	// Patience is how long one call is tried before its case is undetermined, Attempt
	// bounds one attempt, Heartbeat is the heartbeat timeout of a call.
	Patience  time.Duration `json:"patience"`
	Attempt   time.Duration `json:"attempt"`
	Heartbeat time.Duration `json:"heartbeat"`
	// Budget is the most the reproduction may spend, in micro-units of the endpoints'
	// currency; 0 means no limit.
	Budget int64 `json:"budget,omitempty"`
}

// defaultCalls keeps 256 dialogues of two evaluations open.
var defaultCalls = CallTuning{
	Evaluations: 2, Tasks: 4, Open: 32,
	Patience: 24 * time.Hour, Attempt: 30 * time.Minute, Heartbeat: 10 * time.Second,
}

// AskInput is the input of one call of a session whose cases are numbers of the manifest.
//
// Errors: a call that the session does not wait for; a case that is no number.
func (r DialogueRange) AskInput(s *cxreasonbench.Session, c cxreasonbench.Call, budget int64) (AskInput, error) {
	at, err := s.Context(c)
	if err != nil {
		return AskInput{}, err
	}
	in := AskInput{
		Plan: r.Plan, Benchmark: r.Benchmark, Reproduction: r.Reproduction, Evaluation: r.Index, Call: c,
		Judgement: at.Judgement, Reply: at.Reply, Budget: budget,
	}
	if in.Case, err = strconv.Atoi(at.Case); err != nil {
		return AskInput{}, fmt.Errorf("case %q of a dialogue is no number of the manifest", at.Case)
	}
	for _, said := range at.History {
		n, err := strconv.Atoi(said.Case)
		if err != nil {
			return AskInput{}, fmt.Errorf("case %q of a dialogue is no number of the manifest", said.Case)
		}
		in.History = append(in.History, Said{Key: said.Key, Case: n, Reply: said.Reply})
	}
	return in, nil
}

// CallResult is what the state machine takes of a call's result.
func (r AskResult) CallResult() cxreasonbench.CallResult {
	return cxreasonbench.CallResult{Reply: r.Answer, Terminal: r.Terminal, Score: r.Score, Unread: r.Unread}
}
