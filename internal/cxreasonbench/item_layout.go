package cxreasonbench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
)

// Names of the official layout below the folder of the benchmark.
const (
	// QuestionFolder holds the questions.
	QuestionFolder = "qa"
	// StructureFolder holds the structure pictures.
	StructureFolder = "segmask_bodypart"
	// AnnotatedFolder holds the annotated pictures.
	AnnotatedFolder = "pnt_on_cxr"
	// CaseListFile holds the case ids by task.
	CaseListFile = "dx_by_dicoms.json"
)

// Folder is the path's folder of the official layout, "path1", "path2" or "re-path1".
func (p Path) Folder() string { return strings.ReplaceAll(p.String(), "_", "-") }

// stageFolders are the folders of the stages, by path: the number of a stage differs.
var stageFolders = map[Stage][2]string{
	StageInit: {"init"}, StageCriteria: {"stage1"}, StageRefined: {"stage1.5"},
	StageStructures: {"stage2", "stage1"}, StageMeasurement: {"stage3", "stage2"}, StageFinal: {"stage4", "stage3"},
}

// StageFolder is the folder of a stage in a path, for example "stage1.5"; empty where the
// path has no such stage.
func StageFolder(p Path, s Stage) string {
	if p == Path2 {
		return stageFolders[s][1]
	}
	return stageFolders[s][0]
}

// File is the item's path in the official layout:
// qa/<task>/<path>/<stage>/<format>/<case>.json.
func (it *Item) File() string {
	return strings.Join([]string{QuestionFolder, it.Task.String(), it.Path.Folder(),
		StageFolder(it.Path, it.Stage), it.Format.String(), it.Case + ".json"}, "/")
}

// officialItem holds the keys of an official file, in their order.
type officialItem struct {
	Question any `json:"question"`
	Option   any `json:"option,omitempty"`
	Answer   any `json:"answer"`
	ImgPath  any `json:"img_path,omitempty"`
}

// Official encodes the item as an official file: indented by four, ASCII only. Criteria and
// structures hold lists, one element for each question, the other stages texts; only the
// measurement of Path 1 and of the re-evaluation writes its options once more.
//
// Source: [official code].
func (it *Item) Official() ([]byte, error) {
	if len(it.Questions) == 0 {
		return nil, fmt.Errorf("cxreasonbench: %s has no questions", it.File())
	}
	var out officialItem
	if it.Stage == StageCriteria || it.Stage == StageStructures {
		var questions, answers []string
		for _, q := range it.Questions {
			questions, answers = append(questions, q.Text), append(answers, q.Answer)
		}
		out.Question, out.Answer = questions, answers
	} else {
		out.Question, out.Answer = it.Questions[0].Text, it.Questions[0].Answer
	}
	switch {
	case it.Stage == StageStructures && it.Path != Path2:
		var rounds [][]string
		for _, q := range it.Questions {
			rounds = append(rounds, picturePaths(q.Pictures))
		}
		out.ImgPath = rounds
	case len(it.Questions[0].Pictures) > 0:
		out.ImgPath = picturePaths(it.Questions[0].Pictures)
	}
	if it.Stage == StageMeasurement && it.Path != Path2 {
		var text strings.Builder
		for _, o := range it.Questions[0].Options {
			text.WriteString("(" + o.Letter + ") " + o.Text + ", ")
		}
		out.Option = text.String()
	}
	return encodeASCII(out)
}

func picturePaths(pictures []Picture) []string {
	paths := make([]string, len(pictures))
	for i, p := range pictures {
		paths[i] = p.Path
	}
	return paths
}

// encodeASCII encodes like the authors' programs: indent 4, everything beyond ASCII escaped.
func encodeASCII(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	out := make([]byte, 0, b.Len())
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		switch {
		case r < 0x80:
			out = append(out, byte(r))
		case r < 0x10000:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		}
	}
	return out, nil
}

// CaseList encodes the case ids by task, in the order of the lists.
func CaseList(cases map[Task][]string) ([]byte, error) {
	byName := make(map[string][]string, len(cases))
	for t, ids := range cases {
		byName[t.String()] = ids
	}
	return encodeASCII(byName) // encoding/json sorts the keys
}
