package bench

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"cxrepro/internal/xragent"
)

// Files of the release of ChestAgentBench.
const (
	cabQuestions = "metadata.jsonl"
	cabFigures   = "figures"
	cabOptions   = 6
	cabLabels    = 4
)

// readChestAgentBench reads metadata.jsonl: a question a line, options in its text, labels and case
// in fields whose place differs between copies of the release.
func readChestAgentBench(in *importing) {
	data := in.open(cabQuestions)
	cases := map[string]bool{}
	for n, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if r, ok := in.object(n+1, line); ok {
			r.chestAgent(cases)
		}
	}
	in.counts["cases"] = len(cases)
}

func (r *row) chestAgent(cases map[string]bool) {
	id, text, answer := r.text("question_id"), r.text("question"), r.text("answer")
	labels := r.labels()
	var pictures []xragent.ItemPicture
	for _, p := range r.texts("", "images") {
		name, ok := safe(p)
		if !ok {
			r.wrong(FieldType, "images", "%q is no path below the release", p)
			continue
		}
		if !strings.HasPrefix(name, cabFigures+"/") {
			name = path.Join(cabFigures, name)
		}
		pictures = append(pictures, xragent.ItemPicture{Path: name})
	}
	q := xragent.Question{Type: xragent.Lettered}
	if text != "" {
		var err error
		if q.Text, q.Options, err = splitOptions(text, cabOptions); err != nil {
			r.wrong(OptionsWrong, "question", "%v", err)
		}
	}
	if answer != "" {
		var ok bool
		if q.Key, ok = keyLetter(answer); !ok || q.Key > alphabet[cabOptions-1:cabOptions] {
			r.wrong(KeyWrong, "answer", "%q does not begin with a letter A to F", answer)
		}
	}
	study := r.caseOf(pictures)
	if r.bad {
		return
	}
	cases[study] = true
	r.in.put(r.n, xragent.Item{ID: ChestAgentBench.String() + "/" + id, Question: q, Pictures: pictures, Source: "eurorad", Labels: labels, Study: "eurorad/" + study})
}

// labels reads the four labels and returns them in the order of tables, "reasoning" left out.
func (r *row) labels() []string {
	var got []string
	for _, l := range r.texts(",", "categories", "category") {
		got = append(got, strings.ToLower(l))
	}
	if r.bad {
		return nil
	}
	all := distinct(got)
	if len(got) != cabLabels || len(all) != cabLabels || !slices.Contains(all, Reasoning) {
		r.wrong(LabelsWrong, "categories", "%d labels (%s), want four different ones with %s among them", len(got), strings.Join(got, ", "), Reasoning)
		return nil
	}
	var out []string
	for _, c := range capabilities {
		if slices.Contains(all, c) {
			out = append(out, c)
		}
	}
	if Group(&xragent.Item{Labels: out}) == "" {
		r.wrong(GroupUnknown, "categories", "%s is none of the five sets of labels", strings.Join(all, ", "))
		return nil
	}
	return out
}

// caseOf is the case of a question: its field, or the folder of its pictures.
func (r *row) caseOf(pictures []xragent.ItemPicture) string {
	if v, name, ok := r.raw("case_id", "case"); ok {
		s, ok := scalar(v)
		if !ok || s == "" {
			r.wrong(FieldType, name, "want a text or a number, got %s", excerpt(v))
		}
		return s
	}
	if len(pictures) > 0 {
		if parts := strings.Split(pictures[0].Path, "/"); len(parts) > 2 {
			return parts[1]
		}
	}
	if len(pictures) > 0 {
		r.wrong(FieldMissing, "case_id", "the row has no case_id, and its pictures lie in no folder of a case")
	}
	return ""
}

// inOrder returns labels in the order of tables.
func inOrder(labels []string) []string {
	var out []string
	for _, c := range capabilities {
		if slices.Contains(labels, c) {
			out = append(out, c)
		}
	}
	return out
}

// groupName names a set of labels.
func groupName(labels []string) string { return strings.Join(labels, "+") }
