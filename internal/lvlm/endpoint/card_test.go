package endpoint

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"cxrepro/internal/datause"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/strictyaml"
)

const good = `endpoints:
  - name: ward
    adapter: openai
    url: http://127.0.0.1:8000/v1/
    models: {qwen2.5-vl-7b: Qwen/Qwen2.5-VL-7B-Instruct, radvlm: radvlm}
    limits: {concurrency: 16, timeout: 10m}
    attestation: {local: true}
  - name: azure-eu
    adapter: azure
    url: https://reader.openai.azure.com
    models: {gpt-4.1: gpt-41-eu}
    credential_env: AZURE_KEY
    api_version: 2025-01-01-preview
    limits: {requests_per_minute: 60, tokens_per_minute: 100000, concurrency: 8, timeout: 5m}
    price: {currency: USD, input: 2, cached: 0.5, output: 8}
    attestation:
      class: credentialed
      zero_retention: true
      no_training: true
      no_human_review: true
      date: 2026-11-01
      reference: "agreement 17"
  - name: vertex
    adapter: gemini
    models: {gemini-2.5-pro: gemini-2.5-pro}
    project: p
    location: europe-west4
    limits: {concurrency: 4, timeout: 5m}
`

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestParse(t *testing.T) {
	s, err := Parse("endpoints.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	c, ok := s.For("gpt-4.1")
	if !ok || c.Name != "azure-eu" || c.Limits.Timeout != 5*time.Minute || c.Limits.RequestsPerMinute != 60 || *c.Price.Cached != 0.5 {
		t.Errorf("got %+v", c)
	}
	if a := c.Attestation; a.Class != datause.Credentialed || !a.ZeroRetention || a.Date != "2026-11-01" || a.Local {
		t.Errorf("attestation %+v", a)
	}
	if err := datause.AllowEndpoint(datause.Credentialed, c.Attestation, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Error(err)
	}
	if ward, _ := s.For("radvlm"); strings.Join(ward.Served(), " ") != "qwen2.5-vl-7b radvlm" || !ward.Attestation.Local {
		t.Errorf("ward %+v", ward)
	}
	if s.Endpoints[0].AdapterVersion() != s.Endpoints[1].AdapterVersion() || s.Endpoints[2].AdapterVersion() == c.AdapterVersion() {
		t.Error("openai and azure speak one protocol, gemini another")
	}
	if _, ok := s.For("gpt-5"); ok {
		t.Error("an unknown model is served")
	}
}

func TestBadCards(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"credential written down", "credential_env: AZURE_KEY", "credential_env: sk-planted-0123", `e.yaml:12: endpoints[1].credential_env: want the name of an environment variable`},
		{"credential in the URL", "https://reader", "https://me:planted@reader", `endpoints[1].url: holds a name or password`},
		{"unencrypted", "https://reader", "http://reader", `endpoints[1].url: http shows pictures`},
		{"unencrypted and not ours", "http://127.0.0.1:8000/v1/", "http://vllm.example/v1/", ``},
		{"a local cloud", "class: credentialed", "local: true", `e.yaml:17: endpoints[1].attestation.local: a cloud service is not local`},
		{"whole route", "8000/v1/", "8000/v1/chat/completions", `want the base without /chat/completions`},
		{"query", "azure.com", "azure.com/?x=1", `holds a query`},
		{"no URL", "    url: http://127.0.0.1:8000/v1/\n", "", `endpoints[0].url: is missing`},
		{"no scheme", "http://127.0.0.1:8000/v1/", "127.0.0.1:8000", `endpoints[0].url:`},
		{"no version", "    api_version: 2025-01-01-preview\n", "", `endpoints[1].api_version: is missing; Azure answers by version`},
		{"no project", "    project: p\n", "", `endpoints[2].project: is missing`},
		{"field of another adapter", "    project: p\n", "    project: p\n    limit_field: max_tokens\n", `endpoints[2].limit_field: does not go with adapter gemini`},
		{"limit field", "    attestation: {local: true}", "    attestation: {local: true}\n    limit_field: tokens", `e.yaml:8: endpoints[0].limit_field: "tokens" is not one of`},
		{"no concurrency", "concurrency: 16", "concurrency: 0", `e.yaml:6: endpoints[0].limits.concurrency: want 1 to 4096`},
		{"timeout as a number", "timeout: 10m", "timeout: 600", `e.yaml:6: endpoints[0].limits.timeout: want a text, got the number 600`},
		{"timeout of nothing", "timeout: 10m", "timeout: 0s", `e.yaml:6: endpoints[0].limits.timeout: want how long`},
		{"rate", "requests_per_minute: 60", "requests_per_minute: -1", `requests_per_minute: want a positive number`},
		{"currency", "currency: USD", "currency: dollars", `e.yaml:15: endpoints[1].price.currency`},
		{"price", "output: 8", "output: -8", `endpoints[1].price.output: want the price of a million tokens`},
		{"class", "class: credentialed", "class: secret", `e.yaml:17: endpoints[1].attestation.class: data-use class "secret"`},
		{"two endpoints for a model", "radvlm: radvlm}", "gpt-4.1: x}", `endpoints[1].models.gpt-4.1: is served by ward too`},
		{"two of a name", "name: azure-eu", "name: ward", `endpoints[1].name: "ward" stands twice`},
		{"adapter", "adapter: gemini", "adapter: bard", `endpoints[2].adapter: "bard" is not one of azure, gemini, openai`},
		{"no models", "{gemini-2.5-pro: gemini-2.5-pro}", "{}", `endpoints[2].models: want at least one`},
		{"no name to send", "gpt-4.1: gpt-41-eu", `gpt-4.1: ""`, `want a model card's name and the name that is sent`},
		{"unknown field", "    project: p\n", "    project: p\n    api_key: planted\n", `unknown field "api_key"; known fields: adapter,`},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if text == good {
			t.Errorf("%s: nothing was changed", c.name)
		}
		_, err := Parse("e.yaml", []byte(text))
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		var se *strictyaml.Error
		if !errors.As(err, &se) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "planted") {
			t.Errorf("%s: shows the credential: %v", c.name, err)
		}
	}
}

