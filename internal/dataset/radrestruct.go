package dataset

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"
)

// RadReStructQuestion is one question of a Rad-ReStruct report.
type RadReStructQuestion struct {
	Report   int // number of the report
	Number   int // place in the report's file, from 1
	Question string
	Answers  []string
	Options  []string
	// Single says that one option is chosen; Depth counts the questions asked before it.
	Single bool
	Depth  int
	// Images are the base names of the report's frontal pictures, without .png.
	Images []string
}

// RadReStruct is the folder data/radrestruct of the published repository.
type RadReStruct struct {
	fsys   fs.FS
	images map[int][]string
}

const radReStructImages = "id_to_img_mapping_frontal_reports.json"

// OpenRadReStruct reads the table from report to pictures.
func OpenRadReStruct(fsys fs.FS) (*RadReStruct, error) {
	data, err := fs.ReadFile(fsys, radReStructImages)
	if err != nil {
		return nil, &RecordError{File: radReStructImages, Detail: "cannot be read", Hint: "point at data/radrestruct of the repository", Err: err}
	}
	var byID map[string][]string
	if err := json.Unmarshal(data, &byID); err != nil {
		return nil, &RecordError{File: radReStructImages, Detail: "is no object of lists of picture names", Hint: hintDownload, Err: err}
	}
	r := &RadReStruct{fsys: fsys, images: map[int][]string{}}
	for id, names := range byID {
		n, err := strconv.Atoi(id)
		if err != nil {
			return nil, &RecordError{File: radReStructImages, Field: id, Detail: "is no number of a report", Hint: hintRecord}
		}
		for _, name := range names {
			if !plainName(name) {
				return nil, &RecordError{File: radReStructImages, Field: id, Detail: "names a picture that is no file name", Hint: hintRecord}
			}
		}
		r.images[n] = names
	}
	return r, nil
}

var radReStructSplits = [...]string{SplitTrain: "train", SplitValidate: "val", SplitTest: "test"}

// Questions streams the questions of one split, by report.
func (r *RadReStruct) Questions(split Split) iter.Seq2[RadReStructQuestion, error] {
	return func(yield func(RadReStructQuestion, error) bool) {
		fail := func(err error) { yield(RadReStructQuestion{}, err) }
		if !split.Valid() {
			fail(fmt.Errorf("rad-restruct: split %d is not one of train, validate, test", uint8(split)))
			return
		}
		folder := radReStructSplits[split] + "_qa_pairs"
		names, err := fs.Glob(r.fsys, folder+"/*.json")
		if err == nil && len(names) == 0 {
			err = &RecordError{File: folder, Detail: "holds no questions", Hint: "point at data/radrestruct of the repository"}
		}
		if err != nil {
			fail(err)
			return
		}
		slices.Sort(names)
		for _, name := range names {
			report, err := strconv.Atoi(strings.TrimSuffix(path.Base(name), ".json"))
			if err != nil {
				fail(&RecordError{File: name, Detail: "is not named by a number", Hint: hintRecord})
				return
			}
			images, there := r.images[report]
			if !there {
				fail(&RecordError{File: name, Detail: "belongs to a report that " + radReStructImages + " does not name", Hint: hintRecord})
				return
			}
			for q, err := range jsonRecords(r.fsys, name, func(n int, raw json.RawMessage) (RadReStructQuestion, error) {
				return readRadReStruct(name, n, raw)
			}) {
				q.Report, q.Images = report, images
				if !yield(q, err) || err != nil {
					return
				}
			}
		}
	}
}

// readRadReStruct reads [question, [answers], history, {"answer_type", "options", ...}].
func readRadReStruct(file string, n int, raw json.RawMessage) (out RadReStructQuestion, err error) {
	out.Number = n
	wrong := func(field, detail string) error {
		return &RecordError{File: file, Record: n, Field: field, Detail: detail, Hint: hintRecord}
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil || len(parts) != 4 {
		return out, wrong("", "is no list of question, answers, history and kind")
	}
	if json.Unmarshal(parts[0], &out.Question) != nil || strings.TrimSpace(out.Question) == "" {
		return out, wrong("question", "is no text")
	}
	if json.Unmarshal(parts[1], &out.Answers) != nil || len(out.Answers) == 0 {
		return out, wrong("answers", "is no list of texts")
	}
	var history []json.RawMessage
	if json.Unmarshal(parts[2], &history) != nil {
		return out, wrong("history", "is no list")
	}
	out.Depth = len(history)
	var kind struct {
		Type    string   `json:"answer_type"`
		Options []string `json:"options"`
	}
	if json.Unmarshal(parts[3], &kind) != nil {
		return out, wrong("kind", "is no object with answer_type and options")
	}
	switch kind.Type {
	case "single_choice", "multi_choice":
	default:
		return out, wrong("answer_type", "is neither single_choice nor multi_choice")
	}
	out.Single, out.Options = kind.Type == "single_choice", kind.Options
	for _, a := range out.Answers {
		if !slices.Contains(out.Options, a) {
			return out, wrong("answers", "has an answer that is no option")
		}
	}
	return out, nil
}
