package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cxrepro/internal/xragent"
)

// ExternalError lists what is wrong with a file of results that were made elsewhere.
type ExternalError struct {
	Problems []Problem
}

func (e *ExternalError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "bench: results cannot be read: %d problem(s)", len(e.Problems))
	for i, p := range e.Problems {
		if i == mostShown {
			fmt.Fprintf(&b, "\n  and %d more", len(e.Problems)-mostShown)
			break
		}
		b.WriteString("\n  " + p.Error() + "\n  hint: " + externalHints[p.Code])
	}
	return b.String()
}

var externalHints = map[Code]string{
	FileMalformed: `a line is {"item": ID, "reply": TEXT} or {"item": ID, "answer": ANSWER}, with "repeat" from 0 if questions were asked more than once`,
	FieldMissing:  "give the reply as it came, or the answer; an empty reply is an unparsed one",
	FieldType:     "give the reply as it came, or the answer, not both",
	DuplicateID:   `questions that were asked more than once need "repeat", 0 for the first`,
	SourceUnknown: "name the item as the imported benchmark does: `cxrepro xragent bench import` lists the ids",
}

// external is a line of a file of results.
type external struct {
	Item   string  `json:"item"`
	Repeat int     `json:"repeat"`
	Reply  *string `json:"reply"`
	Answer *string `json:"answer"`
}

// ReadExternal reads results of another system for the questions of benchmarks: JSON lines of item
// and reply, or answer. They are scored like ours, with the cascade for replies without a tag, and
// marked as made elsewhere. Questions without a line stay open.
//
// Errors: *ExternalError with every line that cannot be read; a name that is no baseline's.
func ReadExternal(file string, data []byte, config string, items []xragent.Item, s Scorer) ([]xragent.Outcome, error) {
	if !strings.HasPrefix(config, "xr.baseline.") {
		return nil, fmt.Errorf("bench: results made elsewhere are those of a baseline: name them xr.baseline.NAME, not %q", config)
	}
	known := map[string]*xragent.Item{}
	for i := range items {
		known[items[i].ID] = &items[i]
	}
	in := &problems{file: file}
	seen := map[string]int{}
	var out []xragent.Outcome
	for n, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		o, ok := in.external(n+1, line, known, s)
		if !ok {
			continue
		}
		o.Config = config
		key := fmt.Sprint(o.Item, " ", o.Repeat)
		if at, twice := seen[key]; twice {
			in.add(DuplicateID, n+1, "item", "%s, repeat %d, stands in row %d already", o.Item, o.Repeat, at)
			continue
		}
		seen[key] = n + 1
		out = append(out, o)
	}
	if len(in.list) == 0 && len(out) == 0 {
		in.add(FileMalformed, 0, "", "the file holds no result")
	}
	if len(in.list) > 0 {
		return nil, &ExternalError{in.list}
	}
	slices.SortStableFunc(out, func(a, b xragent.Outcome) int { return a.Repeat - b.Repeat })
	return out, nil
}

// external reads one line.
func (p *problems) external(n int, line []byte, known map[string]*xragent.Item, s Scorer) (o xragent.Outcome, ok bool) {
	var x external
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&x); err != nil {
		p.add(FileMalformed, n, "", "%v", err)
		return o, false
	}
	item := known[x.Item]
	switch {
	case item == nil:
		p.add(SourceUnknown, n, "item", "%q is no question of the imported benchmarks", x.Item)
	case x.Repeat < 0 || x.Repeat >= xragent.MaxRepeats:
		p.add(FieldType, n, "repeat", "want 0 to %d, got %d", xragent.MaxRepeats-1, x.Repeat)
	case x.Reply == nil && x.Answer == nil:
		p.add(FieldMissing, n, "reply", "the row has neither reply nor answer")
	case x.Reply != nil && x.Answer != nil:
		p.add(FieldType, n, "answer", "the row has reply and answer")
	default:
		ok = true
	}
	if !ok {
		return o, false
	}
	o = xragent.Outcome{Item: x.Item, Repeat: x.Repeat, External: true}
	var r Read
	if x.Reply != nil {
		o.Reply = *x.Reply
		r = s.Score(item.Question, o.Reply, Cascade)
	} else {
		r = Strict.Score(item.Question, openTag+*x.Answer+closeTag, TagOnly)
	}
	o.Answer, o.Unparsed, o.Correct = r.Answer, r.Unparsed, r.Correct
	return o, true
}
