package why

import (
	"fmt"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/cxreasonbench"
)

// ScoringFactors are the names of everything that stands between recorded answers and a figure.
func ScoringFactors() []string {
	out := []string{FactorScoring, FactorJudge}
	for _, s := range cxreasonbench.Switches() {
		if s.Effect().Scoring() {
			out = append(out, string(s))
		}
	}
	return append(out, FactorCases)
}

// Same names the factors of scoring that are equal on both sides: they explain nothing.
func Same(factors []Factor) []string {
	return slices.DeleteFunc(ScoringFactors(), func(name string) bool {
		return slices.ContainsFunc(factors, func(f Factor) bool { return f.Name == name })
	})
}

// Try is the setting with one switch of scoring, or the scoring itself, set to a value.
//
// Errors: what is no factor of scoring, or cannot have the value.
func (s Setting) Try(name, value string) (Setting, error) {
	s = s.copied()
	if name == FactorScoring {
		if value != experiments.ScoringParser {
			return s, fmt.Errorf("only %s can be tried: a judge would have to be named", experiments.ScoringParser)
		}
		s.Plan.Spec.Evaluation.Scoring, s.Plan.Judge = value, nil
		return s, nil
	}
	w := cxreasonbench.Switch(name)
	if e := w.Effect(); e != 0 && !e.Scoring() {
		return s, fmt.Errorf("%s changes more than scores: it needs calls", name)
	}
	rules, err := s.rules()
	if err == nil {
		rules, err = rules.With(w, value)
	}
	if err == nil {
		s.use(rules)
	}
	return s, err
}

// Dialogues names what the scored dialogues of a setting follow from: two settings of one name
// differ at most in how counts become figures, and in which cases count.
func (s Setting) Dialogues() (string, error) {
	s = s.copied()
	rules, err := s.rules()
	if err != nil {
		return "", err
	}
	plain, err := cxreasonbench.NewRules(rules.Preset(), nil)
	if err != nil {
		return "", err
	}
	for _, w := range cxreasonbench.Switches() {
		if w.Effect() == cxreasonbench.ChangesFigures {
			if rules, err = rules.With(w, plain.Value(w)); err != nil {
				return "", err
			}
		}
	}
	s.use(rules)
	data, err := s.Plan.Encode()
	if err != nil {
		return "", err
	}
	return artifacts.Sum(data).String() + " " + s.Benchmark.Digest.String(), nil
}
