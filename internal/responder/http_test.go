package responder

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/dialogue"
)

// client talks to a responder over a real connection.
type client struct {
	t    testing.TB
	m    *made
	url  string
	http *http.Client
}

func open(t testing.TB, m *made, s http.Handler) *client {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return &client{t: t, m: m, url: server.URL, http: server.Client()}
}

// asking is one request; its zero fields are not sent.
type asking struct {
	model       string
	messages    []any
	temperature float64
	seed        int64
	limit       int
}

func (a asking) body(t testing.TB) []byte {
	t.Helper()
	x := map[string]any{"model": a.model, "messages": a.messages}
	if a.temperature > 0 {
		x["temperature"], x["seed"] = a.temperature, a.seed
	}
	if a.limit > 0 {
		x["max_completion_tokens"] = a.limit
	}
	data, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// response is a reply as far as tests read it.
type response struct {
	status  int
	header  http.Header
	Choices []struct {
		Message struct {
			Content, Refusal *string
		}
		Finish string `json:"finish_reason"`
	}
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	}
	Error struct{ Message, Type, Code string }
	body  string
}

// text is the content of the first choice; empty where it is null.
func (r response) text() string {
	if len(r.Choices) == 0 || r.Choices[0].Message.Content == nil {
		return ""
	}
	return *r.Choices[0].Message.Content
}

func (c *client) post(body []byte) (response, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, c.url+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return response{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return response{}, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return response{}, err
	}
	out := response{status: res.StatusCode, header: res.Header, body: string(data)}
	return out, json.Unmarshal(data, &out)
}

