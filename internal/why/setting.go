package why

import (
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/cxreasonbench"
)

// Case names a case in any benchmark: the data set's own identifier under a task. It is not for
// printing.
type Case struct {
	Task cxreasonbench.Task
	ID   string
}

// Setting is everything that one figure of an evaluation follows from, but the recorded calls.
type Setting struct {
	// Plan has exactly one evaluation.
	Plan *experiments.Plan
	// Benchmark is the manifest that is asked about; zero where there is none here. Questions
	// is the digest of what it asks: manifests may differ in their titles alone.
	Benchmark artifacts.Ref
	Questions artifacts.Digest
	// Cases are those of the benchmark; nil where nobody knows them. Only are those that
	// count; nil counts all.
	Cases, Only map[Case]bool
}

// Narrow is the setting of the evaluation at a place of a plan.
//
// Errors: a plan without that evaluation.
func Narrow(p *experiments.Plan, benchmark artifacts.Ref, cases map[Case]bool, index int) (Setting, error) {
	list := p.Evaluations()
	if index < 0 || index >= len(list) {
		return Setting{}, fmt.Errorf("evaluation %d: the plan has %d", index, len(list))
	}
	out := Setting{Plan: p, Benchmark: benchmark, Cases: cases}.copied()
	out.Plan.Models = []experiments.ModelCard{*list[index].Model}
	out.Plan.Spec.Evaluation.Sampling = []string{list[index].Sampling}
	return out, nil
}

// copied returns a setting whose plan can be changed.
func (s Setting) copied() Setting {
	p := *s.Plan
	p.Models = append([]experiments.ModelCard(nil), p.Models...)
	e := *p.Spec.Evaluation
	p.Spec.Evaluation, s.Plan = &e, &p
	return s
}

// Apply returns the setting with some factors set as on the other side.
//
// Errors: rules that do not go together.
func (s Setting) Apply(factors ...Factor) (Setting, error) {
	s = s.copied()
	for _, f := range factors {
		if err := f.apply(&s); err != nil {
			return s, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return s, nil
}

// model is the card of the model that is asked.
func (s *Setting) model() *experiments.ModelCard { return &s.Plan.Models[0] }

// draws reports whether the model is asked for several replies.
func (s *Setting) draws() bool { return s.Plan.Evaluations()[0].Sampling == experiments.Draws3 }

func (s *Setting) rules() (cxreasonbench.Rules, error) {
	return experiments.BenchmarkRules(&s.Plan.Spec)
}

// use makes rules those of the setting, whatever its preset says.
func (s *Setting) use(rules cxreasonbench.Rules) {
	s.Plan.Spec.Switches = experiments.SwitchesOf(rules)
}
