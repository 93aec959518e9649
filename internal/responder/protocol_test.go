package responder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"io"
	"net/http"
	"strings"
	"testing"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxreasonbench"
)

// first is the first request about the first case of a task.
func (c *client) first(task cxreasonbench.Task, model string) asking {
	k := c.m.bench.byTask[task][0]
	q := k.question(cxreasonbench.Key{Path: cxreasonbench.Path1, Stage: cxreasonbench.StageInit})
	return asking{model: model, messages: []any{system("Answer."), user(q.Text, c.shown(q)...)}}
}

// TestReplyIsOfTheBody holds that a reply depends on the body alone: the same from two
// responders, in any order, with another server's history, and another for another seed where
// replies are drawn.
func TestReplyIsOfTheBody(t *testing.T) {
	m := makeBenchmark(t, cxreasonbench.Corrected, 2)
	random := Model{Name: "random", Behaviour: RandomLetter}
	a, b := open(t, m, serve(t, m, nil, random)), open(t, m, serve(t, m, nil, random))
	var asked []asking
	texts := map[string]bool{}
	for _, task := range cxreasonbench.Tasks() {
		x := a.first(task, "random")
		asked = append(asked, x)
		for seed := range int64(20) {
			x.temperature, x.seed = 0.7, 42+seed
			asked = append(asked, x)
		}
	}
	got := make([]string, len(asked))
	for i, x := range asked {
		got[i] = a.ask(x).body
	}
	for i := len(asked) - 1; i >= 0; i-- {
		if again := b.ask(asked[i]).body; again != got[i] {
			t.Fatalf("request %d: %s, then %s", i, got[i], again)
		}
		texts[got[i]] = true
	}
	if len(texts) < len(asked)/2 {
		t.Errorf("%d requests have %d different replies", len(asked), len(texts))
	}
}

// TestReplyForm holds the protocol's fields.
func TestReplyForm(t *testing.T) {
	m := makeBenchmark(t, cxreasonbench.Corrected, 1)
	s := serve(t, m, nil, Model{Name: "oracle", Behaviour: Oracle})
	c := open(t, m, s)
	x := c.first(chexstruct.Rotation, "oracle")
	r := c.ask(x)
	var raw map[string]any
	if err := json.Unmarshal([]byte(r.body), &raw); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"id", "object", "created", "model", "choices", "usage", "system_fingerprint"} {
		if raw[field] == nil {
			t.Errorf("no field %s in %s", field, r.body)
		}
	}
	choice := raw["choices"].([]any)[0].(map[string]any)
	message := choice["message"].(map[string]any)
	if refusal, ok := message["refusal"]; !ok || refusal != nil || message["role"] != "assistant" || choice["finish_reason"] != "stop" {
		t.Errorf("choice %v", choice)
	}
	if !strings.HasPrefix(r.text(), "FINAL ANSWER: (") && !strings.HasPrefix(r.text(), "**FINAL") {
		t.Errorf("text %q", r.text())
	}
	if u := r.Usage; u.Prompt < tokensPerPicture || u.Completion != tokensOf(r.text()) || u.Total != u.Prompt+u.Completion {
		t.Errorf("usage %+v", u)
	}
	for _, h := range []string{"X-Request-Id", "X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Requests"} {
		if r.header.Get(h) == "" {
			t.Errorf("no header %s", h)
		}
	}
	x.limit = 2
	if r := c.ask(x); r.Choices[0].Finish != "length" || len(r.text()) != 2*bytesPerToken || r.Usage.Completion != 2 {
		t.Errorf("with a limit of 2 tokens: %s", r.body)
	}
	var n map[string]any
	if err := json.Unmarshal(c.first(chexstruct.Rotation, "oracle").body(t), &n); err != nil {
		t.Fatal(err)
	}
	n["n"], n["temperature"], n["stop"] = 3, 0.7, []string{":"}
	data, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = c.post(data); err != nil || len(r.Choices) != 3 || !strings.HasSuffix(r.text(), "FINAL ANSWER") {
		t.Errorf("three choices that end at a colon: %v, %s", err, r.body)
	}
}

