package compare

import (
	"context"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/provenance"
)

// Side is one reproduction that has come to its end.
type Side struct {
	Receipt *contract.Receipt
	Plan    *experiments.Plan
	// Findings are its tables of measurements; nil where nothing was measured.
	Findings *contract.Summary
	// Benchmark is what was asked about, Tables and Evaluations what came of it; nil and
	// empty where nothing was asked.
	Benchmark   *contract.Benchmark
	Tables      *contract.EvaluationSummary
	Evaluations []contract.EvaluationDoc
	// Agent is what an agent was asked and did; nil without one.
	Agent *Agent
	Source
}

// Source reads what a side refers to.
type Source struct {
	// Windows calls fn for every window of the data set, in order.
	Windows func(ctx context.Context, fn func(Window) error) error
	// Pages calls fn for every page of the evaluation at a place.
	Pages  func(ctx context.Context, evaluation int, fn func(*contract.DialoguesDoc) error) error
	Answer func(ctx context.Context, ref artifacts.Ref) (lvlm.Answer, error)
	// Calls calls see for every call of a dialogue, in order.
	Calls func(ctx context.Context, evaluation int, task cxreasonbench.Task, path cxreasonbench.Path, number int, see func(c cxreasonbench.Call, key artifacts.Key) error) error
	// Statement returns the statement of a key; nil where it is gone.
	Statement func(ctx context.Context, key artifacts.Key) (*provenance.Statement, error)
	// Made returns the keys that gave a result.
	Made func(ctx context.Context, result artifacts.Digest) ([]artifacts.Key, error)
}

// Window is one window of a data set with the records of its tasks.
type Window struct {
	Entries []contract.Entry
	Inputs  contract.WindowIn
	Tasks   []contract.AssessedTask
	// Rows reads the rows of the task at a place.
	Rows func(ctx context.Context, task int) ([]contract.FindingRow, error)
}

// Options bound what a comparison reads and lists.
type Options struct {
	// Flips is the most flips that are listed with both transcripts; less than 0 means all.
	Flips int
	// Draws and Seed are those of the bootstrap. Default 2,000 draws.
	Draws int
	Seed  uint64
}

func (o Options) withDefaults() Options {
	if o.Draws <= 0 {
		o.Draws = 2000
	}
	return o
}

// reply is the text of a recorded answer, with what it was where it was none.
func (s *Side) reply(ctx context.Context, ref artifacts.Ref) (string, error) {
	if ref.IsZero() {
		return "", nil
	}
	a, err := s.Answer(ctx, ref)
	if err != nil {
		return "", err
	}
	if a.Outcome != lvlm.Answered {
		return "[" + string(a.Outcome) + "] " + a.Text, nil
	}
	return a.Text, nil
}
