package cxreasonbench

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// Switch names one difference between readings of the method. Its text is explicit, since
// specs and reports hold it.
type Switch string

const (
	// ReviewFinalJudges: which reply the judge sees for the last question of the
	// re-evaluation. The released program sends that of the question before.
	ReviewFinalJudges Switch = "dialogue.review_final_judges"
	// ReviewMeasurementPrompt: the judge prompt of the re-evaluated measurement. The
	// released program uses that of the structures.
	ReviewMeasurementPrompt Switch = "dialogue.review_measurement_prompt"
	// ReviewRounds: whether the second round is asked after a miss in the first.
	ReviewRounds Switch = "dialogue.review_rounds"
	// GuidanceStructures: whether Path 2 asks for further structures after a miss.
	GuidanceStructures Switch = "dialogue.guidance_structures"
	// ReselectionPool: which cases the re-evaluation may choose from.
	ReselectionPool Switch = "dialogue.reselection_pool"
	// InitialPrompt: the judge prompt of the first question. Only that of the last
	// question has a rule for references with two options.
	InitialPrompt Switch = "judge.initial_prompt"
	// VerdictReading: how a judge's text becomes a score.
	VerdictReading Switch = "judge.verdict"
	// JudgeLayout: how the parts of the judge's message are joined.
	JudgeLayout Switch = "judge.layout"
	// ConsistencyInput: where the value of a final reply is read.
	ConsistencyInput Switch = "score.consistency"
	// NumberReading: whether 5e-05 in a reference is one number or two.
	NumberReading Switch = "score.numbers"
	// NothingRight: what the paper's proportion of 0 of n is.
	NothingRight Switch = "score.nothing_right"
	// ProportionFormula: how k of n is reported.
	ProportionFormula Switch = "score.formula"
	// GroupMean: what a group of tasks is the mean of.
	GroupMean Switch = "score.mean"
	// WithoutValue: what a task without a value is in the mean of its group.
	WithoutValue Switch = "score.without_value"
)

// Values of switches.
const (
	MeasurementReply  = "measurement_reply"
	OwnReply          = "own_reply"
	StructuresPrompt  = "structures"
	MeasurementPrompt = "measurement"
	AskAll            = "ask_all"
	Stop              = "stop"
	NotFinalRight     = "not_final_right"
	UnfinishedOrIDK   = "unfinished_or_unknown"
	InitPrompt        = "init"
	FinalPrompt       = "final"
	Substring         = "substring"
	Words             = "words"
	Glued             = "glued"
	Lines             = "lines"
	RawReply          = "raw_reply"
	JudgeValue        = "judge_value"
	AsPrinted         = "as_printed"
	Exponents         = "exponents"
	Zero              = "zero"
	Formula           = "formula"
	AdjustedWilson    = "adjusted_wilson"
	PlainShare        = "share"
	OfTasks           = "tasks"
	OfCases           = "cases"
	LeftOut           = "left_out"
)

// A setting is a switch with its value under each preset and every value it may take.
type setting struct {
	name                Switch
	released, corrected string
	values              []string
}

var settings = append([]setting{
	{ReviewFinalJudges, MeasurementReply, OwnReply, []string{MeasurementReply, OwnReply}},
	{ReviewMeasurementPrompt, StructuresPrompt, MeasurementPrompt, []string{StructuresPrompt, MeasurementPrompt}},
	{ReviewRounds, AskAll, Stop, []string{AskAll, Stop}},
	{GuidanceStructures, AskAll, AskAll, []string{AskAll, Stop}},
	{ReselectionPool, NotFinalRight, NotFinalRight, []string{NotFinalRight, UnfinishedOrIDK}},
	{InitialPrompt, InitPrompt, InitPrompt, []string{InitPrompt, FinalPrompt}},
	{VerdictReading, Substring, Words, []string{Substring, Words}},
	{JudgeLayout, Glued, Glued, []string{Glued, Lines}},
	{ConsistencyInput, RawReply, RawReply, []string{RawReply, JudgeValue}},
	{NumberReading, AsPrinted, AsPrinted, []string{AsPrinted, Exponents}},
	{NothingRight, Zero, Zero, []string{Zero, Formula}},
	{ProportionFormula, AdjustedWilson, AdjustedWilson, []string{AdjustedWilson, PlainShare}},
	{GroupMean, OfTasks, OfTasks, []string{OfTasks, OfCases}},
	{WithoutValue, LeftOut, LeftOut, []string{LeftOut, Zero}},
}, buildSettings...)

