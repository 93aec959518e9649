package evaluation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/lvlm"
)

// Source reads what dialogues consist of.
type Source struct {
	// Pages calls fn for every page of the evaluation at a place of the summary.
	Pages func(ctx context.Context, evaluation int, fn func(*contract.DialoguesDoc) error) error
	// Case returns what is asked about the case of a number.
	Case   func(ctx context.Context, n int) (*contract.CaseDoc, error)
	Answer func(ctx context.Context, ref artifacts.Ref) (lvlm.Answer, error)
	// Picture returns the bytes of a picture; nil means that no picture is to be shown, and
	// NoPictures says why.
	Picture    func(ctx context.Context, ref artifacts.Ref) ([]byte, error)
	NoPictures string
}

// Limits bound what a page holds. Zero fields take their defaults.
type Limits struct {
	// Cases is the most cases of one task; every evaluation shows the same. Default 3.
	Cases int
	// Bytes is the most that all pictures may weigh, encoded. Default 16 MiB.
	Bytes int
}

func (l Limits) withDefaults() Limits {
	if l.Cases <= 0 {
		l.Cases = 3
	}
	if l.Bytes <= 0 {
		l.Bytes = 16 << 20
	}
	return l
}

// Transcripts are the dialogues that a page lets its reader browse.
type Transcripts struct {
	Evaluations []TranscriptModel         `json:"evaluations"`
	Tasks       []TranscriptTask          `json:"tasks"`
	Cases       map[int]*TranscriptCase   `json:"cases"`
	Dialogues   []TranscriptDialogue      `json:"dialogues"`
	Pictures    map[string]ReducedPicture `json:"pictures"`
	// All counts the dialogues of the evaluations, LeftOut the pictures that found no room.
	All     int    `json:"all"`
	LeftOut int    `json:"left_out"`
	Why     string `json:"why,omitempty"`
}

// TranscriptModel and TranscriptTask name the choices.
type (
	TranscriptModel struct {
		Model     string `json:"model"`
		Sampling  string `json:"sampling"`
		Simulated bool   `json:"simulated,omitempty"`
	}
	TranscriptTask struct {
		Task  string `json:"task"`
		Title string `json:"title"`
		Cases []int  `json:"cases"`
	}
)

// TranscriptCase holds the questions of a case that some dialogue shows, by key.
type TranscriptCase struct {
	Questions map[string]TranscriptQuestion `json:"questions"`
}

// TranscriptQuestion is a question as it was put, with what is right.
type TranscriptQuestion struct {
	Text     string   `json:"text"`
	Letters  []string `json:"letters,omitempty"`
	Accepted []string `json:"accepted"`
	Answer   string   `json:"answer"`
	// Pictures name entries of Transcripts.Pictures; an empty name is one left out.
	Pictures []TranscriptPicture `json:"pictures,omitempty"`
}

// TranscriptPicture is a picture of a question.
type TranscriptPicture struct {
	Picture string `json:"picture"`
	Shows   string `json:"shows"`
}

// TranscriptDialogue is a dialogue's own turns; those of Path 2 follow the replayed ones.
type TranscriptDialogue struct {
	Evaluation   int              `json:"evaluation"`
	Task         string           `json:"task"`
	Case         int              `json:"case"`
	Path         string           `json:"path"`
	Review       int              `json:"review"`
	End          string           `json:"end"`
	Undetermined string           `json:"undetermined,omitempty"`
	Turns        []TranscriptTurn `json:"turns"`
}

// TranscriptTurn is one question with the replies to it.
type TranscriptTurn struct {
	Key   string           `json:"key"`
	Title string           `json:"title"`
	Path  string           `json:"path"`
	Case  int              `json:"case"`
	Score string           `json:"score"`
	Kept  int              `json:"kept"`
	Draws []TranscriptDraw `json:"draws"`
}

// TranscriptDraw is one reply.
type TranscriptDraw struct {
	Score    string `json:"score"`
	Terminal string `json:"terminal,omitempty"`
	Text     string `json:"text"`
	Judge    string `json:"judge,omitempty"`
	Parsed   string `json:"parsed,omitempty"`
}

