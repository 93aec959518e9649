package why

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/provenance"
)

// Needs says what a change of a factor needs beside the recorded answers. The zero value is
// invalid.
type Needs uint8

const (
	// NeedsNothing: everything is recorded, whatever the factor is set to.
	NeedsNothing Needs = iota + 1
	// NeedsJudge: verdicts, unless somebody has asked for them.
	NeedsJudge
	// NeedsModel: answers of the model and verdicts on them, unless they are recorded.
	NeedsModel
	// NeedsBenchmark: other questions, and then answers and verdicts.
	NeedsBenchmark
)

var needsText = [...]string{NeedsNothing: "nothing", NeedsJudge: "judge calls", NeedsModel: "model and judge calls", NeedsBenchmark: "another benchmark"}

// String is the need in words.
func (n Needs) String() string {
	if n < NeedsNothing || int(n) >= len(needsText) {
		return fmt.Sprintf("invalid need %d", uint8(n))
	}
	return needsText[n]
}

// MarshalText encodes a valid need.
func (n Needs) MarshalText() ([]byte, error) {
	if n < NeedsNothing || int(n) >= len(needsText) {
		return nil, fmt.Errorf("why: %s", n)
	}
	return []byte(needsText[n]), nil
}

// Names of factors that are no switch.
const (
	FactorScoring   = "evaluation.scoring"
	FactorJudge     = "judge"
	FactorCases     = "cases"
	FactorModel     = "model"
	FactorDecoding  = "decoding"
	FactorPictures  = "pictures"
	FactorAdapter   = "adapter"
	FactorPrompts   = "prompts"
	FactorSeed      = "evaluation.seed"
	FactorRetry     = "evaluation.retry"
	FactorBenchmark = "benchmark"
)

// Factor is one thing that differs between two settings.
type Factor struct {
	Name  string `json:"factor"`
	Needs Needs  `json:"needs"`
	// Ours and Theirs are the two values as text.
	Ours   string `json:"ours"`
	Theirs string `json:"theirs"`
	// Sets are the --set arguments that do the same in a run; none where no field of a spec
	// does.
	Sets []string `json:"sets,omitempty"`
	// Unavailable says why the other value cannot be had here; empty where it can.
	Unavailable string `json:"unavailable,omitempty"`

	apply func(*Setting) error
}

// Factors lists what differs between two settings: first what stands between answers and
// figure, then what needs calls.
//
// Errors: settings whose rules cannot be read.
func Factors(ours, theirs Setting) ([]Factor, error) {
	a, err := ours.rules()
	if err != nil {
		return nil, err
	}
	b, err := theirs.rules()
	if err != nil {
		return nil, err
	}
	var list []Factor
	add := func(f Factor, differ bool) {
		if differ {
			list = append(list, f)
		}
	}
	switches := func(want func(cxreasonbench.Effect) bool, needs Needs) {
		for _, s := range cxreasonbench.Switches() {
			add(switchFactor(s, a.Value(s), b.Value(s), needs), want(s.Effect()) && a.Value(s) != b.Value(s))
		}
	}
	judging(ours, theirs, add)
	switches(cxreasonbench.Effect.Scoring, NeedsNothing)
	filter(ours, theirs, add)
	switches(func(e cxreasonbench.Effect) bool { return e == cxreasonbench.ChangesJudging }, NeedsJudge)
	switches(func(e cxreasonbench.Effect) bool { return e == cxreasonbench.ChangesDialogue }, NeedsModel)
	asking(ours, theirs, add)
	benchmark(ours, theirs, b, add)
	return list, nil
}

func switchFactor(s cxreasonbench.Switch, ours, theirs string, needs Needs) Factor {
	return Factor{
		Name: string(s), Needs: needs, Ours: ours, Theirs: theirs, Sets: []string{"switches." + string(s) + "=" + theirs},
		apply: func(v *Setting) error {
			rules, err := v.rules()
			if err == nil {
				rules, err = rules.With(s, theirs)
			}
			if err == nil {
				v.use(rules)
			}
			return err
		},
	}
}

