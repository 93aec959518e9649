package cxreasonbench

import (
	"fmt"
	"strings"
)

// JudgePrompt names an instruction to the judge. The zero value is invalid; where a call
// has no judge it means "none".
type JudgePrompt uint8

const (
	// JudgeInit compares a diagnosis and knows "I don't know".
	JudgeInit JudgePrompt = iota + 1
	// JudgeCriteria compares one criterion and knows "None of the above".
	JudgeCriteria
	// JudgeRefined asks whether the refined criterion was accepted.
	JudgeRefined
	// JudgeStructures compares a set of structures exactly.
	JudgeStructures
	// JudgeStructure compares one structure.
	JudgeStructure
	// JudgeMeasurement compares one range or label.
	JudgeMeasurement
	// JudgeMeasurementSides compares a range for each side.
	JudgeMeasurementSides
	// JudgeFinal compares a diagnosis with a reference that may list two options.
	JudgeFinal
	// ExtractValue returns the number of a final reply.
	ExtractValue
	// ExtractValueSides returns the number for each side.
	ExtractValueSides
)

var judgeText = [...]string{
	JudgeInit: "init", JudgeCriteria: "criteria", JudgeRefined: "custom_criteria",
	JudgeStructures: "bodypart_all", JudgeStructure: "bodypart_one",
	JudgeMeasurement: "measurement", JudgeMeasurementSides: "measurement_projection",
	JudgeFinal: "final", ExtractValue: "extract_value", ExtractValueSides: "extract_value_projection",
}

// JudgePrompts returns every judge prompt.
func JudgePrompts() []JudgePrompt {
	all := make([]JudgePrompt, 0, len(judgeText)-1)
	for p := JudgeInit; p <= ExtractValueSides; p++ {
		all = append(all, p)
	}
	return all
}

// Valid reports whether p is one of [JudgePrompts].
func (p JudgePrompt) Valid() bool { return p >= JudgeInit && p <= ExtractValueSides }

// String returns the name, for example "bodypart_all".
func (p JudgePrompt) String() string {
	if !p.Valid() {
		return fmt.Sprintf("invalid judge prompt %d", uint8(p))
	}
	return judgeText[p]
}

// MarshalText encodes a valid prompt.
func (p JudgePrompt) MarshalText() ([]byte, error) {
	if !p.Valid() {
		return nil, fmt.Errorf("cxreasonbench: %s", p)
	}
	return []byte(judgeText[p]), nil
}

// UnmarshalText accepts exactly the names.
func (p *JudgePrompt) UnmarshalText(b []byte) error {
	for _, q := range JudgePrompts() {
		if judgeText[q] == string(b) {
			*p = q
			return nil
		}
	}
	return fmt.Errorf("cxreasonbench: no judge prompt is called %q", b)
}

// Words returns the verdict words that a prompt asks the judge to choose from; none for the
// prompts that extract a value.
//
// Source: [official code].
func (p JudgePrompt) Words() []string {
	switch p {
	case JudgeInit:
		return []string{"IDK", "True", "False"}
	case JudgeCriteria, JudgeStructure:
		return []string{"N/A", "True", "False"}
	case JudgeRefined:
		return []string{"True", "IDK"}
	case JudgeStructures:
		return []string{"N/A", "True", "Partial", "False"}
	case JudgeMeasurement, JudgeFinal:
		return []string{"True", "False"}
	case JudgeMeasurementSides:
		return []string{"True", "Partial", "False"}
	}
	return nil
}

// A Judgement says how one question is judged.
type Judgement struct {
	Prompt JudgePrompt `json:"prompt"`
	// Question: the judge sees the question too.
	Question bool `json:"question"`
	// Reply is the question whose reply the judge sees. It differs from the question
	// asked only under ReviewFinalJudges=measurement_reply.
	Reply Key `json:"reply"`
	// Extract is the prompt that extracts the value from the kept reply afterwards,
	// whatever the verdict; zero for none.
	Extract JudgePrompt `json:"extract,omitzero"`
}