// Switches returns every switch.
func Switches() []Switch {
	all := make([]Switch, len(settings))
	for i, s := range settings {
		all[i] = s.name
	}
	return all
}

func settingOf(s Switch) (setting, bool) {
	for _, x := range settings {
		if x.name == s {
			return x, true
		}
	}
	return setting{}, false
}

// Rules is a preset with the overrides of single switches. It is a value: it never changes
// after [NewRules], and it encodes as JSON. The zero value is invalid.
type Rules struct {
	preset    Preset
	overrides map[Switch]string
}

// A SwitchError names an override that cannot be, and what can.
type SwitchError struct {
	Name    string
	Message string
}

func (e *SwitchError) Error() string { return "cxreasonbench: " + e.Message }

// NewRules returns the rules of preset with overrides, a switch's text to its value; nil for
// none. An override that equals the preset's own value is dropped.
//
// Errors: an invalid preset; *SwitchError for an unknown switch or value. Each names what exists.
func NewRules(preset Preset, overrides map[string]string) (Rules, error) {
	if !preset.Valid() {
		return Rules{}, fmt.Errorf("cxreasonbench: %s; the presets are %v", preset, Presets())
	}
	r := Rules{preset: preset}
	names := make([]string, 0, len(overrides))
	for name := range overrides {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		s, ok := settingOf(Switch(name))
		if !ok {
			return Rules{}, &SwitchError{name, fmt.Sprintf("no switch is called %q; the switches are %v", name, Switches())}
		}
		value := overrides[name]
		if !contains(s.values, value) {
			return Rules{}, &SwitchError{name, fmt.Sprintf("switch %s cannot be %q; its values are %s", name, value, strings.Join(s.values, ", "))}
		}
		if value == r.Value(s.name) {
			continue
		}
		if r.overrides == nil {
			r.overrides = map[Switch]string{}
		}
		r.overrides[s.name] = value
	}
	return r, nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// Preset returns the preset.
func (r Rules) Preset() Preset { return r.preset }

// Valid reports whether r came from [NewRules].
func (r Rules) Valid() bool { return r.preset.Valid() }

// Value returns what a switch is set to; empty for one that does not exist.
func (r Rules) Value(s Switch) string {
	if v, ok := r.overrides[s]; ok {
		return v
	}
	x, _ := settingOf(s)
	if r.preset == AsReleased {
		return x.released
	}
	return x.corrected
}

func (r Rules) is(s Switch, value string) bool { return r.Value(s) == value }

// Overrides returns the overridden switches as "switch=value", in the order of [Switches].
func (r Rules) Overrides() []string {
	var list []string
	for _, s := range Switches() {
		if v, ok := r.overrides[s]; ok {
			list = append(list, string(s)+"="+v)
		}
	}
	return list
}

// Built returns the values of the switches that the generator reads, by name: those of the
// dialogue, the judge and the scores change no question.
func (r Rules) Built() map[string]string {
	m := map[string]string{}
	for _, s := range buildSettings {
		m[string(s.name)] = r.Value(s.name)
	}
	return m
}

// String is the preset and the overrides, as every report prints them.
func (r Rules) String() string {
	if o := r.Overrides(); len(o) > 0 {
		return r.preset.String() + " with " + strings.Join(o, ", ")
	}
	return r.preset.String()
}

type rulesJSON struct {
	Preset    Preset            `json:"preset"`
	Overrides map[string]string `json:"overrides,omitempty"`
}

// MarshalJSON encodes preset and overrides.
func (r Rules) MarshalJSON() ([]byte, error) {
	out := rulesJSON{Preset: r.preset}
	for s, v := range r.overrides {
		if out.Overrides == nil {
			out.Overrides = map[string]string{}
		}
		out.Overrides[string(s)] = v
	}
	return json.Marshal(out)
}

// UnmarshalJSON accepts what MarshalJSON writes and refuses what NewRules refuses.
func (r *Rules) UnmarshalJSON(b []byte) error {
	var in rulesJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("cxreasonbench: rules: %w", err)
	}
	v, err := NewRules(in.Preset, in.Overrides)
	if err != nil {
		return err
	}
	*r = v
	return nil
}
