package gemini

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/wire/wiretest"
)

// plantedToken is an access token that must show nowhere but in the header that carries it.
const plantedToken = "ya29.planted-4b1d77e0c9aa"

// service is a stand-in for Vertex AI with its token service.
type service struct {
	*httptest.Server
	wiretest.Log
	key    string // path of the credentials file
	tokens atomic.Int32
	// tokenStatus is what the token service answers with, 0 for success.
	tokenStatus atomic.Int32
}

// newService keeps what it is sent.
func newService(t testing.TB, answer http.HandlerFunc) *service {
	t.Helper()
	s := &service{}
	s.serve(t, s.Keep(answer))
	return s
}

func (s *service) serve(t testing.TB, answer http.HandlerFunc) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		s.tokens.Add(1)
		w.Header().Set("Content-Type", "application/json")
		if code := s.tokenStatus.Load(); code != 0 {
			w.WriteHeader(int(code))
			_, _ = io.WriteString(w, `{"error":"invalid_grant","error_description":"planted-secret-of-the-token-service"}`)
			return
		}
		_, _ = io.WriteString(w, `{"access_token":"`+plantedToken+`","token_type":"Bearer","expires_in":3600}`)
	})
	mux.HandleFunc("/", answer)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	s.key = credentialsFile(t, s.URL+"/token")
}

var signingKey = sync.OnceValue(func() []byte {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
})

