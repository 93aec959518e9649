package cxreasonbench

import (
	"fmt"
	"slices"
)

// An Item is all that one stage of one path asks about a case: one file of the official
// layout.
type Item struct {
	Task   Task   `json:"task"`
	Case   string `json:"case"`
	Path   Path   `json:"path"`
	Stage  Stage  `json:"stage"`
	Format Format `json:"format"`
	// Questions are asked one after the other: the rounds of a stage, in Path 2 one for
	// each structure.
	Questions []Question `json:"questions"`
}

// A Question is one turn of a dialogue with its reference answer.
type Question struct {
	Key Key `json:"key"`
	// Text is what is put to the model, options included.
	Text     string    `json:"text"`
	Pictures []Picture `json:"pictures,omitempty"`
	Options  []Option  `json:"options,omitempty"`
	Rule     Rule      `json:"rule"`
	// Accepted are the letters of the right options; Rule says how they count.
	Accepted []string `json:"accepted"`
	// Answer is the reference answer that the judge compares with.
	Answer string `json:"answer"`
}

// An Option is one of the answers that a question offers.
type Option struct {
	Letter string `json:"letter"`
	// Text is what stands after the letter.
	Text string `json:"text"`
	// Means is the option in words that do not depend on a wording: "yes", "no", "idk",
	// "criterion:rotation", "structure:heart", "range:0.49..0.51", "right:0.1..0.3",
	// "rib:9", "direction:flat", "parts:111011", "beyond", "not_beyond",
	// [MeansNeedNew], [MeansNone].
	Means string `json:"means"`
}

// Meanings of options that say nothing about the picture.
const (
	MeansYes     = "yes"
	MeansNo      = "no"
	MeansUnknown = "idk"
	MeansNeedNew = "need_new"
	MeansNone    = "none_of_above"
)

// Rule says how the accepted letters count. The zero value is invalid.
type Rule uint8

const (
	// AllOf: exactly these options must be chosen. One letter is the common case.
	AllOf Rule = iota + 1
	// OneOf: exactly one of these options must be chosen.
	OneOf
)

var ruleText = [...]string{AllOf: "all_of", OneOf: "one_of"}

// Rules of answers.
func (r Rule) Valid() bool { return r == AllOf || r == OneOf }

// String returns "all_of" or "one_of".
func (r Rule) String() string {
	if !r.Valid() {
		return fmt.Sprintf("invalid rule %d", uint8(r))
	}
	return ruleText[r]
}

// MarshalText encodes a valid rule.
func (r Rule) MarshalText() ([]byte, error) {
	if !r.Valid() {
		return nil, fmt.Errorf("cxreasonbench: %s", r)
	}
	return []byte(ruleText[r]), nil
}

// UnmarshalText accepts exactly the text forms.
func (r *Rule) UnmarshalText(b []byte) error {
	i := slices.Index(ruleText[:], string(b))
	if i < 1 {
		return fmt.Errorf("cxreasonbench: no answer rule is called %q; there are all_of and one_of", b)
	}
	*r = Rule(i)
	return nil
}

// PictureKind says what a picture shows. The zero value is invalid.
type PictureKind uint8

const (
	// Radiograph is the whole radiograph, as it is.
	Radiograph PictureKind = iota + 1
	// StructurePicture shows one structure on the radiograph.
	StructurePicture
	// AnnotatedPicture shows what a measurement needs, with coordinates.
	AnnotatedPicture
)

var pictureText = [...]string{Radiograph: "radiograph", StructurePicture: "structure", AnnotatedPicture: "annotated"}

// String returns "radiograph", "structure" or "annotated".
func (k PictureKind) String() string {
	if k < Radiograph || k > AnnotatedPicture {
		return fmt.Sprintf("invalid picture kind %d", uint8(k))
	}
	return pictureText[k]
}

// MarshalText encodes a valid kind.
func (k PictureKind) MarshalText() ([]byte, error) {
	if k < Radiograph || k > AnnotatedPicture {
		return nil, fmt.Errorf("cxreasonbench: %s", k)
	}
	return []byte(pictureText[k]), nil
}

// UnmarshalText accepts exactly the text forms.
func (k *PictureKind) UnmarshalText(b []byte) error {
	i := slices.Index(pictureText[:], string(b))
	if i < 1 {
		return fmt.Errorf("cxreasonbench: no kind of picture is called %q; there are radiograph, structure and annotated", b)
	}
	*k = PictureKind(i)
	return nil
}

// A Picture is shown with a question.
type Picture struct {
	Kind PictureKind `json:"kind"`
	// Path is as the official files write it: relative to the radiographs for a
	// radiograph, with a leading slash below the folder of structures or of annotated
	// pictures for the others.
	Path string `json:"path"`
}

// Right reports whether a chosen set of letters is right, in any order.
func (q *Question) Right(letters []string) bool {
	if q.Rule == OneOf {
		return len(letters) == 1 && slices.Contains(q.Accepted, letters[0])
	}
	got := slices.Compact(slices.Sorted(slices.Values(letters)))
	return slices.Equal(got, slices.Sorted(slices.Values(q.Accepted)))
}

// Option returns the option with a letter; ok is false where there is none.
func (q *Question) Option(letter string) (o Option, ok bool) {
	for _, o := range q.Options {
		if o.Letter == letter {
			return o, true
		}
	}
	return Option{}, false
}

// ShapeOf returns what the state machine needs to know of the items of a path.
func ShapeOf(items []Item, path Path) Shape {
	var s Shape
	for _, it := range items {
		switch {
		case it.Path != path:
		case it.Stage == StageCriteria:
			s.CriteriaRounds = len(it.Questions)
		case it.Stage == StageStructures:
			s.StructureRounds = len(it.Questions)
		}
	}
	return s
}

// FindQuestion returns the question with a key; ok is false where the items have none.
func FindQuestion(items []Item, k Key) (q Question, ok bool) {
	for _, it := range items {
		if it.Path != k.Path || it.Stage != k.Stage {
			continue
		}
		for _, q := range it.Questions {
			if q.Key == k {
				return q, true
			}
		}
	}
	return Question{}, false
}
