package agent

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/xragent"
)

//go:embed transcript.html
var transcriptSource string

var transcriptPage = template.Must(template.New("transcripts").Parse(transcriptSource))

// Limits of a page.
const (
	mostPairs   = 8
	mostSingles = 16
)

// Told is one rollout with what it belongs to.
type Told struct {
	Item   *xragent.Item
	Policy string
	Arm    string
	Repeat int
	Doc    contract.RolloutDoc
}

// Transcripts collects the rollouts that a page shows. Add gets every rollout, in the order of
// sets and items; the zero value is ready.
type Transcripts struct {
	gated   map[string]Told
	pairs   []([2]Told)
	more    int
	singles []Told
	seen    map[string]bool
}

// Add looks at one rollout. Only first repeats are told.
func (t *Transcripts) Add(r Told) {
	if r.Repeat != 0 || r.Doc.Undetermined != "" {
		return
	}
	if t.gated == nil {
		t.gated, t.seen = map[string]Told{}, map[string]bool{}
	}
	at := r.Policy + "\x00" + r.Item.ID
	switch r.Arm {
	case xragent.ArmDefault:
		t.gated[at] = r
	case xragent.ArmGateOff:
		if on, ok := t.gated[at]; ok && on.Doc.Outcome.Answer != r.Doc.Outcome.Answer {
			if len(t.pairs) < mostPairs {
				t.pairs = append(t.pairs, [2]Told{on, r})
			} else {
				t.more++
			}
		}
		return
	}
	kind := r.Policy + "\x00" + r.Item.Source
	if r.Doc.Score != nil && r.Doc.Score.Verdict != "ok" || r.Doc.Ending == string(xragent.MalformedTurn1) {
		kind = r.Policy + "\x00malformed"
	}
	if !t.seen[kind] && len(t.singles) < mostSingles {
		t.seen[kind] = true
		t.singles = append(t.singles, r)
	}
}

// Write writes the transcripts as a part of a page. picture returns what is shown of a picture;
// left, if set, is said in place of transcripts.
func (t *Transcripts) Write(w io.Writer, left string, picture func(artifacts.Ref) ([]byte, error)) error {
	page := struct {
		Left      string
		Pairs     []tellPair
		MorePairs int
		Singles   []tellSingle
	}{Left: left, MorePairs: t.more}
	if left == "" {
		for _, p := range t.pairs {
			pair, err := tellPairOf(p, picture)
			if err != nil {
				return err
			}
			page.Pairs = append(page.Pairs, pair)
		}
		for _, r := range t.singles {
			q, err := tellQuestionOf(r, r.Policy+", "+r.Arm, picture)
			if err != nil {
				return err
			}
			told, err := tellRolloutOf(r, picture)
			if err != nil {
				return err
			}
			page.Singles = append(page.Singles, tellSingle{q, told})
		}
	}
	return transcriptPage.ExecuteTemplate(w, "transcripts", page)
}

type (
	tellOption struct {
		Text string
		Key  bool
	}
	tellQuestion struct {
		Title, Text string
		Picture     template.URL
		Options     []tellOption
	}
	tellTurn struct {
		Who, Think, Raw, Answer string
		Calls                   []string
	}
	tellObservation struct {
		Name, Text string
		Pictures   []template.URL
	}
	tellBundle struct {
		Reason, View string
		Values       []string
	}
	tellScore struct {
		Right                  bool
		Verdict, Reward, Terms string
	}
	tellRollout struct {
		Title        string
		Turn1        tellTurn
		Observations []tellObservation
		Bundle       *tellBundle
		Turn2        *tellTurn
		Score        tellScore
	}
	tellPair struct {
		Question tellQuestion
		Arms     []tellRollout
	}
	tellSingle struct {
		Question tellQuestion
		Rollout  tellRollout
	}
)

func tellPairOf(p [2]Told, picture func(artifacts.Ref) ([]byte, error)) (out tellPair, err error) {
	if out.Question, err = tellQuestionOf(p[0], p[0].Policy, picture); err != nil {
		return out, err
	}
	for i, title := range []string{"gate on", "gate off"} {
		r, err := tellRolloutOf(p[i], picture)
		if err != nil {
			return out, err
		}
		r.Title = title
		out.Arms = append(out.Arms, r)
	}
	return out, nil
}