// TestID: one id per endpoint and credential, which shows neither.
func TestID(t *testing.T) {
	s, err := Parse("e.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	c := s.Endpoints[1]
	id := c.ID(env("AZURE_KEY", "sk-planted"))
	if strings.Contains(id, "planted") || len(id) != len("endpoint-")+32 {
		t.Errorf("id %q", id)
	}
	slash, other, name := c, c, c
	slash.URL += "/"
	other.URL = "https://other.openai.azure.com"
	name.Name, name.Limits.Concurrency = "renamed", 1
	for got, same := range map[string]bool{
		c.ID(env("AZURE_KEY", "sk-planted\n")):   true, // as files end
		slash.ID(env("AZURE_KEY", "sk-planted")): true, name.ID(env("AZURE_KEY", "sk-planted")): true,
		c.ID(env("AZURE_KEY", "sk-other")): false, c.ID(env()): false, other.ID(env("AZURE_KEY", "sk-planted")): false,
	} {
		if (got == id) != same {
			t.Errorf("id %s against %s", got, id)
		}
	}
	if text := fmt.Sprintf("%v %+v %#v", c, c, c); strings.Contains(text, "planted") {
		t.Errorf("a card shows %s", text)
	}
}

func TestCost(t *testing.T) {
	half := 0.5
	for _, c := range []struct {
		p    Price
		u    dialogue.Usage
		want int64
	}{
		{Price{Input: 2, Cached: &half, Output: 8}, dialogue.Usage{Calls: 1, Prompt: 1000, Cached: 400, Completion: 100, Thinking: 60}, 600*2 + 200 + 800},
		{Price{Input: 2, Output: 8}, dialogue.Usage{Prompt: 1000, Cached: 400, Completion: 100}, 2000 + 800},
		{Price{Input: 0.1, Output: 0.4}, dialogue.Usage{Prompt: 3, Completion: 1}, 1}, // 0.7, rounded up
		{Price{Input: 0.15, Output: 0.6}, dialogue.Usage{Prompt: 20, Completion: 10}, 9},
		{Price{}, dialogue.Usage{Prompt: 1 << 40}, 0},
		{Price{Input: 2}, dialogue.Usage{}, 0},
		{Price{Input: 1e12}, dialogue.Usage{Prompt: 1 << 40}, math.MaxInt64},
	} {
		if got := c.p.Cost(c.u); got != c.want {
			t.Errorf("%+v of %+v costs %d, want %d", c.p, c.u, got, c.want)
		}
	}
}

// TestDocumentedCards: what docs/endpoints.md shows can be used as it stands.
func TestDocumentedCards(t *testing.T) {
	page, err := os.ReadFile("../../../docs/endpoints.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	s, err := Parse("endpoints.md", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{"qwen2.5-vl-7b", "gpt-4.1", "gemini-2.5-pro", "judge"} {
		if _, ok := s.For(model); !ok {
			t.Errorf("the page serves no %s", model)
		}
		if _, err := os.Stat("../../../experiments/cxreasonbench/models/" + model + ".yaml"); err != nil {
			t.Error(err)
		}
	}
}

// TestSegmenters: a service is found by the model it serves; what it lacks is said by field, and a
// file may hold services alone.
func TestSegmenters(t *testing.T) {
	const sound = "segmenters:\n- {name: words, url: https://words.example, model: biomedparse-v2, credential_env: WORDS_TOKEN, timeout: 90s}\n"
	for _, text := range []string{sound, good + sound} {
		s, err := Parse("endpoints.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		card, ok := s.Segmenter("biomedparse-v2")
		if _, other := s.Segmenter("biomedparse-v1"); !ok || other {
			t.Fatalf("%v, %v", ok, other)
		}
		if _, err := card.Open(datause.Synthetic, env(), nil); err == nil || !strings.Contains(err.Error(), "WORDS_TOKEN") {
			t.Errorf("without its credential: %v", err)
		}
	}
	for text, want := range map[string]string{
		"{}": "endpoints: want at least one", "segmenters: [{name: A b, url: https://h, model: m, timeout: 1s}]": "segmenters[0].name",
		"segmenters: [{name: a, url: http://elsewhere.example, model: m, timeout: 1s}]":                                       "segmenters[0].url",
		"segmenters: [{name: a, url: https://u:p@h, model: m, timeout: 1s}]":                                                  "segmenters[0].url",
		"segmenters: [{name: a, url: https://h, timeout: 1s}]":                                                                "segmenters[0].model",
		"segmenters: [{name: a, url: https://h, model: m, timeout: 5m}]":                                                      "segmenters[0].timeout",
		"segmenters: [{name: a, url: https://h, model: m, timeout: 1s, credential_env: sk-12 34}]":                            "segmenters[0].credential_env",
		"segmenters:\n- {name: a, url: https://h, model: m, timeout: 1s}\n- {name: b, url: https://i, model: m, timeout: 1s}": "segmenters[1].model",
	} {
		if _, err := Parse("endpoints.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
