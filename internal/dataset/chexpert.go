package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// Finding is one of the 14 report labels of the CheXpert labeller, as MIMIC-CXR-JPG
// publishes them per study. The zero value is invalid.
type Finding uint8

// The labels, in the order of the published table.
const (
	Atelectasis               Finding = 1
	Cardiomegaly              Finding = 2
	Consolidation             Finding = 3
	Edema                     Finding = 4
	EnlargedCardiomediastinum Finding = 5
	Fracture                  Finding = 6
	LungLesion                Finding = 7
	LungOpacity               Finding = 8
	NoFinding                 Finding = 9
	PleuralEffusion           Finding = 10
	PleuralOther              Finding = 11
	Pneumonia                 Finding = 12
	Pneumothorax              Finding = 13
	SupportDevices            Finding = 14
)

const lastFinding = SupportDevices

var findingColumn = [lastFinding + 1]string{
	Atelectasis: "Atelectasis", Cardiomegaly: "Cardiomegaly", Consolidation: "Consolidation", Edema: "Edema",
	EnlargedCardiomediastinum: "Enlarged Cardiomediastinum", Fracture: "Fracture", LungLesion: "Lung Lesion",
	LungOpacity: "Lung Opacity", NoFinding: "No Finding", PleuralEffusion: "Pleural Effusion",
	PleuralOther: "Pleural Other", Pneumonia: "Pneumonia", Pneumothorax: "Pneumothorax", SupportDevices: "Support Devices",
}

// Findings lists the 14 labels in table order.
func Findings() []Finding {
	list := make([]Finding, 0, lastFinding)
	for f := Atelectasis; f <= lastFinding; f++ {
		list = append(list, f)
	}
	return list
}

// String returns the label's column name, "unset" for anything invalid.
func (f Finding) String() string {
	if f < Atelectasis || f > lastFinding {
		return "unset"
	}
	return findingColumn[f]
}

// Mention says what a report said about a finding. The zero value is invalid.
type Mention uint8

// The mentions and the values by which the table gives them.
const (
	MentionNone      Mention = 1 // empty
	MentionNegative  Mention = 2 // 0.0
	MentionPositive  Mention = 3 // 1.0
	MentionUncertain Mention = 4 // -1.0
)

// String returns the mention's name.
func (v Mention) String() string {
	switch v {
	case MentionNone:
		return "not mentioned"
	case MentionNegative:
		return "negative"
	case MentionPositive:
		return "positive"
	case MentionUncertain:
		return "uncertain"
	}
	return "unset"
}

// StudyLabels holds the mentions of one study, indexed by Finding.
type StudyLabels [lastFinding + 1]Mention

// Labels is the CheXpert table of a data set, one entry per study.
type Labels struct {
	studies *keyed[StudyLabels]
}

// Len returns the number of studies.
func (l *Labels) Len() int { return l.studies.len() }

// Study returns the labels of a study; ok is false when the table lacks it.
func (l *Labels) Study(subject, study string) (labels StudyLabels, ok bool) {
	return l.Named(subject + "/" + study)
}

// Labels reads the CheXpert table, about 64 bytes of memory per study. ok is false when
// the folder has none.
//
// Errors: *TableError for a missing column or a value outside 1.0, 0.0, -1.0 and empty.
func (m *MIMIC) Labels() (l *Labels, ok bool, err error) {
	if m.labels == "" {
		return nil, false, nil
	}
	l, err = OpenLabels(m.fsys, m.labels, colSubject, colStudy)
	return l, err == nil, err
}

// OpenLabels reads a table of the 14 labels whose rows are named by one or two columns, as the
// labellers CheXpert and CheXbert write it.
//
// Errors: *TableError for a missing column, a value outside 1.0, 0.0, -1.0 and empty, and a row
// that stands twice.
func OpenLabels(fsys fs.FS, file string, key ...string) (*Labels, error) {
	t, err := openTable(fsys, file, append(slices.Clone(key), findingColumn[Atelectasis:]...)...)
	if err != nil {
		return nil, err
	}
	defer t.close()
	l := &Labels{studies: &keyed[StudyLabels]{}}
	parts := make([]string, len(key))
	for {
		rec, line, bad, err := t.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if bad != "" {
			return nil, &TableError{File: file, Line: line, Detail: bad, Hint: hintDownload}
		}
		var s StudyLabels
		for _, f := range Findings() {
			if s[f], err = mention(rec[t.column(findingColumn[f])]); err != nil {
				return nil, &TableError{File: file, Line: line, Column: findingColumn[f], Detail: "holds no label", Err: err}
			}
		}
		for i, k := range key {
			parts[i] = rec[t.column(k)]
		}
		l.studies.add(keyOf(strings.Join(parts, "/")), s)
	}
	if n := l.studies.freeze(); n > 0 {
		return nil, &TableError{File: file, Detail: fmt.Sprintf("labels %d studies more than once", n)}
	}
	return l, nil
}

// Named returns the labels of a row by its name, the values of the key columns joined by "/".
func (l *Labels) Named(name string) (labels StudyLabels, ok bool) {
	return l.studies.find(keyOf(name))
}

func mention(field string) (Mention, error) {
	switch strings.TrimSpace(field) {
	case "":
		return MentionNone, nil
	case "0", "0.0":
		return MentionNegative, nil
	case "1", "1.0":
		return MentionPositive, nil
	case "-1", "-1.0":
		return MentionUncertain, nil
	}
	return 0, fmt.Errorf("want 1.0, 0.0, -1.0 or nothing")
}