// JudgementOf returns how the question k of a task is judged.
//
// Source: [official code], mended where a switch says so.
func JudgementOf(rules Rules, task Task, k Key) Judgement {
	j := Judgement{Reply: k}
	switch k.Stage {
	case StageInit:
		j.Prompt, j.Question = JudgeInit, true
		if k.Path == RePath1 || rules.is(InitialPrompt, FinalPrompt) {
			j.Prompt = JudgeFinal
		}
	case StageCriteria:
		j.Prompt = JudgeCriteria
	case StageRefined:
		j.Prompt = JudgeRefined
	case StageStructures:
		j.Prompt = structuresPrompt(task, k.Path)
	case StageMeasurement:
		j.Prompt = JudgeMeasurement
		if task == projection && k.Path != Path2 {
			j.Prompt = JudgeMeasurementSides
		}
		if k.Path == RePath1 && rules.is(ReviewMeasurementPrompt, StructuresPrompt) {
			j.Prompt = structuresPrompt(task, k.Path)
		}
	case StageFinal:
		j.Prompt, j.Question = JudgeFinal, true
		if k.Path == RePath1 && rules.is(ReviewFinalJudges, MeasurementReply) {
			j.Reply = Key{Path: RePath1, Stage: StageMeasurement}
		}
		if KindOf(task) == Measurement {
			j.Extract = ExtractValue
			if task == projection {
				j.Extract = ExtractValueSides
			}
		}
	}
	return j
}

// structuresPrompt is the set prompt where a task needs several structures, except in Path 2,
// which asks for one at a time.
func structuresPrompt(task Task, path Path) JudgePrompt {
	if path == Path2 || len(facts(task).structures) == 1 {
		return JudgeStructure
	}
	return JudgeStructures
}

// JudgeMessage returns the text sent to the judge beside its prompt. question is empty where
// the judge does not see it.
//
// Source: [official code]: one line, the question glued to the next part.
func JudgeMessage(rules Rules, question, reference, reply string) string {
	if rules.is(JudgeLayout, Lines) {
		text := "- Answer 1: " + reference + "\n- Answer 2: " + reply
		if question != "" {
			text = "- Question: " + question + "\n" + text
		}
		return text
	}
	text := "- Answer 1: " + reference + " - Answer 2: " + reply
	if question != "" {
		text = "- Question: " + question + text
	}
	return text
}

// ExtractMessage returns the text sent to the judge for extracting a value.
func ExtractMessage(reply string) string { return "- Response: " + reply }

// A Verdict is what a judge's text says.
type Verdict struct {
	Score Score `json:"score"`
	// Asked: the word is one that the prompt offers.
	Asked bool `json:"asked"`
}

// ReadVerdict reads a judge's text. ok is false where it is no verdict; the judge is then
// asked once more, and a second failure leaves the case undetermined.
//
// Under VerdictReading=substring every text is a verdict: one that contains "true" is Right,
// else "idk" Unknown, else "n/a" NoneOfAbove, else, empty included, Wrong. "Untrue" is Right.
// Under words the whole text must be one verdict word, in any case, with or without quotes,
// emphasis or a full stop; Partial, with or without its number, is Wrong.
//
// Source: substring [official code]; words [ours].
func ReadVerdict(rules Rules, prompt JudgePrompt, text string) (v Verdict, ok bool) {
	word, score := verdictWord(text)
	for _, w := range prompt.Words() {
		v.Asked = v.Asked || strings.EqualFold(w, word)
	}
	if rules.is(VerdictReading, Substring) {
		v.Score = substringScore(text)
		return v, true
	}
	v.Score = score
	return v, score.Valid()
}

func substringScore(text string) Score {
	text = strings.ToLower(text)
	switch {
	case strings.Contains(text, "true"):
		return Right
	case strings.Contains(text, "idk"):
		return Unknown
	case strings.Contains(text, "n/a"):
		return NoneOfAbove
	}
	return Wrong
}

// verdictWord returns the verdict word that the whole text is, and its score; empty and
// invalid for any other text.
func verdictWord(text string) (word string, s Score) {
	text = strings.ToLower(strings.Trim(text, " \t\r\n\"'`*_."))
	switch text {
	case "true":
		return text, Right
	case "false":
		return text, Wrong
	case "idk":
		return text, Unknown
	case "n/a":
		return text, NoneOfAbove
	}
	if rest, found := strings.CutPrefix(text, "partial"); found {
		rest = strings.TrimSpace(rest)
		if rest == "" || (len(rest) == 3 && rest[0] == '(' && rest[1] >= '0' && rest[1] <= '9' && rest[2] == ')') {
			return "partial", Wrong
		}
	}
	return "", 0
}