// judging adds who scores: judge or parser, and which judge. Where only one side has a judge,
// it comes with the scoring.
func judging(ours, theirs Setting, add func(Factor, bool)) {
	a, b := ours.Plan, theirs.Plan
	setJudge := func(v *Setting) error {
		v.Plan.Spec.Evaluation.Scoring, v.Plan.Judge = b.Spec.Evaluation.Scoring, b.Judge
		return nil
	}
	scoring := Factor{Name: FactorScoring, Needs: NeedsNothing, Ours: a.Spec.Evaluation.Scoring, Theirs: b.Spec.Evaluation.Scoring, apply: setJudge}
	if scoring.Theirs == experiments.ScoringParser {
		scoring.Sets = []string{"evaluation.scoring=parser", `evaluation.judge=""`}
	} else {
		scoring.Needs = NeedsJudge
	}
	add(scoring, scoring.Ours != scoring.Theirs)
	if a.Judge == nil || b.Judge == nil {
		return
	}
	x, y := asked(a.Judge), asked(b.Judge)
	add(Factor{Name: FactorJudge, Needs: NeedsJudge, apply: setJudge}.with(x, y), !same(x, y))
}

// filter adds the cases that both sides count, where they count different ones.
func filter(ours, theirs Setting, add func(Factor, bool)) {
	if ours.Cases == nil || theirs.Cases == nil {
		return
	}
	common := map[Case]bool{}
	for c := range ours.Cases {
		if theirs.Cases[c] {
			common[c] = true
		}
	}
	add(Factor{
		Name: FactorCases, Needs: NeedsNothing, Ours: fmt.Sprintf("all %d", len(ours.Cases)),
		Theirs: fmt.Sprintf("the %d that both have", len(common)),
		apply:  func(v *Setting) error { v.Only = common; return nil },
	}, len(common) != len(ours.Cases))
}

// asking adds what a request to the model is made of, beside the questions.
func asking(ours, theirs Setting, add func(Factor, bool)) {
	a, b := ours.model(), theirs.model()
	draws := ours.draws()
	add(Factor{Name: FactorModel, Needs: NeedsModel, apply: func(v *Setting) error {
		m := v.model()
		m.Identity, m.Name, m.Title, m.Simulated = b.Identity, b.Name, b.Title, b.Simulated
		return nil
	}, Unavailable: unknownWeights(b)}.with(a.Identity, b.Identity), !same(a.Identity, b.Identity) || a.Identity.Unpinned != "" && a.Name != b.Name)
	d, e := a.Greedy, b.Greedy
	if draws && a.Draws != nil && b.Draws != nil {
		d, e = *a.Draws, *b.Draws
	}
	add(Factor{Name: FactorDecoding, Needs: NeedsModel, apply: func(v *Setting) error {
		v.model().Greedy, v.model().Draws = b.Greedy, b.Draws
		return nil
	}}.with(d, e), !same(d, e))
	add(Factor{Name: FactorPictures, Needs: NeedsModel, Ours: a.Pictures, Theirs: b.Pictures, apply: func(v *Setting) error {
		v.model().Pictures = b.Pictures
		return nil
	}}, a.Pictures != b.Pictures)
	add(Factor{Name: FactorAdapter, Needs: NeedsModel, Ours: a.Adapter, Theirs: b.Adapter, apply: func(v *Setting) error {
		v.model().Adapter = b.Adapter
		return nil
	}}, a.Adapter != b.Adapter)
	x, y := ours.Plan.Spec.Evaluation, theirs.Plan.Spec.Evaluation
	seed := fmt.Sprint(y.Seed)
	add(Factor{Name: FactorSeed, Needs: NeedsModel, Ours: fmt.Sprint(x.Seed), Theirs: seed, Sets: []string{FactorSeed + "=" + seed}, apply: func(v *Setting) error {
		v.Plan.Spec.Evaluation.Seed = y.Seed
		return nil
	}}, x.Seed != y.Seed)
	add(Factor{Name: FactorRetry, Needs: NeedsModel, Ours: text(x.Retry), Theirs: text(y.Retry), apply: func(v *Setting) error {
		v.Plan.Spec.Evaluation.Retry = y.Retry
		return nil
	}}, !same(x.Retry, y.Retry))
}