func (c *client) ask(a asking) response {
	c.t.Helper()
	r, err := c.post(a.body(c.t))
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

func system(text string) any { return map[string]any{"role": "system", "content": text} }

func reply(text string) any { return map[string]any{"role": "assistant", "content": text} }

// user is a question with pictures as data URLs.
func user(text string, pictures ...[]byte) any {
	parts := []any{map[string]any{"type": "text", "text": text}}
	for _, p := range pictures {
		parts = append(parts, map[string]any{"type": "image_url",
			"image_url": map[string]any{"url": "data:image/png;base64," + base64.StdEncoding.EncodeToString(p)}})
	}
	return map[string]any{"role": "user", "content": parts}
}

// shown are the bytes of a question's pictures.
func (c *client) shown(q *cxreasonbench.Question) [][]byte {
	var out [][]byte
	for _, p := range q.Pictures {
		out = append(out, c.m.picture(c.t, p.Path))
	}
	return out
}

// messages turns a transcript into messages.
func (c *client) messages(t dialogue.Transcript, picture map[artifacts.Digest][]byte) []any {
	var out []any
	for _, m := range t.Messages {
		switch m.Role {
		case dialogue.System:
			out = append(out, system(m.Text()))
		case dialogue.Assistant:
			out = append(out, reply(m.Text()))
		default:
			var pictures [][]byte
			for _, ref := range m.Images() {
				pictures = append(pictures, picture[ref.Digest])
			}
			out = append(out, user(m.Text(), pictures...))
		}
	}
	return out
}

// evaluate holds dialogues over the connection: every reply of the model is judged by a judge
// behind the same endpoint, and the state machine decides what is asked next.
type evaluate struct {
	*client
	model string
	draws int
	// pictures by digest, replies by digest.
	pictures map[artifacts.Digest][]byte
	replies  map[artifacts.Digest]string
	calls    int
}

func newEvaluate(c *client, model string, draws int) *evaluate {
	return &evaluate{client: c, model: model, draws: draws, pictures: map[artifacts.Digest][]byte{}, replies: map[artifacts.Digest]string{}}
}

func (e *evaluate) content(k map[string]*known) func(string, cxreasonbench.Key) (cxreasonbench.Content, error) {
	return func(id string, key cxreasonbench.Key) (cxreasonbench.Content, error) {
		q := k[id].question(key)
		if q == nil {
			return cxreasonbench.Content{}, fmt.Errorf("no question %s", key)
		}
		out := cxreasonbench.Content{Text: q.Text}
		for _, data := range e.shown(q) {
			d := artifacts.Sum(data)
			e.pictures[d] = data
			out.Images = append(out.Images, artifacts.Ref{Digest: d, Size: int64(len(data))})
		}
		return out, nil
	}
}

// outcome asks the question that a dialogue waits for, and the judge about every draw.
func (e *evaluate) outcome(cases map[string]*known, s cxreasonbench.State) cxreasonbench.Outcome {
	e.t.Helper()
	step := s.Step()
	transcript, err := cxreasonbench.Conversation(cxreasonbench.Prompts().System(), s.Said(), step.Ask.Case, step.Ask.Key, e.content(cases),
		func(t cxreasonbench.SaidTurn) (string, error) { return e.replies[t.Reply.Digest], nil })
	if err != nil {
		e.t.Fatal(err)
	}
	messages := e.messages(transcript, e.pictures)
	var o cxreasonbench.Outcome
	for i := range e.draws {
		a := asking{model: e.model, messages: messages}
		if e.draws > 1 {
			a.temperature, a.seed = 0.7, 42+int64(i)
		}
		r := e.ask(a)
		e.calls++
		if r.status != http.StatusOK || r.text() == "" {
			e.t.Fatalf("%s of %s: %s", step.Ask.Key, s.Task, r.body)
		}
		d := artifacts.Sum([]byte(r.text()))
		e.replies[d] = r.text()
		score := e.judged(s.Rules, cases[step.Ask.Case].question(step.Ask.Key), step.Ask.Judgement, r.text())
		o.Draws = append(o.Draws, cxreasonbench.Draw{Score: score, Reply: artifacts.Ref{Digest: d}})
	}
	return o
}

func (e *evaluate) judged(rules cxreasonbench.Rules, q *cxreasonbench.Question, j cxreasonbench.Judgement, text string) cxreasonbench.Score {
	e.t.Helper()
	question := ""
	if j.Question {
		question = q.Text
	}
	message := cxreasonbench.JudgeMessage(rules, question, q.Answer, text)
	r := e.ask(asking{model: "judge", messages: []any{system(cxreasonbench.Prompts().Judge(j.Prompt)), map[string]any{"role": "user", "content": message}}})
	e.calls++
	v, ok := cxreasonbench.ReadVerdict(rules, j.Prompt, r.text())
	if !ok {
		e.t.Fatalf("verdict of %s: %s", q.Key, r.body)
	}
	return v.Score
}

// until goes on until the dialogue asks no more, or waits for a case.
func (e *evaluate) until(cases map[string]*known, s cxreasonbench.State) cxreasonbench.State {
	e.t.Helper()
	for s.Step().Kind == cxreasonbench.StepAsk {
		var err error
		if s, _, err = cxreasonbench.Next(s, e.outcome(cases, s)); err != nil {
			e.t.Fatal(err)
		}
	}
	return s
}

// task evaluates every case of a task, through all paths.
func (e *evaluate) task(task cxreasonbench.Task, rules cxreasonbench.Rules) (ones, twos []cxreasonbench.State) {
	e.t.Helper()
	cases, ended := map[string]*known{}, map[string]cxreasonbench.State{}
	var ids []string
	for _, k := range e.m.bench.byTask[task] {
		cases[k.id] = k
		ids = append(ids, k.id)
	}
	for _, id := range ids {
		s, _, err := cxreasonbench.Start(rules, task, id, cases[id].shape(cxreasonbench.Path1), e.draws)
		if err != nil {
			e.t.Fatal(err)
		}
		ended[id] = e.until(cases, s)
		ones = append(ones, ended[id])
	}
	population, err := cxreasonbench.NewPopulation(rules, task, ids, ended)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, entry := range cxreasonbench.Entries() {
		for _, id := range population.Entering(entry) {
			s, _, err := cxreasonbench.StartPath2(ended[id], cases[id].rounds(cxreasonbench.Path2, cxreasonbench.StageStructures))
			if err != nil {
				e.t.Fatal(err)
			}
			if s = e.until(cases, s); s.Step().Kind == cxreasonbench.StepReselect {
				other := population.Reselect(1, id)
				if s, _, err = cxreasonbench.Reselected(s, other, cases[other].shape(cxreasonbench.RePath1)); err != nil {
					e.t.Fatal(err)
				}
				s = e.until(cases, s)
			}
			twos = append(twos, s)
		}
	}
	return ones, twos
}