// credentialsFile writes the file of a service account whose tokens come from the stand-in.
func credentialsFile(t testing.TB, tokenURL string) string {
	t.Helper()
	data, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "p", "private_key_id": "k", "private_key": string(signingKey()),
		"client_email": "reader@p.iam.gserviceaccount.com", "client_id": "1", "token_uri": tokenURL, "quota_project_id": "payer",
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// respond answers as the service does, which names the character set.
func respond(status int, body string, header ...string) http.HandlerFunc {
	return wiretest.Respond(status, body, append([]string{"Content-Type", "application/json; charset=UTF-8"}, header...)...)
}

const fine = `{"candidates":[{"content":{"role":"model","parts":[{"text":"let me think","thought":true},{"text":"FINAL ANSWER: "},{"text":"(b) No"}]},
"finishReason":"STOP","index":0}],"modelVersion":"gemini-2.5-pro-served","responseId":"r-7",
"usageMetadata":{"promptTokenCount":1400,"candidatesTokenCount":9,"thoughtsTokenCount":300,"cachedContentTokenCount":1024,"totalTokenCount":1709}}`

func client(t testing.TB, s *service, change func(*Options)) *Client {
	t.Helper()
	credentials, err := Credentials(s.key)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Endpoint: "vertex", URL: s.URL, Project: "p", Location: "europe-west4", Model: "gemini-2.5-pro",
		Credentials: credentials, Timeout: 10 * time.Second, Concurrency: 4}
	if change != nil {
		change(&o)
	}
	c, err := New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var pictures = wiretest.Pictures{}

func request(refs ...artifacts.Ref) lvlm.Request {
	return lvlm.Request{
		Adapter: lvlm.GeminiVersion, Pictures: "long1024/1",
		Decoding: lvlm.Decoding{Temperature: new(0.7), TopP: new(0.95), MaxTokens: 500, ThinkingBudget: new(1024), Seed: new(int64(40)),
			Extra: map[string]any{"safety": "BLOCK_NONE", "top_k": 1.0, "media_resolution": "HIGH"}},
		Draw: 2,
		Transcript: dialogue.Transcript{}.System("You read radiographs.").
			Ask("Is the heart of this patient enlarged, <yes> & no?", refs...).Answered("").Ask("Which criterion did you use for this first answer?"),
	}
}

// TestAsk: what is sent and what comes back, to the last field.
func TestAsk(t *testing.T) {
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "false") // the environment must not choose another backend
	t.Setenv("GOOGLE_VERTEX_BASE_URL", "http://127.0.0.1:1/elsewhere")
	t.Setenv("GOOGLE_CLOUD_PROJECT", "other")
	s := newService(t, respond(200, fine))
	c := client(t, s, nil)
	one, two := pictures.Ref([]byte("\x89PNG one"), "image/png"), pictures.Ref([]byte("\xff\xd8 two"), "image/jpeg")
	var got lvlm.Reply
	for range 2 {
		var err error
		if got, err = c.Ask(context.Background(), request(one, two), pictures.Open); err != nil {
			t.Fatal(err)
		}
	}
	want := lvlm.Answer{Format: lvlm.AnswerFormat, Outcome: lvlm.Answered, Text: "FINAL ANSWER: (b) No", Finish: "STOP"}
	if got.Answer != want {
		t.Errorf("answer %+v, want %+v", got.Answer, want)
	}
	sv := got.Served
	if sv.Model != "gemini-2.5-pro-served" || sv.ID != "r-7" || sv.Region != "europe-west4" || sv.APIVersion != "v1" || sv.Endpoint != "vertex" ||
		!strings.HasPrefix(sv.SDK, "genai") || sv.Latency <= 0 ||
		sv.Usage != (dialogue.Usage{Calls: 1, Prompt: 1400, Cached: 1024, Completion: 309, Thinking: 300}) {
		t.Errorf("served %+v", sv)
	}
	all := s.Requests()
	if len(all) != 2 || all[0].Path != "/v1/projects/p/locations/europe-west4/publishers/google/models/gemini-2.5-pro:generateContent" {
		t.Fatalf("requests %+v", all)
	}
	if h := all[0].Header; h.Get("Authorization") != "Bearer "+plantedToken || h.Get("X-Goog-User-Project") != "payer" || h.Get("X-Goog-Api-Key") != "" {
		t.Errorf("header %v", h)
	}
	if s.tokens.Load() != 1 {
		t.Errorf("%d tokens fetched for two calls", s.tokens.Load())
	}
	var body, wantBody any
	if err := json.Unmarshal(all[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	text := `{"contents":[{"role":"user","parts":[{"text":"Is the heart of this patient enlarged, <yes> & no?"},
{"inlineData":{"mimeType":"image/png","data":"` + base64.StdEncoding.EncodeToString([]byte("\x89PNG one")) + `"}},
{"inlineData":{"mimeType":"image/jpeg","data":"` + base64.StdEncoding.EncodeToString([]byte("\xff\xd8 two")) + `"}}]},
{"role":"model","parts":[{"text":" "}]},{"role":"user","parts":[{"text":"Which criterion did you use for this first answer?"}]}],
"systemInstruction":{"role":"user","parts":[{"text":"You read radiographs."}]},
"generationConfig":{"temperature":0.7,"topP":0.95,"topK":1,"maxOutputTokens":500,"seed":42,"thinkingConfig":{"thinkingBudget":1024},"mediaResolution":"MEDIA_RESOLUTION_HIGH"},
"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"},{"category":"HARM_CATEGORY_HATE_SPEECH","threshold":"BLOCK_NONE"},
{"category":"HARM_CATEGORY_SEXUALLY_EXPLICIT","threshold":"BLOCK_NONE"},{"category":"HARM_CATEGORY_DANGEROUS_CONTENT","threshold":"BLOCK_NONE"}]}`
	if err := json.Unmarshal([]byte(text), &wantBody); err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(body)
	b, _ := json.Marshal(wantBody)
	if string(a) != string(b) {
		t.Errorf("body\n%s\nwant\n%s", a, b)
	}
	if string(all[0].Body) != string(all[1].Body) {
		t.Error("one request, two bodies")
	}
}

// TestRepeatedCredential: an endpoint that repeats the access token does not get it kept.
func TestRepeatedCredential(t *testing.T) {
	s := newService(t, respond(200, strings.NewReplacer("(b) No", "you sent "+plantedToken, "r-7", plantedToken).Replace(fine)))
	got, err := client(t, s, nil).Ask(context.Background(), request(), pictures.Open)
	if err != nil {
		t.Fatal(err)
	}
	if got.Answer.Text != "FINAL ANSWER: you sent ***" || got.Answer.Outcome != lvlm.Answered {
		t.Errorf("answer %+v", got.Answer)
	}
	if text := wiretest.Shows(got, plantedToken); text != "" {
		t.Errorf("the token stands in %s", text)
	}
}

// TestPartsKeepTheirOrder: what the agent shows, pictures before and between texts, is sent so.
func TestPartsKeepTheirOrder(t *testing.T) {
	s := newService(t, respond(200, fine))
	one, two := pictures.Ref([]byte("one"), "image/png"), pictures.Ref([]byte("two"), "image/png")
	r := request()
	r.Transcript = dialogue.Transcript{Messages: []dialogue.Message{{Role: dialogue.User, Parts: []dialogue.Part{
		{Image: &one}, {Text: "first"}, {Image: &two}, {Text: "then"},
	}}}}
	if _, err := client(t, s, nil).Ask(context.Background(), r, pictures.Open); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Contents []struct {
			Parts []struct {
				Text       string
				InlineData struct{ Data []byte }
			}
		}
	}
	if err := json.Unmarshal(s.Requests()[0].Body, &body); err != nil || len(body.Contents) != 1 {
		t.Fatalf("%v: %s", err, s.Requests()[0].Body)
	}
	got := ""
	for _, p := range body.Contents[0].Parts {
		got += p.Text + string(p.InlineData.Data) + "|"
	}
	if got != "one|first|two|then|" {
		t.Errorf("parts %s", got)
	}
}

// TestPicturesFindTheirPlaces: a dozen pictures over several turns, with texts that look like
// what stands for them.
func TestPicturesFindTheirPlaces(t *testing.T) {
	s := newService(t, respond(200, fine))
	r := request()
	r.Transcript = dialogue.Transcript{}
	var want []string
	for turn := range 4 {
		var refs []artifacts.Ref
		for k := range 3 {
			data := []byte{byte(turn), byte(k), 0xff}
			refs = append(refs, pictures.Ref(data, "image/png"))
			want = append(want, base64.StdEncoding.EncodeToString(data))
		}
		text := `"data":"` + base64.StdEncoding.EncodeToString(mark(turn)) + `"`
		r.Transcript = r.Transcript.Ask(text, refs...)
		if turn < 3 {
			r.Transcript = r.Transcript.Answered(text)
		}
	}
	if _, err := client(t, s, nil).Ask(context.Background(), r, pictures.Open); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Contents []struct {
			Parts []struct {
				Text       string
				InlineData *struct{ Data string }
			}
		}
	}
	if err := json.Unmarshal(s.Requests()[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range body.Contents {
		for _, p := range c.Parts {
			if p.InlineData != nil {
				got = append(got, p.InlineData.Data)
			} else if !strings.HasPrefix(p.Text, `"data":"`) {
				t.Errorf("a text became %q", p.Text)
			}
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("pictures %v, want %v", got, want)
	}
}
