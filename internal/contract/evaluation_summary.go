package contract

import (
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/lvlm"
)

// EvaluationSummary holds what every table of an evaluation is made of: counts, figures with
// their intervals, and what became of replies that were none. Equal dialogues give equal
// bytes; it names no time, id, attempt or worker, and no identifier of the data set.
type EvaluationSummary struct {
	Format string `json:"format"`
	Name   string `json:"name"`
	Paper  string `json:"paper"`
	// Rules are preset and overrides of dialogue, judge and scores; they print as every
	// report prints them.
	Rules     cxreasonbench.Rules `json:"rules"`
	Benchmark SummaryBenchmark    `json:"benchmark"`
	// Scoring is judge or parser; Judge is set with judge.
	Scoring string        `json:"scoring"`
	Judge   *SummaryModel `json:"judge,omitempty"`
	// Bootstrap is the number of resamples behind the intervals, Seed names their streams.
	Bootstrap   int                 `json:"bootstrap"`
	Seed        uint64              `json:"seed"`
	Evaluations []SummaryEvaluation `json:"evaluations"`
}

// EvaluationSummaryFormat is EvaluationSummary.Format.
const EvaluationSummaryFormat = "cxrepro-evaluation-summary-1"

// SummaryBenchmark is what was asked.
type SummaryBenchmark struct {
	Digest  artifacts.Digest `json:"digest"`
	Source  string           `json:"source"`
	Rules   string           `json:"rules"`
	Seed    uint64           `json:"seed"`
	Prompts artifacts.Digest `json:"prompts,omitzero"`
	DataUse string           `json:"data_use"`
	Cases   int              `json:"cases"`
	Tasks   []SummaryCases   `json:"tasks"`
}

// SummaryCases is how many cases a task has.
type SummaryCases struct {
	Task  cxreasonbench.Task `json:"task"`
	Cases int                `json:"cases"`
}

// CasesOf counts the cases of a manifest by task, in its order.
func CasesOf(cases []BenchmarkCase) []SummaryCases {
	list := []SummaryCases{}
	for _, c := range cases {
		if n := len(list); n == 0 || list[n-1].Task != c.Task {
			list = append(list, SummaryCases{Task: c.Task})
		}
		list[len(list)-1].Cases++
	}
	return list
}

// SummaryModel is a model by what its answers depend on.
type SummaryModel struct {
	Name      string        `json:"name"`
	Title     string        `json:"title"`
	Adapter   string        `json:"adapter"`
	Pictures  string        `json:"pictures"`
	Identity  lvlm.Identity `json:"identity"`
	Decoding  lvlm.Decoding `json:"decoding"`
	Simulated bool          `json:"simulated,omitempty"`
}

// ModelOf describes a card as it decodes in one way of sampling.
func ModelOf(c *experiments.ModelCard, sampling string) SummaryModel {
	m := SummaryModel{
		Name: c.Name, Title: c.Title, Adapter: c.Adapter, Pictures: c.Pictures, Identity: c.Identity,
		Decoding: c.Greedy, Simulated: c.Simulated,
	}
	if sampling == experiments.Draws3 && c.Draws != nil {
		m.Decoding = *c.Draws
	}
	return m
}

// SummaryEvaluation is one model in one way of sampling.
type SummaryEvaluation struct {
	Name     string        `json:"name"`
	Model    SummaryModel  `json:"model"`
	Sampling string        `json:"sampling"`
	Draws    int           `json:"draws"`
	Paths    []SummaryPath `json:"paths"`
	// Undetermined are the cases in no denominator, Waiting the tasks whose Path 2 waits
	// for Path 1 results.
	Undetermined []SummaryUndetermined `json:"undetermined"`
	Waiting      []Count               `json:"waiting"`
	// Stages counts what became of the draws of every stage.
	Stages []SummaryStage `json:"stages"`
	// Readings compares the judge with the reading of the same replies without one; empty
	// where there was no judge.
	Readings []SummaryReading `json:"readings"`
	// Forms counts how final replies of measurement tasks told their value.
	Forms []SummaryForm `json:"forms"`
	// JudgedAgain counts verdicts that were read only when the judge was asked again.
	JudgedAgain int `json:"judged_again,omitempty"`
}

// SummaryPath are the rows of one path: every task in the order of the tables, then the
// groups.
type SummaryPath struct {
	Path   cxreasonbench.Path `json:"path"`
	Tasks  []SummaryRow       `json:"tasks"`
	Groups []SummaryRow       `json:"groups"`
}

// SummaryRow is a task or a group. Counts belong to a task.
type SummaryRow struct {
	Name   string                `json:"name"`
	Counts *cxreasonbench.Counts `json:"counts,omitempty"`
	Cells  []SummaryCell         `json:"cells"`
}

// SummaryCell is one column of a row. Refined is set where the column has a second figure.
type SummaryCell struct {
	Column  string         `json:"column"`
	Plain   SummaryFigure  `json:"plain"`
	Refined *SummaryFigure `json:"refined,omitempty"`
}

// SummaryFigure is a figure with its origin; without a value Why says the reason.
type SummaryFigure struct {
	Value   *float64 `json:"value"`
	K       int      `json:"k"`
	N       int      `json:"n"`
	Formula string   `json:"formula"`
	Why     string   `json:"why,omitempty"`
	// Interval is the 95 % bootstrap interval over cases.
	Interval cxreasonbench.Interval `json:"interval,omitzero"`
}

// SummaryUndetermined is a case without a result.
type SummaryUndetermined struct {
	Case int                `json:"case"`
	Task cxreasonbench.Task `json:"task"`
	Path cxreasonbench.Path `json:"path"`
	Call string             `json:"call"`
	Why  string             `json:"why"`
}

// SummaryStage counts the draws of one stage of one path: Draws = Judged + terminal outcomes.
type SummaryStage struct {
	Path      cxreasonbench.Path  `json:"path"`
	Stage     cxreasonbench.Stage `json:"stage"`
	Draws     int                 `json:"draws"`
	Judged    int                 `json:"judged"`
	Terminals []Count             `json:"terminals"`
}

// SummaryReading counts replies of one stage by the judge's score and the parser's. Parser is
// a score, or why no answer was found.
type SummaryReading struct {
	Path   cxreasonbench.Path  `json:"path"`
	Stage  cxreasonbench.Stage `json:"stage"`
	Judge  string              `json:"judge"`
	Parser string              `json:"parser"`
	N      int                 `json:"n"`
}

// SummaryForm counts the final replies of one path and task that tell their value in one form.
type SummaryForm struct {
	Path cxreasonbench.Path `json:"path"`
	Task cxreasonbench.Task `json:"task"`
	Form string             `json:"form"`
	N    int                `json:"n"`
}

// StepTabulate makes the tables of evaluations.
const (
	StepTabulate    = "tabulate"
	versionTabulate = 1
)

// TabulateKey is the key of an EvaluationSummary: what was asked, every evaluation's
// dialogues, and how they are counted and titled.
func TabulateKey(benchmark artifacts.Digest, evaluations []artifacts.Digest, params map[string]any) artifacts.KeyDoc {
	in := []artifacts.Material{{Name: "benchmark", Digest: benchmark}}
	for i, d := range evaluations {
		// Padded, so that names sort as the numbers do.
		in = append(in, artifacts.Material{Name: fmt.Sprintf("evaluation.%04d", i), Digest: d})
	}
	return artifacts.KeyDoc{Step: StepTabulate, Version: versionTabulate, Params: params, Inputs: in}
}

// EvaluationSummaryMediaType is its media type.
const EvaluationSummaryMediaType = "application/vnd.cxrepro.evaluation-summary+json"
