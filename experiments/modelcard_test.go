package experiments

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/picture"
)

// TestPaperCards: the ten models of the paper and its judge, as the reference page states them.
func TestPaperCards(t *testing.T) {
	for _, c := range []struct {
		file, title, adapter string
		rule                 picture.Rule
		tokens, pictures     int
		pinned               bool
	}{
		{"gemini-2.5-pro", "Gemini-2.5-Pro", lvlm.Gemini, picture.Long1024, 0, 0, true},
		{"gemini-2.5-flash", "Gemini-2.5-Flash", lvlm.Gemini, picture.Long1024, 0, 0, true},
		{"gpt-4.1", "GPT-4.1", lvlm.Azure, picture.CXRBOriginal, 8192, 0, true},
		{"pixtral-large", "Pixtral-Large", lvlm.OpenAI, picture.Original, 8192, 20, false},
		{"pixtral-12b", "Pixtral-12B", lvlm.OpenAI, picture.Original, 8192, 20, false},
		{"llama-3.2-90b-vision", "Llama-3.2-90B-Vision", lvlm.OpenAI, picture.Original, 8192, 20, false},
		{"qwen2.5-vl-72b", "Qwen2.5-VL-72B", lvlm.OpenAI, picture.Original, 8192, 20, false},
		{"qwen2.5-vl-7b", "Qwen2.5-VL-7B", lvlm.OpenAI, picture.Original, 8192, 20, false},
		{"healthgpt-l14", "HealthGPT-L14", lvlm.OpenAI, picture.Original, 1024, 0, false},
		{"radvlm", "RadVLM", lvlm.OpenAI, picture.Long1024, 4096, 0, false},
		{"judge", "Gemini-2.0-Flash", lvlm.Gemini, picture.Original, 500, 0, false},
	} {
		card := parseCard(t, filepath.Join("cxreasonbench", "models", c.file+".yaml"))
		if card.Name != c.file || card.Title != c.title || card.Adapter != c.adapter || card.PictureRule() != c.rule ||
			card.Greedy.MaxTokens != c.tokens || card.MaxPictures != c.pictures || (card.Pinned() == nil) != c.pinned || *card.Greedy.Temperature != 0 {
			t.Errorf("%s: %+v", c.file, card)
		}
		checkDecoding(t, card, &card.Greedy)
		if c.file == "judge" {
			continue
		}
		if d := card.Draws; d == nil || *d.Temperature != 0.7 || *d.TopP != 0.95 || d.MaxTokens != c.tokens || d.Seed == nil {
			t.Errorf("%s: draws %+v", c.file, d)
		} else {
			checkDecoding(t, card, d)
		}
	}
}

// paperExtras are what the cards send beside the protocol's fields, by adapter.
var paperExtras = map[string]string{
	lvlm.Gemini: "map[safety:BLOCK_NONE]",
	lvlm.Azure:  "map[frequency_penalty:0 presence_penalty:0]",
	lvlm.OpenAI: "map[min_p:0 repetition_penalty:1 top_k:-1]",
}

// checkDecoding holds what a card sends beside temperature, top_p and limit: no thinking, no
// filter of its own choosing, and nothing that a file beside the weights could change.
func checkDecoding(t *testing.T, card *ModelCard, d *lvlm.Decoding) {
	t.Helper()
	thinks := d.ThinkingBudget == nil || *d.ThinkingBudget != 0
	if got := fmt.Sprint(d.Extra); got != paperExtras[card.Adapter] || thinks == (card.Adapter == lvlm.Gemini) {
		t.Errorf("%s: extra %s, decoding %+v", card.Name, got, d)
	}
}

func parseCard(t *testing.T, path string) *ModelCard {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	card, err := ParseModelCard(path, data)
	if err != nil {
		t.Fatal(err)
	}
	return card
}

// TestCardTravels: a card in a plan keeps its meaning through the plan's bytes.
func TestCardTravels(t *testing.T) {
	card := parseCard(t, "cxreasonbench/models/qwen2.5-vl-7b.yaml")
	once, err := artifacts.Canonical(card)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(once), `"extra":{"min_p":0,"repetition_penalty":1,"top_k":-1}`) {
		t.Errorf("card %s", once)
	}
	var back ModelCard
	if err := json.Unmarshal(once, &back); err != nil {
		t.Fatal(err)
	}
	if twice, err := artifacts.Canonical(back); err != nil || string(twice) != string(once) {
		t.Errorf("a plan read back has another card: %s, %v", twice, err)
	}
}

const goodCard = `name: m
title: M
adapter: openai
identity:
  weights: "sha256:1111111111111111111111111111111111111111111111111111111111111111"
pictures: original
greedy:
  temperature: 0
  top_p: 1
  max_tokens: 64
  extra: {top_k: -1, min_p: 0, repetition_penalty: 1}
draws:
  temperature: 0.7
  top_p: 0.95
  max_tokens: 64
  seed: 1
  extra: {top_k: -1, min_p: 0, repetition_penalty: 1}
retries: 2
`

const goodGemini = `name: g
title: G
adapter: gemini
identity: {provider: google-vertex, snapshot: g-001}
pictures: long1024
greedy:
  temperature: 0
  thinking_budget: 0
  extra: {safety: BLOCK_NONE}
retries: 0
`