// benchmark adds the questions: another manifest with everything that made it, and the prompt
// pack, from which the judge's prompts come too.
func benchmark(ours, theirs Setting, rules cxreasonbench.Rules, add func(Factor, bool)) {
	add(Factor{Name: FactorPrompts, Needs: NeedsJudge, Ours: short(ours.Plan.Prompts.Digest), Theirs: short(theirs.Plan.Prompts.Digest), apply: func(v *Setting) error {
		v.Plan.Prompts = theirs.Plan.Prompts
		return nil
	}}, ours.Plan.Prompts.Digest != theirs.Plan.Prompts.Digest)
	f := Factor{Name: FactorBenchmark, Needs: NeedsBenchmark, Ours: questions(ours), Theirs: questions(theirs), apply: func(v *Setting) error {
		was, err := v.rules()
		if err != nil {
			return err
		}
		// The preset is the other side's, and so are the generator's switches; all others
		// stay what they are.
		own, other := v.Plan.Spec, theirs.Plan.Spec
		v.Plan.Spec = other
		v.Plan.Spec.Evaluation, v.Plan.Spec.Name, v.Plan.Spec.Paper = own.Evaluation, own.Name, own.Paper
		v.Plan.Model, v.Benchmark, v.Questions, v.Cases = theirs.Plan.Model, theirs.Benchmark, theirs.Questions, theirs.Cases
		mixed := rules
		for _, s := range cxreasonbench.Switches() {
			if s.Effect() != cxreasonbench.ChangesQuestions {
				if mixed, err = mixed.With(s, was.Value(s)); err != nil {
					return err
				}
			}
		}
		v.use(mixed)
		return nil
	}}
	if theirs.Benchmark.IsZero() {
		f.Unavailable = "the released benchmark of the paper is not in this store"
	}
	asks := ours.Questions != theirs.Questions
	if ours.Questions.IsZero() || theirs.Questions.IsZero() {
		asks = ours.Benchmark.Digest != theirs.Benchmark.Digest
	}
	add(f, asks)
}

// questions describes a benchmark.
func questions(s Setting) string {
	b := s.Plan.Spec.Benchmark
	text := b.Source + " of " + s.Plan.Spec.Dataset.Name
	if !s.Benchmark.IsZero() {
		text += " " + short(s.Benchmark.Digest)
	}
	return text
}

// asked is what of a judge's card enters a request.
func asked(c *experiments.ModelCard) map[string]any {
	m := map[string]any{"identity": c.Identity, "adapter": c.Adapter, "decoding": c.Greedy}
	if c.Identity.Unpinned != "" {
		m["name"] = c.Name
	}
	return m
}

// with tells the fields of two values in which they differ.
func (f Factor) with(ours, theirs any) Factor {
	f.Ours, f.Theirs = text(ours), text(theirs)
	a, errA := json.Marshal(ours)
	b, errB := json.Marshal(theirs)
	if errA != nil || errB != nil {
		return f
	}
	how, err := provenance.CompareDocuments(a, b)
	if err != nil || len(how.Differs) == 0 {
		return f
	}
	var x, y []string
	for _, d := range how.Differs {
		x, y = append(x, told(d.Field, d.Ours)...), append(y, told(d.Field, d.Other)...)
	}
	f.Ours, f.Theirs = listed(x), listed(y)
	return f
}

// told is a field with its value, nothing where it is not there.
func told(field, value string) []string {
	if value == provenance.Absent {
		return nil
	}
	return []string{field + " " + strings.Trim(value, `"`)}
}

func listed(fields []string) string {
	if len(fields) == 0 {
		return "none"
	}
	return strings.Join(fields, ", ")
}

func same(a, b any) bool { return text(a) == text(b) }

// text is a value as compact JSON, "none" for nothing.
func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if bytes.Equal(data, []byte("null")) {
		return "none"
	}
	return strings.ReplaceAll(string(data), `"`, "")
}

func short(d artifacts.Digest) string {
	if d.IsZero() {
		return "none"
	}
	return d.Short()
}

// unknownWeights says why a model cannot be had whose weights nobody named.
func unknownWeights(c *experiments.ModelCard) string {
	if c.Identity.Unpinned == "" {
		return ""
	}
	return "nobody published which weights these are"
}
