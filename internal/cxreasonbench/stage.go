package cxreasonbench

import (
	"fmt"
	"strconv"
	"strings"
)

// Path is a way through the stages. The zero value is invalid.
type Path uint8

const (
	// Path1 asks for the reasoning directly.
	Path1 Path = iota + 1
	// Path2 guides a model that did not know the answer or the refined criterion.
	Path2
	// RePath1 asks again, in the same conversation as Path2, on another case.
	RePath1
)

var pathText = [...]string{Path1: "path1", Path2: "path2", RePath1: "re_path1"}

// Paths returns every path.
func Paths() []Path { return []Path{Path1, Path2, RePath1} }

// Valid reports whether p is one of [Paths].
func (p Path) Valid() bool { return p >= Path1 && p <= RePath1 }

// String returns "path1", "path2" or "re_path1".
func (p Path) String() string {
	if !p.Valid() {
		return fmt.Sprintf("invalid path %d", uint8(p))
	}
	return pathText[p]
}

// MarshalText encodes a valid path.
func (p Path) MarshalText() ([]byte, error) {
	if !p.Valid() {
		return nil, fmt.Errorf("cxreasonbench: %s", p)
	}
	return []byte(pathText[p]), nil
}

// UnmarshalText accepts exactly the text forms.
func (p *Path) UnmarshalText(b []byte) error {
	for _, q := range Paths() {
		if pathText[q] == string(b) {
			*p = q
			return nil
		}
	}
	return fmt.Errorf("cxreasonbench: no path is called %q", b)
}

// Stage is a stage of a path. The zero value is invalid.
type Stage uint8

const (
	// StageInit is the diagnostic question on the radiograph alone.
	StageInit Stage = iota + 1
	// StageCriteria (Stage 1) asks for the criterion, in one or two rounds.
	StageCriteria
	// StageRefined (Stage 1.5) offers the refined criterion; only Path 1 of seven tasks.
	StageRefined
	// StageStructures (Stage 2; Stage 1 of Path 2) asks for the anatomy.
	StageStructures
	// StageMeasurement (Stage 3; Stage 2 of Path 2) asks for a range or a label.
	StageMeasurement
	// StageFinal (Stage 4; Stage 3 of Path 2) asks for the diagnosis and the value.
	StageFinal
)

// stageText holds the words of the result files.
var stageText = [...]string{
	StageInit: "init", StageCriteria: "criteria", StageRefined: "custom_criteria",
	StageStructures: "bodypart", StageMeasurement: "measurement", StageFinal: "final",
}

// Stages returns every stage.
func Stages() []Stage {
	return []Stage{StageInit, StageCriteria, StageRefined, StageStructures, StageMeasurement, StageFinal}
}

// Valid reports whether s is one of [Stages].
func (s Stage) Valid() bool { return s >= StageInit && s <= StageFinal }

// String returns the word of the result files, for example "bodypart".
func (s Stage) String() string {
	if !s.Valid() {
		return fmt.Sprintf("invalid stage %d", uint8(s))
	}
	return stageText[s]
}

// rounds reports whether keys of the stage carry a round number.
func (s Stage) rounds() bool { return s == StageCriteria || s == StageStructures }

// Key names one question of a dialogue: path, stage, and for criteria and structures the
// round, counted from 0. In Path 2 the rounds of the structures are the structures.
//
// Its text form is that of the result files without "stage-": "criteria_0",
// "guidance-bodypart_1", "review-final".
type Key struct {
	Path  Path
	Stage Stage
	Round int
}

var pathPrefix = [...]string{Path1: "", Path2: "guidance-", RePath1: "review-"}

// Valid reports whether such a question exists: rounds only where a stage has them, and
// only the stages that a path has.
func (k Key) Valid() bool {
	if !k.Path.Valid() || !k.Stage.Valid() || k.Round < 0 || (k.Round > 0 && !k.Stage.rounds()) {
		return false
	}
	switch k.Stage {
	case StageInit, StageCriteria:
		return k.Path != Path2
	case StageRefined:
		return k.Path == Path1
	}
	return true
}

// String returns the text form.
func (k Key) String() string {
	if !k.Valid() {
		return fmt.Sprintf("invalid key %d/%d/%d", k.Path, k.Stage, k.Round)
	}
	text := pathPrefix[k.Path] + stageText[k.Stage]
	if k.Stage.rounds() {
		text += "_" + strconv.Itoa(k.Round)
	}
	return text
}

// ParseKey returns the key with a text form; ok is false for any other text.
func ParseKey(text string) (k Key, ok bool) {
	k.Path = Path1
	for _, p := range []Path{Path2, RePath1} {
		if rest, found := strings.CutPrefix(text, pathPrefix[p]); found {
			k.Path, text = p, rest
		}
	}
	for _, s := range Stages() {
		rest, found := strings.CutPrefix(text, stageText[s])
		if !found {
			continue
		}
		k.Stage = s
		if s.rounds() {
			n, err := strconv.Atoi(strings.TrimPrefix(rest, "_"))
			if err != nil || rest != "_"+strconv.Itoa(n) {
				return Key{}, false
			}
			k.Round = n
		} else if rest != "" {
			return Key{}, false
		}
		return k, k.Valid()
	}
	return Key{}, false
}

// MarshalText encodes a valid key.
func (k Key) MarshalText() ([]byte, error) {
	if !k.Valid() {
		return nil, fmt.Errorf("cxreasonbench: %s", k)
	}
	return []byte(k.String()), nil
}

// UnmarshalText accepts exactly the text forms.
func (k *Key) UnmarshalText(b []byte) error {
	v, ok := ParseKey(string(b))
	if !ok {
		return fmt.Errorf("cxreasonbench: no question is called %q; examples are criteria_0, guidance-final, review-bodypart_1", b)
	}
	*k = v
	return nil
}

// Images is how many pictures a question shows: the radiograph, four structures a round
// (in Path 2 four for all structures, shown with the first), or one annotated picture.
//
// Source: [official code].
func (k Key) Images() int {
	switch k.Stage {
	case StageInit:
		return 1
	case StageStructures:
		if k.Path == Path2 && k.Round > 0 {
			return 0
		}
		return 4
	case StageMeasurement:
		if k.Path == Path2 {
			return 1
		}
	}
	return 0
}
