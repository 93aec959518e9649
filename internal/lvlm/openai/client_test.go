package openai

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/wire/wiretest"
)

// plantedKey is a credential that must show nowhere but in the header that carries it.
const plantedKey = "sk-planted-9f31c07ab2d54e"

// standIn is a server that answers chat completions as told and keeps what it was sent.
type standIn struct {
	*httptest.Server
	wiretest.Log
}

func newStandIn(t testing.TB, answer http.HandlerFunc) *standIn {
	t.Helper()
	s := &standIn{}
	s.Server = httptest.NewServer(s.Keep(answer))
	t.Cleanup(s.Close)
	return s
}

const fine = `{"id":"chatcmpl-7","object":"chat.completion","created":1,"model":"qwen-served","system_fingerprint":"fp_1",
"choices":[{"index":0,"message":{"role":"assistant","content":"FINAL ANSWER: (b) No"},"finish_reason":"stop"}],
"usage":{"prompt_tokens":120,"completion_tokens":9,"total_tokens":129,"prompt_tokens_details":{"cached_tokens":64}}}`

var pictures = wiretest.Pictures{}

func request(refs ...artifacts.Ref) lvlm.Request {
	return lvlm.Request{
		Adapter: lvlm.ChatVersion, Pictures: "original/1",
		Decoding: lvlm.Decoding{Temperature: new(0.0), TopP: new(1.0), MaxTokens: 64,
			Extra: map[string]any{"top_k": -1, "repetition_penalty": 1, "chat_template_kwargs": map[string]any{"enable_thinking": false}}},
		Transcript: dialogue.Transcript{}.System("You read radiographs.").
			Ask("Is the heart of this patient enlarged, <yes> & no?", refs...).Answered("(a) Yes").Ask("Which criterion did you use for this first answer?"),
	}
}

func options(s *standIn) Options {
	return Options{Endpoint: "stand-in", URL: s.URL + "/v1/", Model: "qwen", Key: lvlm.NewSecret(plantedKey), Timeout: 10 * time.Second, Concurrency: 4}
}

