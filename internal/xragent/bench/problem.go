package bench

import (
	"fmt"
	"strings"
)

// Code says what is wrong. It is a closed set.
type Code string

// Codes of problems.
const (
	FileMissing    Code = "file_missing"    // a file of the benchmark is not there
	FileMalformed  Code = "file_malformed"  // it is not in its format
	FieldMissing   Code = "field_missing"   // a row lacks a field
	FieldType      Code = "field_type"      // a field has another type or an unknown value
	DuplicateID    Code = "duplicate_id"    // two rows have one id
	OptionsWrong   Code = "options_wrong"   // not as many options as the benchmark has
	KeyWrong       Code = "key_wrong"       // the key is none of the options
	LabelsWrong    Code = "labels_wrong"    // not four labels with "reasoning" among them
	GroupUnknown   Code = "group_unknown"   // the labels are none of the five sets
	PictureMissing Code = "picture_missing" // a picture is not there, or a row names none
	SourceUnknown  Code = "source_unknown"  // a row comes from no source of the benchmark
	TotalWrong     Code = "total_wrong"     // another number of questions
	CountWrong     Code = "count_wrong"     // another number of questions in a column, of cases
	PicturesWrong  Code = "pictures_wrong"  // another number of different pictures
)

// Codes lists every code.
func Codes() []Code {
	return []Code{FileMissing, FileMalformed, FieldMissing, FieldType, DuplicateID, OptionsWrong, KeyWrong, LabelsWrong, GroupUnknown,
		PictureMissing, SourceUnknown, TotalWrong, CountWrong, PicturesWrong}
}

// hints are the way out of each kind of problem.
var hints = map[Code]string{
	FileMissing:    "name the folder that holds it; docs/xragent-benchmarks.md shows the layout",
	FileMalformed:  "fetch the file again and compare its size with the publisher's",
	FieldMissing:   "fetch the release's own file; a converted copy may have lost fields",
	FieldType:      "fetch the release's own file; a converted copy may have changed types",
	DuplicateID:    "two copies of a file may have been joined; keep one",
	OptionsWrong:   "options are read as A) to the last letter, each once and in order; compare the row with the release",
	KeyWrong:       "compare the row with the release",
	LabelsWrong:    "each question has four labels, reasoning among them",
	GroupUnknown:   "the generator knows five sets of labels; compare the row with the release",
	PictureMissing: "unpack the release's pictures in place",
	SourceUnknown:  "the sources are openi, rad-restruct and slake",
	TotalWrong:     "import the whole release; a subset or a fixture of another size needs counts: any",
	CountWrong:     "import the whole release; a subset needs counts: any",
	PicturesWrong:  "the published set has another number of different pictures; a subset needs counts: any",
}

// Problem is one thing that is wrong, with where it is.
type Problem struct {
	Code Code   `json:"code"`
	File string `json:"file"`
	// Row counts from 1; 0 is the file as a whole.
	Row int `json:"row,omitempty"`
	// Field is the field in the file's own words; empty for the row as a whole.
	Field  string `json:"field,omitempty"`
	Detail string `json:"detail"`
}

// Hint is the way out.
func (p Problem) Hint() string { return hints[p.Code] }

func (p Problem) Error() string {
	at := p.File
	if p.Row > 0 {
		at += fmt.Sprintf(":%d", p.Row)
	}
	if p.Field != "" {
		at += ": " + p.Field
	}
	return fmt.Sprintf("%s: %s: %s", at, p.Code, p.Detail)
}

// ImportError lists everything that is wrong with the files of a benchmark.
type ImportError struct {
	Benchmark Benchmark
	Problems  []Problem
}

// mostShown bounds how many problems of one code an error prints.
const mostShown = 5

func (e *ImportError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "bench: %s cannot be imported: %d problem(s)", e.Benchmark, len(e.Problems))
	for _, code := range Codes() {
		n := 0
		for _, p := range e.Problems {
			if p.Code != code {
				continue
			}
			if n++; n <= mostShown {
				b.WriteString("\n  " + p.Error())
			}
		}
		if n > mostShown {
			fmt.Fprintf(&b, "\n  and %d more of %s", n-mostShown, code)
		}
		if n > 0 {
			b.WriteString("\n  hint: " + hints[code])
		}
	}
	return b.String()
}

// problems collects what is wrong with one file.
type problems struct {
	file string
	list []Problem
}

func (p *problems) add(code Code, row int, field, format string, args ...any) {
	p.list = append(p.list, Problem{code, p.file, row, field, fmt.Sprintf(format, args...)})
}