// Collect reads the dialogues that a page shows: the same few cases of each task for every
// evaluation, chosen so that long dialogues are among them. Pictures are reduced, and left
// out once they would weigh more than the limit.
//
// Errors: those of the source.
func Collect(ctx context.Context, s *contract.EvaluationSummary, src Source, l Limits) (*Transcripts, error) {
	c := &collector{ctx: ctx, src: src, l: l.withDefaults(), out: &Transcripts{
		Cases: map[int]*TranscriptCase{}, Pictures: map[string]ReducedPicture{}, Dialogues: []TranscriptDialogue{}, Tasks: []TranscriptTask{}, Why: src.NoPictures,
	}}
	for i := range s.Evaluations {
		model, sampling := label(&s.Evaluations[i])
		c.out.Evaluations = append(c.out.Evaluations, TranscriptModel{model, sampling, s.Evaluations[i].Model.Simulated})
	}
	chosen, err := c.choose(len(s.Evaluations))
	if err != nil {
		return nil, err
	}
	wanted := map[int]bool{}
	for _, t := range cxreasonbench.Tasks() {
		if cases := chosen[t]; len(cases) > 0 {
			c.out.Tasks = append(c.out.Tasks, TranscriptTask{t.String(), taskWords(t), cases})
		}
		for _, n := range chosen[t] {
			wanted[n] = true
		}
	}
	for i := range s.Evaluations {
		err := src.Pages(ctx, i, func(page *contract.DialoguesDoc) error {
			for k := range page.Dialogues {
				if d := &page.Dialogues[k]; wanted[d.Case] {
					if err := c.dialogue(i, page, d); err != nil {
						return fmt.Errorf("dialogue of case %d: %w", d.Case, err)
					}
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return c.out, c.pictures(chosen)
}

type collector struct {
	ctx context.Context
	src Source
	l   Limits
	out *Transcripts
	// refs are the pictures that questions show, by case and key.
	refs map[int]map[string][]artifacts.Ref
}

// choose picks the cases of each task: in turns those with the longest guidance and those
// with the longest Path 1, over all evaluations.
func (c *collector) choose(evaluations int) (map[cxreasonbench.Task][]int, error) {
	turns := map[cxreasonbench.Task]map[int]*[2]int{}
	for i := range evaluations {
		err := c.src.Pages(c.ctx, i, func(page *contract.DialoguesDoc) error {
			if turns[page.Task] == nil {
				turns[page.Task] = map[int]*[2]int{}
			}
			of := turns[page.Task]
			for _, d := range page.Dialogues {
				c.out.All++
				if of[d.Case] == nil {
					of[d.Case] = &[2]int{}
				}
				if page.Path == cxreasonbench.Path2 {
					of[d.Case][0] += len(d.Turns)
				} else {
					of[d.Case][1] += len(d.Turns)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	out := map[cxreasonbench.Task][]int{}
	for task, of := range turns {
		var orders [2][]int
		for by := range orders {
			for n := range of {
				orders[by] = append(orders[by], n)
			}
			slices.Sort(orders[by])
			slices.SortStableFunc(orders[by], func(a, b int) int { return of[b][by] - of[a][by] })
		}
		for i := 0; len(out[task]) < min(c.l.Cases, len(of)); i++ {
			if n := orders[i%2][i/2]; !slices.Contains(out[task], n) {
				out[task] = append(out[task], n)
			}
		}
		slices.Sort(out[task])
	}
	return out, nil
}

func (c *collector) dialogue(evaluation int, page *contract.DialoguesDoc, d *contract.DialogueDoc) error {
	out := TranscriptDialogue{Evaluation: evaluation, Task: page.Task.String(), Case: d.Case, Path: page.Path.String(), Review: d.Review, End: endWords(d.End), Turns: []TranscriptTurn{}}
	if d.Undetermined != nil {
		out.Undetermined = d.Undetermined.Call.String() + ": " + d.Undetermined.Why
	}
	for i, t := range d.State.Turns[d.State.Replayed:] {
		turn, err := c.turn(&t, &d.Turns[i], d)
		if err != nil {
			return fmt.Errorf("%s: %w", t.Key, err)
		}
		out.Turns = append(out.Turns, turn)
	}
	c.out.Dialogues = append(c.out.Dialogues, out)
	return nil
}

func (c *collector) turn(t *cxreasonbench.Turn, doc *contract.TurnDoc, d *contract.DialogueDoc) (TranscriptTurn, error) {
	n := d.Case
	if t.Key.Path == cxreasonbench.RePath1 {
		n = d.Review
	}
	out := TranscriptTurn{Key: t.Key.String(), Title: turnTitle(t.Key, d), Path: cxreasonbench.PathTitle(t.Key.Path), Case: n, Score: t.Score.String(), Kept: t.Kept}
	for i, draw := range t.Draws {
		x := TranscriptDraw{Score: draw.Score.String(), Terminal: terminalWords(draw.Terminal.String()), Parsed: parsedWords(doc.Draws[i])}
		if !draw.Reply.IsZero() {
			a, err := c.src.Answer(c.ctx, draw.Reply)
			if err != nil {
				return out, err
			}
			x.Text = a.Text
		}
		if v := doc.Draws[i].Verdict; !v.IsZero() {
			a, err := c.src.Answer(c.ctx, v)
			if err != nil {
				return out, err
			}
			x.Judge = a.Text
		}
		out.Draws = append(out.Draws, x)
	}
	return out, c.question(n, t.Key)
}

// question keeps a question, once.
func (c *collector) question(n int, k cxreasonbench.Key) error {
	kept := c.out.Cases[n]
	if kept == nil {
		kept = &TranscriptCase{Questions: map[string]TranscriptQuestion{}}
		c.out.Cases[n] = kept
	}
	if _, ok := kept.Questions[k.String()]; ok {
		return nil
	}
	doc, err := c.src.Case(c.ctx, n)
	if err != nil {
		return err
	}
	q, ok := cxreasonbench.FindQuestion(doc.Items, k)
	if !ok {
		return fmt.Errorf("case %d has no such question", n)
	}
	out := TranscriptQuestion{Text: q.Text, Accepted: q.Accepted, Answer: q.Answer}
	for _, o := range q.Options {
		out.Letters = append(out.Letters, o.Letter)
	}
	if c.refs == nil {
		c.refs = map[int]map[string][]artifacts.Ref{}
	}
	if c.refs[n] == nil {
		c.refs[n] = map[string][]artifacts.Ref{}
	}
	for _, p := range q.Pictures {
		out.Pictures = append(out.Pictures, TranscriptPicture{Shows: shows(p, k)})
		c.refs[n][k.String()] = append(c.refs[n][k.String()], doc.Pictures[p.Path])
	}
	kept.Questions[k.String()] = out
	return nil
}

// shows says what a picture shows, without naming a file.
func shows(p cxreasonbench.Picture, k cxreasonbench.Key) string {
	switch p.Kind {
	case cxreasonbench.Radiograph:
		return "radiograph"
	case cxreasonbench.AnnotatedPicture:
		return "annotated radiograph"
	}
	if o, ok := cxreasonbench.OverlayAt(p.Path); ok && o.Structure != "" {
		return strings.ReplaceAll(o.Structure, "_", " ")
	}
	return "structure of " + k.String()
}

// parsedWords is the reading of a draw without a judge.
func parsedWords(d contract.DrawDoc) string {
	switch {
	case d.Unread != 0:
		return terminalWords(d.Unread.String())
	case d.Parsed.Valid():
		return d.Parsed.String()
	}
	return ""
}

func turnTitle(k cxreasonbench.Key, d *contract.DialogueDoc) string {
	title := stageWords(k.Path, k.Stage)
	several := k.Round > 0
	for _, t := range d.State.Turns {
		several = several || t.Key.Path == k.Path && t.Key.Stage == k.Stage && t.Key.Round > 0
	}
	if several && k.Path == cxreasonbench.Path2 {
		return fmt.Sprintf("%s %d", title, k.Round+1)
	}
	if several {
		return fmt.Sprintf("%s, round %d", title, k.Round+1)
	}
	return title
}

func endWords(e cxreasonbench.End) string {
	switch e {
	case cxreasonbench.EndComplete:
		return "asked to the end"
	case cxreasonbench.EndFailed:
		return "stopped at a stage that was not right"
	case cxreasonbench.EndUnknown:
		return "\u201cI don't know\u201d: goes on in Path 2"
	case cxreasonbench.EndRejected:
		return "refined criterion rejected: goes on in Path 2"
	case cxreasonbench.EndNoReview:
		return "no case was left to re-evaluate on"
	}
	return "undetermined"
}
