package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"cxrepro/internal/dialogue"
	"cxrepro/internal/lvlm"
)

func open(t *testing.T, text, model string, getenv func(string) string) (lvlm.Asker, error) {
	t.Helper()
	s, err := Parse("e.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c, ok := s.For(model)
	if !ok {
		t.Fatalf("no endpoint for %s", model)
	}
	return c.Open(context.Background(), Options{Model: model, Getenv: getenv})
}

// TestOpenAsks: a card, a credential of the environment, a reply.
func TestOpenAsks(t *testing.T) {
	var auth, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		auth, body = r.Header.Get("Authorization"), string(data)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"model":"served","choices":[{"message":{"content":"(a)"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	text := fmt.Sprintf("endpoints:\n  - name: e\n    adapter: openai\n    url: %s/v1\n    models: {m: sent/name}\n    credential_env: KEY\n    limits: {concurrency: 1, timeout: 5s}\n", server.URL)
	asker, err := open(t, text, "m", env("KEY", " sk-planted\n"))
	if err != nil {
		t.Fatal(err)
	}
	if shown := fmt.Sprintf("%v %s", asker, asker); strings.Contains(shown, "planted") {
		t.Errorf("shows %s", shown)
	}
	send, err := asker.Prepare(context.Background(), lvlm.Request{Adapter: lvlm.ChatVersion, Transcript: dialogue.Transcript{}.Ask("q")}, nil)
	if err != nil || auth != "" {
		t.Fatalf("prepared: %v; the endpoint heard %q", err, auth)
	}
	reply, err := send(context.Background())
	if err != nil || reply.Answer.Text != "(a)" || reply.Served.Endpoint != "e" || reply.Served.Deployment != "sent/name" {
		t.Errorf("%+v, %v", reply, err)
	}
	if auth != "Bearer sk-planted" || !strings.Contains(body, `"model":"sent/name"`) {
		t.Errorf("sent %q %s", auth, body)
	}
}

// TestOpenRefuses: what a person must put right says which variable or card.
func TestOpenRefuses(t *testing.T) {
	var e *lvlm.CallError
	if _, err := open(t, good, "gpt-4.1", env()); !errors.As(err, &e) || e.Class != lvlm.Denied || !strings.Contains(err.Error(), "AZURE_KEY") {
		t.Errorf("no credential: %v", err)
	}
	vertex := strings.Replace(good, "    project: p\n", "    project: p\n    credential_env: KEY_FILE\n", 1)
	if _, err := open(t, vertex, "gemini-2.5-pro", env("KEY_FILE", "/nowhere/planted.json")); !errors.As(err, &e) || e.Class != lvlm.Denied || strings.Contains(err.Error(), "planted") {
		t.Errorf("no credentials file: %v", err)
	}
	s, err := Parse("e.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Endpoints[0].Open(context.Background(), Options{Model: "other", Getenv: env()}); !errors.As(err, &e) || e.Class != lvlm.Configured {
		t.Errorf("another model: %v", err)
	}
}
