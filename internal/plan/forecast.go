package plan

import (
	"time"

	"cxrepro/artifacts"
)

// Format is Forecast.Format.
const Format = "cxrepro-forecast-1"

// Forecast is what a plan promises.
type Forecast struct {
	Format string `json:"format"`
	Name   string `json:"name"`
	Paper  string `json:"paper"`
	// Plan is the plan's document; Reproduction the id of the effort, empty while the data set or
	// the benchmark that it begins with is not known.
	Plan         artifacts.Ref `json:"plan"`
	Reproduction string        `json:"reproduction,omitempty"`
	// Finished: its receipt is recorded, so that a run would print it and do nothing.
	Finished bool `json:"finished"`
	Data     Data `json:"data"`
	// Against is the reproduction it is compared with.
	Against *Against  `json:"against,omitempty"`
	Made    time.Time `json:"made"`

	Steps []StepRow `json:"steps"`
	Calls []CallRow `json:"calls"`
	// Tasks are the calls by diagnostic task, over all models and the judge.
	Tasks []TaskRow `json:"tasks"`
	// Rollouts are those of an agent, by policy and arm.
	Rollouts []RolloutRow `json:"rollouts,omitempty"`
	Flips    []Flip       `json:"flips"`
	Totals   Totals       `json:"totals"`
	// Notes say what a figure rests on, or why it is not known.
	Notes []string `json:"notes"`
}

// Data says which images the forecast is about.
type Data struct {
	// Read: the folder was read anew; otherwise the data set is the one that Against read.
	Read     bool             `json:"read"`
	Manifest artifacts.Digest `json:"manifest,omitzero"`
	Images   int              `json:"images"`
	Windows  int              `json:"windows"`
	// Questions are those of an agent; Images are their pictures then.
	Questions int `json:"questions,omitempty"`
}

// Against names a reproduction.
type Against struct {
	Reproduction string    `json:"reproduction"`
	Name         string    `json:"name"`
	Ended        time.Time `json:"ended"`
}

// StepRow is one step: Needed = Run + Reused + Done.
type StepRow struct {
	Step   string `json:"step"`
	Needed Figure `json:"needed"`
	Reused Figure `json:"reused"`
	// Done are keys that this reproduction recorded already, before it was interrupted.
	Done Figure `json:"done"`
	Run  Figure `json:"run"`
	// Stale are keys of Against that are not needed any more.
	Stale Figure `json:"stale"`
	// Seconds is the time of computing, by what was recorded.
	Seconds Figure   `json:"seconds"`
	Why     []Reason `json:"why,omitempty"`
}

// CallRow is one model card in one way of sampling; Kind is one of those of package
// ledger.
type CallRow struct {
	Kind     string `json:"kind"`
	Card     string `json:"card"`
	Sampling string `json:"sampling"`
	Needed   Figure `json:"needed"`
	Reused   Figure `json:"reused"`
	Done     Figure `json:"done"`
	Run      Figure `json:"run"`
	// What follows is about the calls to run. Cost is in Currency.
	Prompt     Figure   `json:"prompt_tokens"`
	Completion Figure   `json:"completion_tokens"`
	Cost       Figure   `json:"cost"`
	Currency   string   `json:"currency,omitempty"`
	Seconds    Figure   `json:"seconds"`
	Why        []Reason `json:"why,omitempty"`
}

// TaskRow is the calls of one diagnostic task.
type TaskRow struct {
	Task   string `json:"task"`
	Needed Figure `json:"needed"`
	Run    Figure `json:"run"`
}

// RolloutRow is the rollouts of one policy under one arm, over all repeats.
type RolloutRow struct {
	Policy string `json:"policy"`
	Arm    string `json:"arm"`
	// Rollouts = Ended + Open: the records bring so many to their end; Pages hold all.
	Rollouts int `json:"rollouts"`
	Ended    int `json:"ended"`
	Open     int `json:"open"`
	Pages    int `json:"pages"`
	// Calls that they need, and of those the ones to run.
	Needed Figure `json:"needed"`
	Run    Figure `json:"run"`
}

// Reason is why keys are to be run: the first field in which they differ from the key of
// Against at the same place, or from the nearest recorded one.
type Reason struct {
	Field string `json:"field,omitempty"`
	Ours  string `json:"ours,omitempty"`
	Other string `json:"other,omitempty"`
	// After is a step that must run before, so that the key is not known.
	After string `json:"after,omitempty"`
	// Keys counts keys with this reason; Example is one of them.
	Keys    int           `json:"keys"`
	Example artifacts.Key `json:"example,omitzero"`
}

// Flip is what a threshold changes in one task. Where Exact is false nothing is stored that the
// row could be compared with, and Images is an upper bound.
type Flip struct {
	Task string `json:"task"`
	// Rows are the changed rows, as name: old -> new.
	Rows   []string `json:"rows"`
	Exact  bool     `json:"exact"`
	Images int      `json:"images"`
	// Labels, Statuses and Checks count images by what changed, as old -> new.
	Labels   []Shift `json:"labels,omitempty"`
	Statuses []Shift `json:"statuses,omitempty"`
	Checks   []Shift `json:"checks,omitempty"`
}

// Shift counts images that went from one to another.
type Shift struct {
	From string `json:"from"`
	To   string `json:"to"`
	N    int    `json:"n"`
}

// Totals are sums over the rows that a receipt counts.
type Totals struct {
	Steps      Sum     `json:"steps"`
	Calls      Sum     `json:"calls"`
	Prompt     Figure  `json:"prompt_tokens"`
	Completion Figure  `json:"completion_tokens"`
	Cost       []Money `json:"cost"`
	// Minutes of segmentation, of other computing, and of waiting for endpoints.
	GPU      Figure `json:"gpu_minutes"`
	CPU      Figure `json:"cpu_minutes"`
	Endpoint Figure `json:"endpoint_minutes"`
}

// Sum is the sum of rows.
type Sum struct {
	Needed Figure `json:"needed"`
	Reused Figure `json:"reused"`
	Done   Figure `json:"done"`
	Run    Figure `json:"run"`
}

// Money is an amount in one currency.
type Money struct {
	Currency string `json:"currency"`
	Amount   Figure `json:"amount"`
}