// TestErrors holds what is answered to requests that cannot be served, and that none of them
// is taken for an answer.
func TestErrors(t *testing.T) {
	m := makeBenchmark(t, cxreasonbench.Corrected, 1)
	s, err := New(Options{Benchmark: m.bench, Credential: "key", Profile: &Profile{Models: []Model{{Name: "oracle", Behaviour: Oracle}, {Name: "judge", Behaviour: Judge}}}})
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, m, s)
	good := c.first(chexstruct.Rotation, "oracle")
	k := m.bench.byTask[chexstruct.Rotation][0]
	key := func(path cxreasonbench.Path, stage cxreasonbench.Stage) *cxreasonbench.Question {
		return k.question(cxreasonbench.Key{Path: path, Stage: stage})
	}
	init, final := key(cxreasonbench.Path1, cxreasonbench.StageInit), key(cxreasonbench.Path1, cxreasonbench.StageFinal)
	criteria := key(cxreasonbench.Path1, cxreasonbench.StageCriteria)
	send := func(method, path, credential string, body []byte) (int, string) {
		req, err := http.NewRequest(method, c.url+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Api-Key", credential)
		res, err := c.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		data, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(data)
	}
	chat := "/v1/chat/completions"
	for _, x := range []struct {
		name, path string
		body       []byte
		status     int
		says       string
	}{
		{"a good one", chat, good.body(t), 200, "FINAL ANSWER"},
		{"as Azure has it", "/openai/deployments/oracle/chat/completions?api-version=1", asking{model: "x", messages: good.messages}.body(t), 200, "FINAL ANSWER"},
		{"an unknown model", chat, asking{model: "x", messages: good.messages}.body(t), 404, "model_not_found"},
		{"no model", chat, asking{messages: good.messages}.body(t), 400, "missing_required_parameter"},
		{"no messages", chat, asking{model: "oracle"}.body(t), 400, "missing_required_parameter"},
		{"no JSON", chat, []byte(`{"model": "oracle", `), 400, "invalid_request_error"},
		{"a text that does not end", chat, []byte(`{"model": "oracle", "messages": [{"content": "data:image/png;base64,AAA`), 400, "invalid_request_error"},
		{"a picture to fetch", chat, []byte(`{"model":"oracle","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x.org/a.png"}}]}]}`), 400, "invalid_image_url"},
		{"a part of another kind", chat, []byte(`{"model":"oracle","messages":[{"role":"user","content":[{"type":"audio"}]}]}`), 400, "invalid_value"},
		{"a stream", chat, []byte(`{"model":"oracle","stream":true,"messages":[{"role":"user","content":"x"}]}`), 400, "unsupported_parameter"},
		{"the assistant's turn", chat, asking{model: "oracle", messages: append(good.messages, reply("x"))}.body(t), 400, "last message"},
		{"another question", chat, asking{model: "oracle", messages: []any{user("What is this?", c.shown(init)...)}}.body(t), 404, "unknown_question"},
		{"another picture", chat, asking{model: "oracle", messages: []any{user(init.Text, shade(t, 999_999, 96))}}.body(t), 404, "unknown_question"},
		{"no picture", chat, asking{model: "oracle", messages: []any{user(final.Text)}}.body(t), 404, "unknown_question"},
		{"a stage back", chat, asking{model: "oracle", messages: append(good.messages, reply("x"), user(criteria.Text), reply("x"), user(init.Text, c.shown(init)...))}.body(t), 404, "unknown_question"},
		{"a question to a judge", chat, asking{model: "judge", messages: good.messages}.body(t), 400, "judge only"},
		{"a judge without answers", chat, asking{model: "judge", messages: []any{system(cxreasonbench.Prompts().Judge(cxreasonbench.JudgeFinal)), user("Well?")}}.body(t), 400, "not laid out"},
		{"another address", "/v1/embeddings", good.body(t), 404, "unknown_url"},
	} {
		if status, body := send(http.MethodPost, x.path, "key", x.body); status != x.status || !strings.Contains(body, x.says) {
			t.Errorf("%s: %d %s, want %d with %q", x.name, status, body, x.status, x.says)
		}
	}
	for _, x := range []struct {
		method, path, credential string
		status                   int
		says                     string
	}{
		{"GET", "/v1/models", "key", 200, `"id":"judge"`}, {"GET", "/v1/models/oracle", "key", 200, `"object":"model"`},
		{"GET", "/v1/models/x", "key", 404, "model_not_found"}, {"GET", "/v1/models", "wrong", 401, "invalid_api_key"},
		{"GET", chat, "key", 405, "not offered"}, {"GET", "/health", "", 200, ""}, {"GET", "/counts", "", 200, `"answered":2`},
		{"DELETE", "/counts", "", 204, ""}, {"GET", "/counts", "", 200, `"requests":0`},
	} {
		if status, body := send(x.method, x.path, x.credential, nil); status != x.status || !strings.Contains(body, x.says) {
			t.Errorf("%s %s: %d %s, want %d with %q", x.method, x.path, status, body, x.status, x.says)
		}
	}
}