func TestBadCards(t *testing.T) {
	weights := `  weights: "sha256:1111111111111111111111111111111111111111111111111111111111111111"`
	for _, c := range []struct{ name, base, old, new, want string }{
		{"unknown field", goodCard, "retries: 2", "retries: 2\nurl: http://x", `card.yaml:19: unknown field "url"; known fields: adapter, draws,`},
		{"where it runs does not belong", goodCard, "retries: 2", "retries: 2\nsimulated: maybe", `card.yaml:19: simulated: want true or false`},
		{"no retries", goodCard, "retries: 2\n", "", `retries: is missing; every model card states it`},
		{"many retries", goodCard, "retries: 2", "retries: 50", `card.yaml:18: retries: want 0 to 5, got 50`},
		{"adapter", goodCard, "adapter: openai", "adapter: bard", `card.yaml:3: adapter: no adapter is called "bard"; there are azure, gemini, openai`},
		{"rule", goodCard, "pictures: original", "pictures: small", `card.yaml:6: pictures: no picture rule is called "small"; there are original, long1024, cxrb_original`},
		{"name", goodCard, "name: m", "name: Qwen/2", `card.yaml:1: name: "Qwen/2": want lower-case`},
		{"digest", goodCard, "sha256:11", "sha1:11", `card.yaml:5: identity.weights: digest "sha1:1`},
		{"no identity", goodCard, weights, "  snapshot: x", `card.yaml:5: identity: provider and snapshot go together`},
		{"two identities", goodCard, weights, weights + "\n  provider: p\n  snapshot: s", `identity: want weights, or provider with snapshot, not both`},
		{"pinned and not", goodCard, weights, weights + "\n  unpinned: why", `card.yaml:6: identity.unpinned: does not go with weights`},
		{"greedy samples", goodCard, "temperature: 0\n  top_p: 1", "temperature: 0.2\n  top_p: 1", `card.yaml:8: greedy.temperature: want 0, got 0.2`},
		{"draws do not sample", goodCard, "temperature: 0.7", "temperature: 0", `card.yaml:13: draws.temperature: 0 draws the same`},
		{"no temperature", goodCard, "  temperature: 0.7\n", "", `draws.temperature: is missing; the server would choose one`},
		{"top_p", goodCard, "top_p: 0.95", "top_p: 0", `card.yaml:14: draws.top_p: want more than 0`},
		{"no limit", goodCard, "  top_p: 1\n  max_tokens: 64\n", "  top_p: 1\n", `greedy.max_tokens: is missing; the server would answer up to its context limit`},
		{"server's own top_k", goodCard, "max_tokens: 64\n  extra: {top_k: -1, min_p: 0", "max_tokens: 64\n  extra: {min_p: 0", `greedy.extra.top_k: is missing; a server of open weights`},
		{"server's own top_p", goodCard, "  top_p: 1\n", "", `greedy.top_p: is missing; a server of open weights`},
		{"a field of its own", goodCard, "{top_k: -1, min_p: 0, repetition_penalty: 1}\nretries", "{top_k: -1, min_p: 0, repetition_penalty: 1, n: 3}\nretries", `draws.extra.n: "n" has a field of its own`},
		{"thinking", goodCard, "  seed: 1\n", "  seed: 1\n  thinking_budget: 5\n", `card.yaml:17: draws.thinking_budget: goes only with adapter gemini`},
		{"seed", goodCard, "seed: 1", "seed: -1", `card.yaml:16: draws.seed: want 0 or more`},
		{"gemini weights", goodGemini, "{provider: google-vertex, snapshot: g-001}", "{unpinned: local}", `identity: adapter gemini serves snapshots`},
		{"gemini budget", goodGemini, "  thinking_budget: 0\n", "", `greedy.thinking_budget: is missing; the service would choose one`},
		{"gemini safety", goodGemini, "safety: BLOCK_NONE", "safety: none", `card.yaml:9: greedy.extra.safety: none is not one of BLOCK_LOW_AND_ABOVE`},
		{"gemini without safety", goodGemini, "{safety: BLOCK_NONE}", "{top_k: 1}", `greedy.extra.safety: is missing`},
		{"gemini extra", goodGemini, "{safety: BLOCK_NONE}", "{safety: OFF, min_p: 1}", `greedy.extra.min_p: "min_p" is not one of media_resolution, safety, top_k`},
	} {
		text := strings.Replace(c.base, c.old, c.new, 1)
		if text == c.base {
			t.Errorf("%s: nothing was changed", c.name)
		}
		_, err := ParseModelCard("card.yaml", []byte(text))
		var se *SpecError
		if !errors.As(err, &se) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for _, good := range []string{goodCard, goodGemini} {
		if _, err := ParseModelCard("card.yaml", []byte(good)); err != nil {
			t.Error(err)
		}
	}
}

// TestPinned: a card without weights says why and what to do.
func TestPinned(t *testing.T) {
	card := parseCard(t, "cxreasonbench/models/radvlm.yaml")
	var e *UnpinnedError
	if err := card.Pinned(); !errors.As(err, &e) || !strings.Contains(err.Error(), "not the revision of its weights") || !strings.Contains(err.Error(), "--allow-unpinned") || !strings.Contains(err.Error(), "identity.weights") {
		t.Errorf("got %v", err)
	}
	judge := parseCard(t, "cxreasonbench/models/judge.yaml")
	if err := judge.Pinned(); err == nil || strings.Contains(err.Error(), "weights") || !strings.Contains(err.Error(), "snapshot") {
		t.Errorf("got %v", err)
	}
}
