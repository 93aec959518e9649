package dataset

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"strings"
)

// SlakeRecord is one question of SLAKE.
type SlakeRecord struct {
	Number int // place in the file, from 1
	QID    int
	// Image is the picture's path below the data set's folder: imgs/xmlab1/source.jpg.
	Image      string
	Question   string
	Answer     string
	Language   string // en or zh
	Location   string // Lung, Abdomen, ...
	Modality   string // X-Ray, CT, MRI
	AnswerType string // OPEN or CLOSED
}

// ChestClosed reports an English closed question about a chest radiograph. SLAKE has no field
// for chest films: X-Ray and Lung together are the substitute.
func (r SlakeRecord) ChestClosed() bool {
	return r.Language == "en" && r.Location == "Lung" && r.Modality == "X-Ray" && r.AnswerType == "CLOSED"
}

var slakeFiles = [...]string{SplitTrain: "train.json", SplitValidate: "validate.json", SplitTest: "test.json"}

// SlakeRecords streams the questions of one split of the data set's folder.
func SlakeRecords(fsys fs.FS, split Split) iter.Seq2[SlakeRecord, error] {
	if !split.Valid() {
		return func(yield func(SlakeRecord, error) bool) {
			yield(SlakeRecord{}, fmt.Errorf("slake: split %d is not one of train, validate, test", uint8(split)))
		}
	}
	file := slakeFiles[split]
	return jsonRecords(fsys, file, func(n int, raw json.RawMessage) (SlakeRecord, error) {
		r, err := newRecord(file, n, raw)
		if err != nil {
			return SlakeRecord{}, err
		}
		return readSlake(r)
	})
}

func readSlake(r record) (out SlakeRecord, err error) {
	out.Number = r.n
	image := ""
	for _, f := range []struct {
		name string
		to   *string
	}{{"img_name", &image}, {"question", &out.Question}, {"answer", &out.Answer}, {"q_lang", &out.Language},
		{"location", &out.Location}, {"modality", &out.Modality}, {"answer_type", &out.AnswerType}} {
		if *f.to, err = r.text(f.name); err != nil {
			return out, err
		}
		*f.to = strings.TrimSpace(*f.to)
	}
	if out.QID, err = r.whole("qid"); err != nil {
		return out, err
	}
	if !fs.ValidPath(image) {
		return out, r.wrong("img_name", "leaves the data set's folder")
	}
	if out.Image = path.Join("imgs", image); path.Dir(out.Image) == "imgs" {
		return out, r.wrong("img_name", "is no path as xmlab1/source.jpg")
	}
	switch {
	case out.Language != "en" && out.Language != "zh":
		return out, r.wrong("q_lang", "is neither en nor zh")
	case out.AnswerType != "OPEN" && out.AnswerType != "CLOSED":
		return out, r.wrong("answer_type", "is neither OPEN nor CLOSED")
	case out.Question == "":
		return out, r.wrong("question", "is empty")
	}
	return out, nil
}
