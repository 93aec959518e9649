package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/wire/wiretest"
)

// TestAzure: the deployment moves into the path, the key into its own header, and nothing of
// the environment joins in.
func TestAzure(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-the-environment")
	t.Setenv("OPENAI_ORG_ID", "org-of-the-environment")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/")
	s := newStandIn(t, wiretest.Respond(200, fine, "Apim-Request-Id", "apim-7", "X-Ms-Region", "Sweden Central"))
	o := options(s)
	o.URL, o.Model, o.APIVersion = s.URL, "gpt 41/eu", "2025-01-01-preview"
	got, err := client(t, o).Ask(context.Background(), request(pictures.Ref([]byte("p"), "image/png")), pictures.Open)
	if err != nil {
		t.Fatal(err)
	}
	sv := got.Served
	if sv.Deployment != "gpt 41/eu" || sv.APIVersion != "2025-01-01-preview" || sv.Region != "Sweden Central" || sv.RequestID != "apim-7" || sv.Model != "qwen-served" || sv.Fingerprint != "fp_1" {
		t.Errorf("served %+v", sv)
	}
	all := s.Requests()
	if len(all) != 1 || all[0].Path != "/openai/deployments/gpt%2041%2Feu/chat/completions" || all[0].Query != "api-version=2025-01-01-preview" {
		t.Fatalf("requests %+v", all)
	}
	if h := all[0].Header; h.Get("Api-Key") != plantedKey || h.Get("Authorization") != "" || h.Get("Openai-Organization") != "" {
		t.Errorf("header %v", h)
	}
	var body map[string]any
	if err := json.Unmarshal(all[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	if body["max_completion_tokens"] != 64.0 || body["max_tokens"] != nil || body["temperature"] != 0.0 {
		t.Errorf("body %v", body)
	}
}

// TestPlainIgnoresEnvironment: the same for servers without Azure's header, key or none.
func TestPlainIgnoresEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-the-environment")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Ambient: 1")
	s := newStandIn(t, wiretest.Respond(200, fine))
	o := options(s)
	o.Key, o.LimitField = lvlm.Secret{}, "max_completion_tokens"
	o.URL = s.URL + "/deep/v1" // no slash at the end
	if _, err := client(t, o).Ask(context.Background(), request(), pictures.Open); err != nil {
		t.Fatal(err)
	}
	got := s.Requests()[0]
	if got.Path != "/deep/v1/chat/completions" || got.Header.Get("Authorization") != "" || got.Header.Get("X-Ambient") != "" ||
		!bytes.Contains(got.Body, []byte(`"max_completion_tokens":64`)) {
		t.Errorf("request %s %v %s", got.Path, got.Header, got.Body)
	}
}

// TestAzureKeepsKeysOffPlainHTTP: away from this machine a key travels encrypted or not at all.
func TestAzureKeepsKeysOffPlainHTTP(t *testing.T) {
	o := Options{Endpoint: "e", URL: "http://azure.invalid/", Model: "m", APIVersion: "v", Key: lvlm.NewSecret(plantedKey), Timeout: 1e9, Concurrency: 1}
	_, err := client(t, o).Ask(context.Background(), request(), pictures.Open)
	var e *lvlm.CallError
	if !errors.As(err, &e) || e.Sent || shows(err) != "" {
		t.Errorf("got %#v", err)
	}
}

// TestRequestsThatAreNone: what cannot be sent is refused here.
func TestRequestsThatAreNone(t *testing.T) {
	s := newStandIn(t, wiretest.Respond(200, fine))
	c := client(t, options(s))
	other, own, thinking := request(), request(), request()
	other.Adapter = lvlm.GeminiVersion
	own.Decoding.Extra = map[string]any{"messages": 0}
	thinking.Decoding.ThinkingBudget = new(1)
	broken := request(pictures.Ref([]byte("broken"), "image/png"))
	pictures[artifacts.Sum([]byte("broken"))] = []byte("x")
	// Of a large one the beginning has been sent when it breaks off.
	long := bytes.Repeat([]byte("broken"), 1<<20)
	breaks := request(pictures.Ref(long, "image/png"))
	pictures[artifacts.Sum(long)] = long[:1<<20]
	for name, r := range map[string]lvlm.Request{"adapter": other, "extra": own, "thinking": thinking, "transcript": {Adapter: lvlm.ChatVersion}, "picture": broken, "long picture": breaks} {
		_, err := c.Ask(context.Background(), r, pictures.Open)
		if err == nil {
			t.Errorf("%s: sent", name)
		}
		// A picture that cannot be read is not the endpoint's doing.
		var of *lvlm.CallError
		if strings.HasSuffix(name, "picture") && (errors.As(err, &of) || !errors.Is(err, artifacts.ErrDigestMismatch)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}