func client(t testing.TB, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAsk: what is sent and what comes back, to the last field.
func TestAsk(t *testing.T) {
	s := newStandIn(t, wiretest.Respond(200, fine, "X-Request-Id", "req-1"))
	one, two := pictures.Ref([]byte("\x89PNG one"), "image/png"), pictures.Ref([]byte("\xff\xd8 two"), "image/jpeg")
	r := request(one, two)
	r.Decoding.Seed, r.Draw = new(int64(40)), 2
	got, err := client(t, options(s)).Ask(context.Background(), r, pictures.Open)
	if err != nil {
		t.Fatal(err)
	}
	want := lvlm.Answer{Format: lvlm.AnswerFormat, Outcome: lvlm.Answered, Text: "FINAL ANSWER: (b) No", Finish: "stop"}
	if got.Answer != want {
		t.Errorf("answer %+v, want %+v", got.Answer, want)
	}
	sv := got.Served
	if sv.Model != "qwen-served" || sv.Fingerprint != "fp_1" || sv.ID != "chatcmpl-7" || sv.RequestID != "req-1" || sv.Deployment != "qwen" ||
		sv.Endpoint != "stand-in" || sv.Latency <= 0 || !strings.HasPrefix(sv.SDK, "openai-go") ||
		sv.Usage != (dialogue.Usage{Calls: 1, Prompt: 120, Cached: 64, Completion: 9}) {
		t.Errorf("served %+v", sv)
	}
	all := s.Requests()
	if len(all) != 1 || all[0].Method != "POST" || all[0].Path != "/v1/chat/completions" || all[0].Query != "" {
		t.Fatalf("requests %+v", all)
	}
	if h := all[0].Header; h.Get("Authorization") != "Bearer "+plantedKey || h.Get("Content-Type") != "application/json" || h.Get("Content-Length") == "" {
		t.Errorf("header %v", h)
	}
	wantBody := `{"messages":[{"role":"system","content":"You read radiographs."},` +
		`{"role":"user","content":[{"type":"text","text":"Is the heart of this patient enlarged, <yes> & no?"},` +
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + base64.StdEncoding.EncodeToString([]byte("\x89PNG one")) + `"}},` +
		`{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,` + base64.StdEncoding.EncodeToString([]byte("\xff\xd8 two")) + `"}}]},` +
		`{"role":"assistant","content":"(a) Yes"},{"role":"user","content":"Which criterion did you use for this first answer?"}],` +
		`"chat_template_kwargs":{"enable_thinking":false},"max_tokens":64,"model":"qwen","repetition_penalty":1,"seed":42,"temperature":0,"top_k":-1,"top_p":1}`
	if string(all[0].Body) != wantBody {
		t.Errorf("body\n%s\nwant\n%s", all[0].Body, wantBody)
	}
}

// TestPartsKeepTheirOrder: what the agent shows, pictures before and between texts, is sent so.
func TestPartsKeepTheirOrder(t *testing.T) {
	s := newStandIn(t, wiretest.Respond(200, fine))
	one, two := pictures.Ref([]byte("one"), "image/png"), pictures.Ref([]byte("two"), "image/png")
	r := request()
	r.Transcript = dialogue.Transcript{Messages: []dialogue.Message{{Role: dialogue.User, Parts: []dialogue.Part{
		{Image: &one}, {Text: "first"}, {Image: &two}, {Text: "then"},
	}}}}
	if _, err := client(t, options(s)).Ask(context.Background(), r, pictures.Open); err != nil {
		t.Fatal(err)
	}
	image := func(data string) string {
		return `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + base64.StdEncoding.EncodeToString([]byte(data)) + `"}}`
	}
	want := `{"messages":[{"role":"user","content":[` + image("one") + `,{"type":"text","text":"first"},` + image("two") + `,{"type":"text","text":"then"}]}],`
	if body := string(s.Requests()[0].Body); !strings.HasPrefix(body, want) {
		t.Errorf("body\n%s\nwant\n%s", body, want)
	}
}

// TestRepeatedCredential: an endpoint that repeats the credential, in the text or beside it, does
// not get it kept.
func TestRepeatedCredential(t *testing.T) {
	s := newStandIn(t, wiretest.Respond(200, strings.NewReplacer("(b) No", "you sent "+plantedKey, "fp_1", plantedKey).Replace(fine)))
	got, err := client(t, options(s)).Ask(context.Background(), request(), pictures.Open)
	if err != nil {
		t.Fatal(err)
	}
	if got.Answer.Text != "FINAL ANSWER: you sent ***" || got.Answer.Outcome != lvlm.Answered {
		t.Errorf("answer %+v", got.Answer)
	}
	if text := wiretest.Shows(got, plantedKey); text != "" {
		t.Errorf("the credential stands in %s", text)
	}
}

// TestHistoryIsAPrefix: the next turn's messages begin with the last turn's, byte for byte.
func TestHistoryIsAPrefix(t *testing.T) {
	s := newStandIn(t, wiretest.Respond(200, fine))
	c := client(t, options(s))
	tr := dialogue.Transcript{}.System("s")
	for turn := range 12 {
		tr = tr.Ask("Question "+strings.Repeat("x", turn), pictures.Ref(bytes.Repeat([]byte{byte(turn)}, 1000), "image/png"))
		r := request()
		r.Transcript = tr
		if _, err := c.Ask(context.Background(), r, pictures.Open); err != nil {
			t.Fatal(err)
		}
		tr = tr.Answered(map[bool]string{true: "", false: "reply \"" + strings.Repeat("y", turn) + "\" </b>\n"}[turn%4 == 3])
	}
	all := s.Requests()
	for i := 1; i < len(all); i++ {
		before, _, _ := bytes.Cut(all[i-1].Body, []byte(`],"chat_template_kwargs"`))
		if !bytes.HasPrefix(all[i].Body, before) {
			t.Fatalf("turn %d does not begin with turn %d", i, i-1)
		}
		if !json.Valid(all[i].Body) {
			t.Fatalf("turn %d is no JSON", i)
		}
	}
}

// TestManyAtATime: concurrent calls share connections and get their own replies.
func TestManyAtATime(t *testing.T) {
	const workers, calls = 16, 15
	var connections sync.Map
	s := newStandIn(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		connections.Store(r.RemoteAddr, true)
		_, rest, _ := strings.Cut(string(body), `"seed":`)
		seed, _, _ := strings.Cut(rest, ",")
		wiretest.Respond(200, strings.Replace(fine, "(b) No", seed, 1))(w, r)
	})
	o := options(s)
	o.Concurrency = workers
	c := client(t, o)
	ref := pictures.Ref(bytes.Repeat([]byte("p"), 50_000), "image/png")
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for k := range calls {
				r := request(ref)
				r.Decoding.Seed, r.Draw = new(int64(1000*worker)), k
				got, err := c.Ask(context.Background(), r, pictures.Open)
				if want := fmt.Sprintf("FINAL ANSWER: %d", 1000*worker+k); err != nil || got.Answer.Text != want {
					t.Errorf("%q, %v, want %q", got.Answer.Text, err, want)
				}
			}
		})
	}
	wg.Wait()
	n := 0
	connections.Range(func(any, any) bool { n++; return true })
	if n > 2*workers || len(s.Requests()) != workers*calls {
		t.Errorf("%d requests over %d connections", len(s.Requests()), n)
	}
}
