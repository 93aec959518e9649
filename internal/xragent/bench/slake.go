package bench

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"cxrepro/internal/xragent"
)

// Files of SLAKE 1.0.
const (
	slakeQuestions = "test.json"
	slakePictures  = "imgs"
)

// readSLAKE reads the closed English questions about the lungs in X-rays of the test split.
//
// Source: the count of 114 is the paper's, the filter is ours: the modality alone does not part
// chests from other X-rays, the location does.
func readSLAKE(in *importing) {
	data := in.open(slakeQuestions)
	if data == nil {
		return
	}
	var rows []json.RawMessage
	if err := json.Unmarshal(data, &rows); err != nil {
		in.add(FileMalformed, 0, "", "want a list of questions: %v", err)
		return
	}
	var english, closed, xray int
	for n, one := range rows {
		r, ok := in.object(n+1, one)
		if !ok {
			continue
		}
		language, kind := r.text("q_lang"), r.text("answer_type")
		modality, location := r.text("modality"), r.text("location")
		if r.bad || language != "en" {
			continue
		}
		english++
		if !strings.EqualFold(kind, "CLOSED") {
			continue
		}
		closed++
		if !strings.EqualFold(modality, "X-Ray") {
			continue
		}
		xray++
		if strings.EqualFold(location, "Lung") {
			r.slake()
		}
	}
	in.totals = fmt.Sprintf("of %d rows %d are English, %d of these closed, %d of these X-rays, %d of these with location Lung", len(rows), english, closed, xray, len(in.set.Items))
	in.set.Report.Notes = append(in.set.Report.Notes, in.totals)
}

func (r *row) slake() {
	id, text, key, file := r.text("qid"), r.text("question"), r.text("answer"), r.text("img_name")
	name, ok := safe(path.Join(slakePictures, file))
	if file != "" && !ok {
		r.wrong(FieldType, "img_name", "%q is no path below %s", file, slakePictures)
	}
	if r.bad {
		return
	}
	q := xragent.Question{Type: xragent.Closed, Text: text, Key: key}
	yes := xragent.Question{Type: xragent.YesNo, Text: text}
	if word, isWord := xragent.ReadAnswer(yes, key); isWord {
		q.Type, q.Key = xragent.YesNo, word
	}
	study, _, _ := strings.Cut(file, "/")
	r.in.put(r.n, xragent.Item{ID: SLAKE.String() + "/" + id, Question: q, Pictures: []xragent.ItemPicture{{Path: name}}, Source: "slake", Study: "slake/" + study})
}