// TestOtherEncodings holds that a dialogue is understood however a client writes it: content
// as one text, escaped slashes, texts with the marks of pictures, radiographs encoded anew.
func TestOtherEncodings(t *testing.T) {
	m := makeBenchmark(t, cxreasonbench.Corrected, 3)
	c := open(t, m, serve(t, m, nil, Model{Name: "oracle", Behaviour: Oracle}))
	for _, k := range m.bench.byTask[chexstruct.Cardiomegaly] {
		init := k.question(cxreasonbench.Key{Path: cxreasonbench.Path1, Stage: cxreasonbench.StageInit})
		criteria := k.question(cxreasonbench.Key{Path: cxreasonbench.Path1, Stage: cxreasonbench.StageCriteria})
		plain := asking{model: "oracle", messages: []any{user(init.Text, c.shown(init)...), reply(`say "data:image/png;base64,AAAA" and ;base64,`),
			map[string]any{"role": "user", "content": criteria.Text}}}
		want := fmt.Sprintf("FINAL ANSWER: (%s)", criteria.Accepted[0])
		bodies := map[string][]byte{"one text": plain.body(t), "escaped": bytes.ReplaceAll(plain.body(t), []byte("/"), []byte(`\/`))}
		bodies["spaced"] = bytes.ReplaceAll(bodies["one text"], []byte(`"role"`), []byte(" \"role\"\n"))
		anew := asking{model: "oracle", messages: []any{user(init.Text, encodeAnew(t, c.shown(init)[0])), reply(""), user(criteria.Text)}}
		bodies["encoded anew"] = anew.body(t)
		for name, body := range bodies {
			r, err := c.post(body)
			if err != nil || !strings.Contains(strings.ToLower(r.text()), strings.ToLower(want)) {
				t.Errorf("%s: %v, %s, want %s", name, err, r.body, want)
			}
		}
	}
}

// encodeAnew resizes a picture and writes it as a JPEG.
func encodeAnew(t *testing.T, data []byte) []byte {
	t.Helper()
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	box := m.Bounds()
	large := image.NewRGBA(image.Rect(0, 0, box.Dx()*3/2, box.Dy()*3/2))
	for y := range large.Rect.Dy() {
		for x := range large.Rect.Dx() {
			draw.Draw(large, image.Rect(x, y, x+1, y+1), m, image.Pt(x*2/3, y*2/3), draw.Src)
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, large, &jpeg.Options{Quality: 80}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
