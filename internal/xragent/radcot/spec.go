package radcot

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"cxrepro/internal/xragent"
)

// Part says what an example is for.
type Part string

// The parts, in the order of every output.
const (
	Report   Part = "report"
	Choice   Part = "mcq"
	ChoiceRL Part = "mcq_rl"
	Closed   Part = "closed"
	Binary   Part = "binary"
)

// Parts lists all of them.
func Parts() []Part { return []Part{Report, Choice, ChoiceRL, Closed, Binary} }

// SFT reports whether the part's examples are trained in SFT; all but the questions that RL
// keeps for itself are.
func (p Part) SFT() bool { return p != ChoiceRL }

// GRPO reports whether the part's questions are asked in GRPO: those with a key to compare.
func (p Part) GRPO() bool { return p != Report }

// Routed reports whether an example of the part is a trajectory of the agent.
func (p Part) Routed() bool { return p == Choice || p == Closed || p == Binary }

// BinarySource names where the binary questions come from.
type BinarySource string

// Sources of the binary questions. The paper does not name its own.
const (
	BinaryRadReStruct BinarySource = "rad_restruct" // yes/no questions of its training split
	BinaryOpenI       BinarySource = "openi"        // two options, written from OpenI reports
	BinarySlake       BinarySource = "slake"        // yes/no questions that the closed part leaves
	BinaryItems       BinarySource = "items"        // a list of items with yes/no questions
)

func binarySources() []BinarySource {
	return []BinarySource{BinaryRadReStruct, BinaryOpenI, BinarySlake, BinaryItems}
}

// Amount is how many candidates of a part are drawn and how many examples are wanted of them.
type Amount struct {
	Draw int `json:"draw"`
	Want int `json:"want"`
}

// Amounts are those of all parts.
type Amounts struct {
	Report   Amount `json:"report"`
	Choice   Amount `json:"mcq"`
	ChoiceRL Amount `json:"mcq_rl"`
	Closed   Amount `json:"closed"`
	Binary   Amount `json:"binary"`
}

// Of returns the amount of a part.
func (a Amounts) Of(p Part) Amount {
	switch p {
	case Report:
		return a.Report
	case Choice:
		return a.Choice
	case ChoiceRL:
		return a.ChoiceRL
	case Closed:
		return a.Closed
	}
	return a.Binary
}

// Leakage says what becomes of a rationale that gives away where it comes from.
type Leakage string

// The ways. [ours]; the paper says "drop or strip".
const (
	LeakageByPhrase Leakage = "by_phrase" // as the phrase's own row says
	LeakageReject   Leakage = "reject"
	LeakageStrip    Leakage = "strip"
)

// Rules are the limits of the filters.
type Rules struct {
	MinWords int `json:"min_words"`
	MaxWords int `json:"max_words"`
	// Similarity is the highest ratio between rationale and findings that passes.
	Similarity float64 `json:"similarity"`
	// Attempts counts the first asking and its retries.
	Attempts int     `json:"attempts"`
	Leakage  Leakage `json:"leakage"`
	// FindingsWords is the least number of words of findings that are not trivial.
	FindingsWords int `json:"findings_words"`
}

// Spec is everything that decides which examples exist, beside the sources themselves.
type Spec struct {
	Name    string       `json:"name"`
	Seed    uint64       `json:"seed"`
	Amounts Amounts      `json:"amounts"`
	Binary  BinarySource `json:"binary"`
	// NoFindingCap is the largest share of drawn reports without a finding.
	NoFindingCap float64 `json:"no_finding_cap"`
	// Options of a question that is written from findings.
	Options int           `json:"options"`
	Rules   Rules         `json:"rules"`
	Agent   xragent.Agent `json:"agent"`
	// Waiver is the reason why exclusion lists may have other sizes than the paper's; empty
	// demands 363, 94 and 452.
	Waiver string `json:"waiver,omitempty"`
}

// DefaultSpec is the paper's sizes with our defaults.
//
// Source: wanted sizes, 40 to 900 words, 0.82, one retry, 6,000 reports [paper]; draws of the
// other parts, the cap of a third, four options [ours].
func DefaultSpec() Spec {
	return Spec{
		Name: "rad-cot", Seed: 42, Binary: BinaryRadReStruct, NoFindingCap: 1.0 / 3, Options: 4,
		Amounts: Amounts{Report: Amount{6000, 4000}, Choice: Amount{3000, 1995}, ChoiceRL: Amount{1300, 1000}, Closed: Amount{1000, 720}, Binary: Amount{1500, 1000}},
		Rules:   Rules{MinWords: 40, MaxWords: 900, Similarity: xragent.SimilarityLimit, Attempts: 2, Leakage: LeakageByPhrase, FindingsWords: 8},
		Agent:   xragent.Agent{Profile: xragent.ProfileCalibrated},
	}
}

// Validate reports everything that is wrong with a spec, field by field.
func (s Spec) Validate() error {
	var wrong []error
	say := func(field, format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("spec: %s: %s", field, fmt.Sprintf(format, args...)))
	}
	if strings.TrimSpace(s.Name) == "" {
		say("name", "is empty")
	}
	if !slices.Contains(binarySources(), s.Binary) {
		say("binary", "%q is not one of %v", s.Binary, binarySources())
	}
	if !(s.NoFindingCap >= 0 && s.NoFindingCap <= 1) {
		say("no_finding_cap", "%v is not a share from 0 to 1", s.NoFindingCap)
	}
	if s.Options < 2 || s.Options > 6 {
		say("options", "%d is not from 2 to 6", s.Options)
	}
	total := 0
	for _, p := range Parts() {
		a := s.Amounts.Of(p)
		if a.Want < 0 || a.Draw < a.Want {
			say("amounts."+string(p), "draws %d and wants %d; draw at least what is wanted", a.Draw, a.Want)
		}
		total += a.Draw
	}
	if total == 0 {
		say("amounts", "every part draws 0")
	}
	r := s.Rules
	switch {
	case r.MinWords < 1 || r.MaxWords < r.MinWords:
		say("rules.min_words", "%d to %d words is no range", r.MinWords, r.MaxWords)
	case !(r.Similarity > 0 && r.Similarity <= 1):
		say("rules.similarity", "%v is not above 0 and at most 1", r.Similarity)
	case r.Attempts < 1 || r.Attempts > 10:
		say("rules.attempts", "%d is not from 1 to 10", r.Attempts)
	case r.FindingsWords < 1:
		say("rules.findings_words", "%d is not positive", r.FindingsWords)
	}
	if r.Leakage != LeakageByPhrase && r.Leakage != LeakageReject && r.Leakage != LeakageStrip {
		say("rules.leakage", "%q is not one of by_phrase, reject, strip", r.Leakage)
	}
	if err := s.Agent.Validate(); err != nil {
		wrong = append(wrong, fmt.Errorf("spec: %w", err))
	}
	return errors.Join(wrong...)
}