func tellQuestionOf(r Told, who string, picture func(artifacts.Ref) ([]byte, error)) (tellQuestion, error) {
	q := tellQuestion{Title: fmt.Sprintf("question %d, %s: %s", r.Doc.Item, r.Item.Source, who), Text: r.Item.Question.Text}
	for i, o := range r.Item.Question.Options {
		q.Options = append(q.Options, tellOption{o, r.Item.Question.Key == string(rune('A'+i))})
	}
	if len(q.Options) == 0 {
		q.Options = []tellOption{{r.Item.Question.Key, true}}
	}
	var err error
	q.Picture, err = dataURL(r.Item.Images()[0], picture)
	return q, err
}

func dataURL(ref artifacts.Ref, picture func(artifacts.Ref) ([]byte, error)) (template.URL, error) {
	data, err := picture(ref)
	if err != nil {
		return "", fmt.Errorf("picture %s: %w", ref.Digest.Short(), err)
	}
	return template.URL("data:" + ref.MediaType + ";base64," + base64.StdEncoding.EncodeToString(data)), nil
}

func tellRolloutOf(r Told, picture func(artifacts.Ref) ([]byte, error)) (tellRollout, error) {
	t := r.Doc.Trajectory
	out := tellRollout{Score: tellScoreOf(r)}
	if t.Turn1 != nil {
		out.Turn1 = tellTurnOf("turn 1", t.Turn1.Text)
	}
	for _, o := range t.Observations {
		told := tellObservation{Name: o.Name, Text: o.Status}
		if o.Text != "" {
			told.Text = o.Status + ": " + o.Text
		}
		for _, ref := range o.Images {
			u, err := dataURL(ref, picture)
			if err != nil {
				return out, err
			}
			told.Pictures = append(told.Pictures, u)
		}
		out.Observations = append(out.Observations, told)
	}
	if t.Turn2 != nil {
		turn := tellTurnOf("turn 2", t.Turn2.Text)
		out.Turn2, out.Bundle = &turn, tellBundleOf(t.Measurement)
	}
	return out, nil
}

// tellTurnOf takes a turn apart where it has the form; a malformed one is shown as it came.
func tellTurnOf(who, text string) tellTurn {
	out := tellTurn{Who: who}
	rest := text
	if after, ok := strings.CutPrefix(rest, "<think>"); ok {
		if think, tail, closed := strings.Cut(after, "</think>"); closed {
			out.Think, rest = think, tail
		}
	}
	for {
		rest = strings.TrimSpace(rest)
		after, isCall := strings.CutPrefix(rest, "<tool_call>")
		body, tail, closed := strings.Cut(after, "</tool_call>")
		if !isCall || !closed {
			break
		}
		out.Calls, rest = append(out.Calls, body), tail
	}
	if after, ok := strings.CutPrefix(rest, "<answer>"); ok {
		if answer, tail, closed := strings.Cut(after, "</answer>"); closed && strings.TrimSpace(tail) == "" {
			out.Answer, rest = answer, ""
		}
	}
	if rest == "<no_tool/>" {
		out.Calls, rest = append(out.Calls, "no tool"), ""
	}
	if rest != "" { // something is off: nothing is tidied up
		return tellTurn{Who: who, Raw: text}
	}
	return out
}

func tellBundleOf(b xragent.Bundle) *tellBundle {
	out := &tellBundle{Reason: b.Reason, View: b.View}
	for i, m := range xragent.Measurements() {
		if b.Exposed(m) {
			out.Values = append(out.Values, fmt.Sprintf("%s %.2f %s", strings.ReplaceAll(m.String(), "_", " "), b.Values[i].Value, b.Values[i].Category))
		}
	}
	return out
}

func tellScoreOf(r Told) tellScore {
	s := r.Doc.Score
	if s == nil {
		return tellScore{Right: r.Doc.Outcome.Correct, Reward: "none"}
	}
	out := tellScore{Right: r.Doc.Outcome.Correct, Reward: fmt.Sprintf("%.2f", s.R), Terms: fmt.Sprintf("answer %d, form %d, %d calls", s.Acc, s.Format, s.Calls)}
	if s.Eligible > 0 {
		out.Terms += fmt.Sprintf(", evidence %.2f", s.CXR)
	}
	if s.Verdict != "ok" {
		var why []string
		for _, reason := range s.Reasons {
			why = append(why, string(reason))
		}
		out.Verdict = "malformed: " + strings.Join(why, ", ")
	}
	return out
}
