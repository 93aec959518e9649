package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"cxrepro/internal/xragent"
)

// Files of CheXbench. Its paths are those of the authors' machine; pictures are looked up in the
// folders of the sets that they come from.
const (
	chexQuestions = "data.json"
	chexOpenI     = "NLMCXR_png"
	chexSLAKE     = "slake/imgs"
)

// chexTasks are the tasks of axis 2 and the sources that each may hold.
var chexTasks = []struct {
	name    string
	sources []string
}{
	{"Visual Question Answering", []string{SourceRadReStruct, SourceSLAKE}},
	{"Fine-Grained Reasoning", []string{SourceOpenI}},
}

// readCheXbench reads the two tasks of axis 2 of data.json.
func readCheXbench(in *importing) {
	data := in.open(chexQuestions)
	if data == nil {
		return
	}
	var tasks map[string]json.RawMessage
	if err := json.Unmarshal(withoutNaN(data), &tasks); err != nil {
		in.add(FileMalformed, 0, "", "%v", err)
		return
	}
	pictures := map[string]map[string]bool{SourceOpenI: {}, SourceRadReStruct: {}, SourceSLAKE: {}}
	for _, t := range chexTasks {
		key := ""
		for name := range tasks {
			if plain(name) == plain(t.name) {
				key = name
			}
		}
		var rows []json.RawMessage
		if key == "" {
			in.add(FieldMissing, 0, t.name, "the file has no task of this name")
			continue
		}
		if err := json.Unmarshal(tasks[key], &rows); err != nil {
			in.add(FieldType, 0, t.name, "want a list of questions: %v", err)
			continue
		}
		for n, one := range rows {
			if r, ok := in.object(n+1, one); ok {
				r.chex(t.name, t.sources, pictures)
			}
		}
	}
	union := map[string]bool{}
	for _, s := range []string{SourceOpenI, SourceRadReStruct} {
		for p := range pictures[s] {
			union[p] = true
		}
	}
	in.counts[PicturesOpenI], in.counts[PicturesRadReStruct], in.counts[PicturesUnion] = len(pictures[SourceOpenI]), len(pictures[SourceRadReStruct]), len(union)
}

// withoutNaN writes null where Python wrote a number that JSON does not know. Texts stay as they
// are.
func withoutNaN(data []byte) []byte {
	out := make([]byte, 0, len(data))
	inText := false
	for i := 0; i < len(data); i++ {
		c := data[i]
		if inText {
			if c == '\\' && i+1 < len(data) {
				out = append(out, c)
				i++
				c = data[i]
			} else if c == '"' {
				inText = false
			}
			out = append(out, c)
			continue
		}
		inText = c == '"'
		if word := pythonNumber(data[i:]); word != "" {
			out = append(out, "null"...)
			i += len(word) - 1
			continue
		}
		out = append(out, c)
	}
	return out
}

// pythonNumber is the number at the beginning of data that only Python writes; empty without one.
func pythonNumber(data []byte) string {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(data, []byte(word)) {
			return word
		}
	}
	return ""
}

// plain is a name without case, spaces and punctuation.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(s))
}

func (r *row) chex(task string, sources []string, pictures map[string]map[string]bool) {
	text, file := r.text("question"), r.text("image_path")
	source := r.source(sources)
	q := xragent.Question{Type: xragent.Lettered, Text: text}
	for i := range 4 {
		field := fmt.Sprintf("option_%d", i)
		var s string
		if v, ok := r.fields[field]; ok && json.Unmarshal(v, &s) == nil && strings.TrimSpace(s) != "" {
			if len(q.Options) < i {
				r.wrong(OptionsWrong, field, "an option stands after a missing one")
			}
			q.Options = append(q.Options, strings.TrimSpace(s))
		}
	}
	if len(q.Options) != 2 {
		r.wrong(OptionsWrong, "option_0", "%s: %d options, want two", task, len(q.Options))
	}
	if v, _, ok := r.raw("answer"); !ok {
		r.wrong(FieldMissing, "answer", "the row has no answer")
	} else if k, ok := wholeNumber(v); !ok {
		r.wrong(FieldType, "answer", "want the number of an option, got %s", excerpt(v))
	} else if k < 0 || k >= len(q.Options) {
		r.wrong(KeyWrong, "answer", "option %d of %d; they count from 0", k, len(q.Options))
	} else {
		q.Key = alphabet[k : k+1]
	}
	if r.bad {
		return
	}
	name, study, ok := chexPicture(source, file)
	if !ok {
		r.wrong(PictureMissing, "image_path", "%q names no picture of %s", file, source)
		return
	}
	pictures[source][name] = true
	id := fmt.Sprintf("%s/%s-%d", CheXbench, source, r.n)
	r.in.put(r.n, xragent.Item{ID: id, Question: q, Pictures: []xragent.ItemPicture{{Path: name}}, Source: source, Study: study})
}

// wholeNumber reads 1, and 1.0 as tables of numbers write it.
func wholeNumber(v json.RawMessage) (int, bool) {
	var f float64
	if json.Unmarshal(v, &f) != nil || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}

// source reads where a question comes from; it must be one of those of its task.
func (r *row) source(allowed []string) string {
	name := r.text("data_source")
	if name == "" {
		return ""
	}
	for _, s := range allowed {
		if plain(name) == plain(s) {
			return s
		}
	}
	r.wrong(SourceUnknown, "data_source", "%q is none of %s", name, strings.Join(allowed, ", "))
	return ""
}

// openiName is the name of a picture of OpenI; its first number is the report.
var openiName = regexp.MustCompile(`^(?:CXR)?([0-9]+)_.+`)

// chexPicture turns a path of the authors' machine into one below the folder, with the study that
// the picture belongs to.
func chexPicture(source, file string) (name, study string, ok bool) {
	file, ok = safe(strings.TrimLeft(strings.TrimSpace(file), "/"))
	if !ok {
		return "", "", false
	}
	parts := strings.Split(file, "/")
	if source == SourceSLAKE {
		i := slices.IndexFunc(parts, func(p string) bool { return strings.HasPrefix(p, "xmlab") })
		if i < 0 || i+1 >= len(parts) {
			return "", "", false
		}
		return path.Join(chexSLAKE, parts[i], parts[i+1]), "slake/" + parts[i], true
	}
	base := parts[len(parts)-1]
	m := openiName.FindStringSubmatch(base)
	if m == nil {
		return "", "", false
	}
	return path.Join(chexOpenI, base), "openi/CXR" + m[1], true
}
