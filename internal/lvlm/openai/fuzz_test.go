package openai

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	sdk "github.com/openai/openai-go/v3"

	"cxrepro/internal/lvlm"
)

// FuzzReplies: whatever an endpoint sends, it has one outcome or one class, and shows nothing.
func FuzzReplies(f *testing.F) {
	f.Add(200, fine)
	f.Add(200, choice(`{"content":[{"text":"x"}],"refusal":"no"}`, `"content_filter"`, `,"content_filter_results":{"hate":{"filtered":true},"error":{"code":1}}`))
	f.Add(400, openAIError("context_length_exceeded", "x", "messages[1]", "You read radiographs. "+plantedKey))
	f.Add(429, `{"error":"slow","code":7}`)
	f.Add(503, `{"error":{"code":429.5,"innererror":{"content_filter_result":[1]}}}`)
	f.Add(200, `{"choices":[{}],"usage":{"prompt_tokens":-1}}`)
	c := client(f, Options{Endpoint: "e", URL: "http://127.0.0.1/", Model: "m", Key: lvlm.NewSecret(plantedKey), Timeout: time.Second, Concurrency: 1})
	r := request()
	f.Fuzz(func(t *testing.T, status int, body string) {
		var reply lvlm.Reply
		var err error
		if status >= 200 && status < 300 {
			var got sdk.ChatCompletion
			if json.Unmarshal([]byte(body), &got) != nil {
				return
			}
			reply, err = c.read(r, &got)
			reply.Answer.Text = "" // the model may say what it likes
		} else {
			reply, err = c.classify(r, status, parseProblem([]byte(body)), 0)
		}
		var e *lvlm.CallError
		switch {
		case err == nil && !reply.Answer.Outcome.Valid():
			t.Errorf("no outcome: %+v", reply)
		case err != nil && (!errors.As(err, &e) || !slices.Contains(lvlm.Classes(), e.Class)):
			t.Errorf("no class: %v", err)
		}
		if text := shows(err); text != "" {
			t.Errorf("shows %s", text)
		}
	})
}
