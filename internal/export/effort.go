package export

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/provenance"
)

// Effort is a finished reproduction.
type Effort struct {
	Receipt *contract.Receipt
	// ReceiptRef names the receipt.
	ReceiptRef artifacts.Ref
	Plan       *experiments.Plan
	// PlanText is the plan as it is stored.
	PlanText []byte
	// Findings and Evaluation are its tables; nil without.
	Findings   *contract.Summary
	Evaluation *contract.EvaluationSummary
	// Steps are the kinds of steps that its ledger holds, in the order of the work.
	Steps []Step
	// Tables are the figures as files.
	Tables []File
	Code   provenance.Code
	// Root is the root of the ledger.
	Root artifacts.Digest
}

// Step is one kind of steps.
type Step struct {
	Name string
	// Records is how many results of that kind there are.
	Records int
	// Started and Ended bound the work behind them; zero where no statement could be read.
	Started, Ended time.Time
	// Bytes is the size of the results.
	Bytes int64
}

// File is a file of an export.
type File struct {
	Name, Title, MediaType string
	Data                   []byte
}

// order is the order of the work; kinds that are not listed come after it.
var order = []string{
	contract.StepPixelFacts, contract.StepSegment, contract.StepImportMasks, contract.StepAssess, contract.StepSummarise,
	contract.StepDrawCases, contract.StepBuildCase, contract.StepImportCase, contract.StepPreparePicture,
	contract.StepCall, contract.StepCallOutcome, contract.StepTabulate, contract.StepReproduction,
}

// titles say what a kind of steps does.
var titles = map[string]string{
	contract.StepPixelFacts: "read size, gradient and non-zero runs of pictures", contract.StepSegment: "segment anatomical structures",
	contract.StepImportMasks: "import masks that were made elsewhere", contract.StepAssess: "measure, check and label findings",
	contract.StepSummarise: "count findings into tables", contract.StepDrawCases: "draw the cases of a benchmark",
	contract.StepBuildCase: "build questions and pictures of cases", contract.StepImportCase: "import cases of a released benchmark",
	contract.StepPreparePicture: "prepare pictures as they are sent", contract.StepCall: "ask models and judge",
	contract.StepCallOutcome: "record calls that ended without an answer", contract.StepTabulate: "compute the figures of the tables",
	contract.StepReproduction: "write the receipt",
}

func title(step string) string {
	if t := titles[step]; t != "" {
		return t
	}
	return step
}

// Tally counts steps by kind from the statements of their records.
type Tally struct{ steps map[string]*Step }

// Add counts a record. statement may be nil where it is withheld.
func (t *Tally) Add(rec artifacts.Record, statement []byte) {
	if t.steps == nil {
		t.steps = map[string]*Step{}
	}
	s := t.steps[rec.Key.Step]
	if s == nil {
		s = &Step{Name: rec.Key.Step}
		t.steps[rec.Key.Step] = s
	}
	s.Records++
	s.Bytes += rec.Result.Size
	var told struct {
		Predicate struct {
			Invocation struct {
				Started  time.Time `json:"started"`
				Finished time.Time `json:"finished"`
			} `json:"invocation"`
		} `json:"predicate"`
	}
	if json.Unmarshal(statement, &told) != nil {
		return
	}
	i := told.Predicate.Invocation
	if !i.Started.IsZero() && (s.Started.IsZero() || i.Started.Before(s.Started)) {
		s.Started = i.Started
	}
	if i.Finished.After(s.Ended) {
		s.Ended = i.Finished
	}
}

// Steps lists the kinds in the order of the work.
func (t *Tally) Steps() []Step {
	var out []Step
	for _, s := range t.steps {
		out = append(out, *s)
	}
	place := func(name string) int {
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(out, func(a, b Step) int {
		if d := place(a.Name) - place(b.Name); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// site is where the vocabulary of this program is described.
const site = "urn:cxrepro"

// version is how the program is named to others.
func (e *Effort) version() string {
	switch {
	case e.Code.Commit != "" && e.Code.Commit != "unknown" && !e.Code.Dirty:
		return e.Code.Commit
	case !e.Code.Binary.IsZero():
		return "binary-" + e.Code.Binary.Short()
	}
	return "unknown"
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05+00:00") }
