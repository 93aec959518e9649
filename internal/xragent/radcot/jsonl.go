package radcot

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"cxrepro/artifacts"
	"cxrepro/internal/xragent"
)

// Corpus is one of the two sets of examples.
type Corpus string

// The corpora.
const (
	SFT  Corpus = "sft"
	GRPO Corpus = "grpo"
)

// holds reports whether an example is in the corpus.
func (c Corpus) holds(e *Example) bool {
	if c == SFT {
		return e.Part.SFT()
	}
	return e.Part.GRPO()
}

// Form is the trainer that a file is written for.
type Form string

// The forms. Contract is the project's own contract with trainers (docs/trainer-contract.md),
// for SFT only.
const (
	Swift    Form = "swift"
	TRL      Form = "trl"
	Verl     Form = "verl"
	Contract Form = "contract"
)

// FileName is the name of a corpus in a form.
func FileName(c Corpus, f Form) string {
	end := "jsonl"
	if f == Verl {
		end = "parquet"
	}
	return fmt.Sprintf("%s.%s.%s", c, f, end)
}

// Paths says where a picture lies for a trainer, as a path relative to the files.
type Paths func(artifacts.Ref) string

// Write writes the corpus of a construction in a form.
func (b *Built) Write(w io.Writer, c Corpus, f Form, paths Paths) error {
	if c != SFT && c != GRPO || f == Contract && c != SFT {
		return fmt.Errorf("radcot: there is no file %s", FileName(c, f))
	}
	switch f {
	case Verl:
		return b.writeParquet(w, c, paths)
	case Swift, TRL, Contract:
	default:
		return fmt.Errorf("radcot: form %q is not one of swift, trl, verl, contract", f)
	}
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for i := range b.Examples {
		e := &b.Examples[i]
		if !c.holds(e) {
			continue
		}
		row, err := b.row(e, c, f, paths)
		if err != nil {
			return err
		}
		if err := enc.Encode(row); err != nil {
			return fmt.Errorf("write %s: %w", FileName(c, f), err)
		}
	}
	return out.Flush()
}

// about is what every row says of its example beside the conversation.
type about struct {
	ID     string `json:"item_id"`
	Part   string `json:"part"`
	Type   string `json:"question_type,omitempty"`
	Answer string `json:"solution,omitempty"`
}

func (e *Example) about() about {
	a := about{ID: e.ID, Part: string(e.Part)}
	if e.Question != nil {
		a.Type, a.Answer = string(e.Question.Type), e.Question.Key
	}
	return a
}

// conversation returns what a corpus holds of an example: everything, or what turn 1 is asked
// with.
func (b *Built) conversation(e *Example, c Corpus) ([]Message, error) {
	if c == SFT {
		return e.Messages, nil
	}
	step, err := b.Set.Spec.Agent.Next(xragent.Rollout{ID: e.ID, Question: *e.Question, Pictures: []artifacts.Ref{e.Picture.Image}})
	if err != nil {
		return nil, err
	}
	return messagesOf(step.Ask), nil
}

type textMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Loss    *bool  `json:"loss,omitempty"`
	Finish  string `json:"finish,omitempty"`
}

type part struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
}

type partMessage struct {
	Role    string `json:"role"`
	Content []part `json:"content"`
}

// row is one line: an object with messages (prompt for the TRL form of GRPO), images and what
// the example is.
func (b *Built) row(e *Example, c Corpus, f Form, paths Paths) (any, error) {
	messages, err := b.conversation(e, c)
	if err != nil {
		return nil, err
	}
	images := imagePaths(messages, paths)
	switch {
	case f == TRL && c == GRPO:
		return struct {
			about
			Prompt []partMessage `json:"prompt"`
			Images []string      `json:"images"`
		}{e.about(), inParts(messages), images}, nil
	case f == TRL:
		return struct {
			about
			Messages []partMessage `json:"messages"`
			Images   []string      `json:"images"`
		}{e.about(), inParts(messages), images}, nil
	case f == Contract:
		return struct {
			ID       string        `json:"id"`
			Images   []string      `json:"images"`
			Messages []textMessage `json:"messages"`
		}{e.ID, images, inTexts(messages, f)}, nil
	}
	return struct {
		about
		Messages []textMessage `json:"messages"`
		Images   []string      `json:"images"`
	}{e.about(), inTexts(messages, f), images}, nil
}

func imagePaths(messages []Message, paths Paths) []string {
	out := []string{}
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Image != nil {
				out = append(out, paths(*p.Image))
			}
		}
	}
	return out
}

// inParts writes messages as lists of parts. The k-th image part stands for the k-th of images.
func inParts(messages []Message) []partMessage {
	out := make([]partMessage, len(messages))
	for i, m := range messages {
		out[i] = partMessage{Role: m.Role, Content: []part{}}
		for _, p := range m.Parts {
			if p.Image != nil {
				out[i].Content = append(out[i].Content, part{Type: "image"})
			} else {
				out[i].Content = append(out[i].Content, part{Type: "text", Text: p.Text})
			}
		}
	}
	return out
}

// inTexts writes messages as texts with a mark for each picture. Assistant messages say that
// they carry loss; the contract has no role tool and says of every other message that it
// carries none.
func inTexts(messages []Message, f Form) []textMessage {
	out := make([]textMessage, len(messages))
	for i, m := range messages {
		out[i] = textMessage{Role: m.Role, Content: m.Content()}
		trained := m.Trained()
		switch {
		case trained:
			out[i].Loss = &trained
		case f == Contract && m.Role == roleTool:
			out[i].Role, out[i].Loss = roleUser, &trained
		}
		if trained && f == Contract {
			out[i].Finish = "stop"
		}
	}
	return out
}
