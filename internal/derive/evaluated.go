package derive

import (
	"context"
	"math"
	"strconv"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/datause"
	"cxrepro/internal/ledger"
	"cxrepro/internal/lvlm"
)

// Evaluated is what calls need of a plan.
type Evaluated struct {
	*experiments.Plan
	Evaluations []experiments.EvaluationOf
	Rules       cxreasonbench.Rules
	Prompts     *cxreasonbench.Pack
	Retry       ledger.Retry
}

// NewEvaluated returns what the calls of the stored plan ref need. pack returns the text of a
// prompt pack that is not the program's own.
func NewEvaluated(p *experiments.Plan, ref artifacts.Ref, pack func(artifacts.Ref) (*cxreasonbench.Pack, error)) (*Evaluated, error) {
	out := &Evaluated{Plan: p, Evaluations: p.Evaluations()}
	var err error
	if out.Rules, err = experiments.BenchmarkRules(&p.Spec); err != nil {
		return nil, contract.Fail(contract.ErrTypeSpec, "plan %s: %w", ref.Digest.Short(), err)
	}
	if out.Prompts, err = Prompts(p, pack); err != nil {
		return nil, err
	}
	if e := p.Spec.Evaluation; e != nil {
		out.Retry = retryOf(e.Retry)
	}
	return out, nil
}

// Prompts returns a plan's prompt pack: the program's own, or the stored one.
func Prompts(p *experiments.Plan, stored func(artifacts.Ref) (*cxreasonbench.Pack, error)) (*cxreasonbench.Pack, error) {
	own := cxreasonbench.Prompts()
	if p.Prompts.Digest == own.Digest() || p.Prompts.IsZero() {
		return own, nil
	}
	return stored(p.Prompts)
}

// ParsePrompts reads a stored prompt pack.
func ParsePrompts(data []byte) (*cxreasonbench.Pack, error) {
	pack, err := cxreasonbench.ParsePack(data)
	if err != nil {
		return nil, contract.Fail(contract.ErrTypeSpec, "prompt pack of the plan: %w", err)
	}
	return pack, nil
}

// Benchmark is a benchmark's manifest with its class.
type Benchmark struct {
	contract.Benchmark
	Class datause.Class
}

// NewBenchmark returns the stored manifest ref, decoded as doc. A class that cannot be read
// stays invalid, and goes nowhere.
func NewBenchmark(doc contract.Benchmark, ref artifacts.Ref) (*Benchmark, error) {
	if doc.Format != contract.BenchmarkFormat {
		return nil, contract.Fail(contract.ErrTypeSpec, "benchmark %s: format %q, want %q", ref.Digest.Short(), doc.Format, contract.BenchmarkFormat)
	}
	class, _ := datause.Parse(doc.DataUse)
	return &Benchmark{Benchmark: doc, Class: class}, nil
}

// Case is a case's questions by key.
type Case struct {
	Questions map[cxreasonbench.Key]*cxreasonbench.Question
	Pictures  map[string]artifacts.Ref
}

// NewCase returns the questions of a case's document.
func NewCase(doc *contract.CaseDoc) (*Case, error) {
	if doc.Format != contract.CaseDocFormat {
		return nil, contract.Fail(contract.ErrTypeSpec, "format %q of a case, want %q", doc.Format, contract.CaseDocFormat)
	}
	c := &Case{Questions: map[cxreasonbench.Key]*cxreasonbench.Question{}, Pictures: doc.Pictures}
	for i := range doc.Items {
		for k := range doc.Items[i].Questions {
			q := &doc.Items[i].Questions[k]
			c.Questions[q.Key] = q
		}
	}
	return c, nil
}

// rounds counts a case's questions of one stage on one path.
func (c *Case) rounds(p cxreasonbench.Path, s cxreasonbench.Stage) int {
	n := 0
	for c.Questions[cxreasonbench.Key{Path: p, Stage: s, Round: n}] != nil {
		n++
	}
	return n
}

// Shape is what the state machine needs to know of the case on a path.
func (c *Case) Shape(p cxreasonbench.Path) cxreasonbench.Shape {
	return cxreasonbench.Shape{
		CriteriaRounds:  c.rounds(p, cxreasonbench.StageCriteria),
		StructureRounds: c.rounds(p, cxreasonbench.StageStructures),
	}
}

// Guidance is the number of structure questions of the case's Path 2.
func (c *Case) Guidance() int { return c.rounds(cxreasonbench.Path2, cxreasonbench.StageStructures) }

// Documents hands out what calls are assembled from. It is asked for the same things again and
// again, and may serve several goroutines.
type Documents interface {
	// Case returns the questions of a stored CaseDoc.
	Case(ctx context.Context, ref artifacts.Ref) (*Case, error)
	// Answer returns a recorded answer.
	Answer(ctx context.Context, ref artifacts.Ref) (lvlm.Answer, error)
	// Picture returns a stored picture as the call's rule sends it.
	Picture(ctx context.Context, c *Call, stored artifacts.Ref) (artifacts.Ref, error)
}

// caseOf returns the questions of a case by its number.
func (b *Benchmark) caseOf(ctx context.Context, docs Documents, number int) (*Case, error) {
	if number < 0 || number >= len(b.Cases) {
		return nil, contract.Fail(contract.ErrTypeSpec, "case %d: the benchmark has cases 0 to %d", number, len(b.Cases)-1)
	}
	return docs.Case(ctx, b.Cases[number].Doc)
}

// CaseNumber is the case of a dialogue as a number of the manifest.
func CaseNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, contract.Fail(contract.ErrTypeSpec, "case %q of a dialogue is no number of the manifest", text)
	}
	return n, nil
}

// maxSeed keeps sums of seeds and draws within what every endpoint takes.
const maxSeed = math.MaxInt32 - 1<<10

// DecodingOf is what a card sends in one way of sampling. Where draws have a seed, the
// evaluation's is added to the card's, and the adapter adds the number of the draw.
func DecodingOf(of experiments.EvaluationOf, e *experiments.Evaluation) lvlm.Decoding {
	if of.Sampling != experiments.Draws3 || of.Model.Draws == nil {
		return of.Model.Greedy
	}
	return seeded(*of.Model.Draws, e.Seed)
}
