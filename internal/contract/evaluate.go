package contract

import (
	"cxrepro/artifacts"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/dialogue"
)

// Media types of benchmark and evaluation.
const (
	BenchmarkPlanMediaType = "application/vnd.cxrepro.benchmark-plan+json"
	BenchmarkMediaType     = "application/vnd.cxrepro.benchmark+json"
	CaseMediaType          = "application/vnd.cxrepro.benchmark-case+json"
	DialoguesMediaType     = "application/vnd.cxrepro.dialogues+json"
	PopulationMediaType    = "application/vnd.cxrepro.population+json"
	EvaluationMediaType    = "application/vnd.cxrepro.evaluation+json"
)

// Benchmark is the manifest of a benchmark, built here or read from the release. Cases are
// sorted by task, in the order of the tables, then by id; a case's number is its place. The
// order of a case list therefore moves nothing.
type Benchmark struct {
	Format string `json:"format"`
	// Source is build or release; Rules prints preset and overrides it was built under.
	Source string                       `json:"source"`
	Rules  string                       `json:"rules"`
	Seed   uint64                       `json:"seed"`
	Cases  []BenchmarkCase              `json:"cases"`
	Tasks  []cxreasonbench.TaskManifest `json:"tasks,omitempty"`
	Tally  cxreasonbench.Tally          `json:"tally"`
	// System is the system message of every dialogue.
	System string `json:"system"`
	// Prompts is the prompt pack's digest, zero for a release that brings its own questions.
	Prompts artifacts.Digest `json:"prompts,omitzero"`
	// DataUse is the class of everything in it.
	DataUse string `json:"data_use"`
}

// BenchmarkFormat is Benchmark.Format.
const BenchmarkFormat = "cxrepro-benchmark-1"

// BenchmarkCase is one case of the manifest. ID names it in the data set.
type BenchmarkCase struct {
	Task cxreasonbench.Task `json:"task"`
	ID   string             `json:"id"`
	Doc  artifacts.Ref      `json:"doc"`
}

// CaseDoc holds everything that is asked about one case, and its pictures.
type CaseDoc struct {
	Format string               `json:"format"`
	Task   cxreasonbench.Task   `json:"task"`
	ID     string               `json:"id"`
	View   string               `json:"view,omitempty"`
	Image  artifacts.Digest     `json:"image,omitzero"`
	Items  []cxreasonbench.Item `json:"items"`
	// Pictures holds the bytes of every picture of the items, by Picture.Path.
	Pictures map[string]artifacts.Ref `json:"pictures"`
}

// CaseDocFormat is CaseDoc.Format.
const CaseDocFormat = "cxrepro-benchmark-case-1"

// EvaluationRef tells workflows what is evaluated, without the plan.
type EvaluationRef struct {
	// Name is model card and sampling, for example "gpt-4.1/draws3".
	Name  string `json:"name"`
	Model string `json:"model"`
	// Judge is the judge's card; empty when replies are read by the parser.
	Judge string `json:"judge,omitempty"`
	Draws int    `json:"draws"`
	// Path2: cases that enter Path 2 are guided and re-evaluated.
	Path2 bool `json:"path2"`
	// Rules travel because the state machine runs in the workflow.
	Rules cxreasonbench.Rules `json:"rules"`
}

// Said is an earlier turn of a dialogue: the question, of which case, and the kept reply.
type Said struct {
	Key   cxreasonbench.Key `json:"key"`
	Case  int               `json:"case"`
	Reply artifacts.Ref     `json:"reply"`
}

// AskInput is one model call.
type AskInput struct {
	Plan         artifacts.Ref `json:"plan"`
	Benchmark    artifacts.Ref `json:"benchmark"`
	Reproduction string        `json:"reproduction"`
	// Evaluation is the index in the plan's evaluations.
	Evaluation int `json:"evaluation"`
	// Case is the number of the case whose question is asked.
	Case int                `json:"case"`
	Call cxreasonbench.Call `json:"call"`
	// Judgement says which prompt a judge gets and whether it sees the question.
	Judgement cxreasonbench.Judgement `json:"judgement,omitzero"`
	// History is what was said before the question, oldest first.
	History []Said `json:"history,omitempty"`
	// Reply is the answer that the judge is asked about.
	Reply artifacts.Ref `json:"reply,omitzero"`
	// Budget is the most this reproduction may spend, in micro-units of the endpoint's
	// currency; 0 means no limit. It enters no key.
	Budget int64 `json:"budget,omitempty"`
}

// AskResult is what came of a call.
type AskResult struct {
	// Answer is the recorded answer or terminal outcome.
	Answer artifacts.Ref `json:"answer"`
	// Terminal is set where there is nothing to judge.
	Terminal cxreasonbench.Terminal `json:"terminal,omitzero"`
	// Score is, for a judge call, its verdict; zero when it could not be read. For a model
	// call it is the parser's reading, with Unread where it found no answer.
	Score  cxreasonbench.Score    `json:"score,omitzero"`
	Unread cxreasonbench.Terminal `json:"unread,omitzero"`
	Count  CallCount              `json:"count"`
}

// CallCount accounts for calls. Needed = Run + Reused.
type CallCount struct {
	// Kind is "model" or "judge" in sums by kind.
	Kind     string `json:"kind,omitempty"`
	Needed   int    `json:"needed"`
	Run      int    `json:"run,omitempty"`
	Reused   int    `json:"reused,omitempty"`
	Repeated int    `json:"repeated,omitempty"`
	// Attempts are requests sent, failed ones included, over every attempt of every worker;
	// MaybeBilled those whose end nobody saw.
	Attempts    int            `json:"attempts,omitempty"`
	MaybeBilled int            `json:"maybe_billed,omitempty"`
	Failures    []Count        `json:"failures,omitempty"`
	Usage       dialogue.Usage `json:"usage,omitzero"`
	// Cost is in micro-units of Currency, by the endpoint card's prices; Unpriced counts
	// calls without a price.
	Cost     int64  `json:"cost,omitempty"`
	Currency string `json:"currency,omitempty"`
	Unpriced int    `json:"unpriced,omitempty"`
	// Busy is the time spent waiting for the endpoint, in seconds.
	Busy float64 `json:"busy_seconds,omitempty"`
}

// severalCurrencies stands for the currency of a sum over several.
const severalCurrencies = "several"

// Add adds the account of one key, needed so many times, to a sum. A call that the reproduction
// made counts as run once, and as reused wherever else it is needed.
func (c *CallCount) Add(one CallCount, times int) {
	c.Needed += times
	c.Run += one.Run
	c.Reused += times - one.Run
	c.Repeated += one.Repeated
	c.Attempts += one.Attempts
	c.MaybeBilled += one.MaybeBilled
	c.Failures = AddCounts(c.Failures, one.Failures)
	c.Usage = c.Usage.Add(one.Usage)
	c.Unpriced += one.Unpriced
	c.Busy += one.Busy
	if one.Cost == 0 {
		return
	}
	// Amounts of several currencies have no sum; a receipt's cost lists them.
	switch c.Currency {
	case "", one.Currency:
		c.Currency = one.Currency
		c.Cost += one.Cost
	default:
		c.Currency, c.Cost = severalCurrencies, 0
	}
}

// QueueAsk is the queue of the calls to one model card. A worker serves it while it holds the
// lease of the card's endpoint.
func QueueAsk(prefix, model string) string { return prefix + "-ask-" + model }

// Ask is one call to a model: the only activity that sends anything to a model endpoint.
var Ask = Activity[AskInput, AskResult]{Name: "Ask"}
