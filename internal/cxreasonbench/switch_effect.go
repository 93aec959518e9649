package cxreasonbench

import "strings"

// Effect is how far back in an evaluation a switch reaches: a change of it leaves everything
// before as it is. The zero value is invalid.
type Effect uint8

const (
	// ChangesFigures: how counts become figures.
	ChangesFigures Effect = iota + 1
	// ChangesScores: how recorded replies and verdicts are read.
	ChangesScores
	// ChangesJudging: what the judge is asked.
	ChangesJudging
	// ChangesDialogue: which of its questions a case is asked, and on which case it is
	// re-evaluated.
	ChangesDialogue
	// ChangesQuestions: the questions themselves.
	ChangesQuestions
)

var effectText = [...]string{
	ChangesFigures: "figures", ChangesScores: "scores", ChangesJudging: "judging", ChangesDialogue: "dialogue", ChangesQuestions: "questions",
}

// String returns what changes, for example "scores".
func (e Effect) String() string {
	if e < ChangesFigures || int(e) >= len(effectText) {
		return "invalid effect"
	}
	return effectText[e]
}

// Scoring reports whether everything that a model was asked stays as it was.
func (e Effect) Scoring() bool { return e == ChangesFigures || e == ChangesScores }

var effects = map[Switch]Effect{
	ReviewFinalJudges: ChangesJudging, ReviewMeasurementPrompt: ChangesJudging, InitialPrompt: ChangesJudging, JudgeLayout: ChangesJudging,
	ReviewRounds: ChangesDialogue, GuidanceStructures: ChangesDialogue, ReselectionPool: ChangesDialogue,
	VerdictReading: ChangesScores, ConsistencyInput: ChangesScores, NumberReading: ChangesScores,
	NothingRight: ChangesFigures, ProportionFormula: ChangesFigures, GroupMean: ChangesFigures, WithoutValue: ChangesFigures,
}

// Effect returns how far back a switch reaches; zero for one that does not exist.
func (s Switch) Effect() Effect {
	if strings.HasPrefix(string(s), "build.") {
		if _, ok := settingOf(s); ok {
			return ChangesQuestions
		}
	}
	return effects[s]
}

// Values returns what a switch can be set to; none for one that does not exist.
func (s Switch) Values() []string {
	x, _ := settingOf(s)
	return append([]string(nil), x.values...)
}

// With returns the rules with one switch set to another value.
//
// Errors: *SwitchError for an unknown switch or value.
func (r Rules) With(s Switch, value string) (Rules, error) {
	overrides := map[string]string{string(s): value}
	for name, v := range r.overrides {
		if name != s {
			overrides[string(name)] = v
		}
	}
	return NewRules(r.preset, overrides)
}
