package contract

import (
	"fmt"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/provenance"
)

func picture(name string) artifacts.Ref {
	return artifacts.Ref{Digest: artifacts.Sum([]byte(name)), Size: int64(len(name)), MediaType: "image/png"}
}

func request() lvlm.Request {
	temperature, seed := 0.7, int64(5)
	return lvlm.Request{
		Model: lvlm.Identity{Weights: artifacts.Sum([]byte("weights"))}, Adapter: "openai/1", Pictures: "original/1",
		Decoding: lvlm.Decoding{Temperature: &temperature, MaxTokens: 100, Seed: &seed, Extra: map[string]any{"top_k": 3}},
		Draw:     1,
		Transcript: dialogue.Transcript{}.System("be brief").Ask("which?", picture("a"), picture("b")).
			Answered("(b)").Ask("and now?", picture("c")),
	}
}

func callKey(t *testing.T, r lvlm.Request) (artifacts.Key, []byte) {
	t.Helper()
	doc, err := CallKey(r)
	if err != nil {
		t.Fatal(err)
	}
	key, err := doc.Key()
	if err != nil {
		t.Fatal(err)
	}
	text, err := doc.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	return key, text
}

// TestCallKeyIsPinned: the literal was made by another program (sha256 over the same canonical
// text, written by hand).
func TestCallKeyIsPinned(t *testing.T) {
	r := lvlm.Request{Model: lvlm.Identity{Provider: "acme", Snapshot: "m-1"}, Adapter: "openai/1", Pictures: "original/1",
		Transcript: dialogue.Transcript{}.Ask("hi")}
	key, text := callKey(t, r)
	const want = `{"format":"cxrepro.key/1","inputs":[{"digest":"sha256:DIGEST","name":"00.user"}],"params":{"adapter":"openai/1","decoding":{},"draw":0,"model":{"provider":"acme","snapshot":"m-1"},"pictures":"original/1"},"step":"call","version":1}`
	message := artifacts.Sum([]byte("user\n2:hi"))
	if got := strings.ReplaceAll(string(text), message.Hex(), "DIGEST"); got != want {
		t.Errorf("key document\n%s\nwant\n%s", got, want)
	}
	if got := key.String(); got != pinnedCall {
		t.Errorf("key %s, want %s", got, pinnedCall)
	}
}

// TestCallKeySeesEveryField: each change gives another key, and the comparison names the field.
func TestCallKeySeesEveryField(t *testing.T) {
	base, baseText := callKey(t, request())
	seen := map[artifacts.Key]string{base: "nothing"}
	cold, top, budget, seed := 0.0, 0.95, 0, int64(6)
	change := func(i int, text string) func(*lvlm.Request) {
		return func(r *lvlm.Request) {
			messages := append([]dialogue.Message{}, r.Transcript.Messages...)
			parts := append([]dialogue.Part{}, messages[i].Parts...)
			parts[0].Text = text
			messages[i].Parts = parts
			r.Transcript.Messages = messages
		}
	}
	for _, c := range []struct {
		field  string
		change func(r *lvlm.Request)
	}{
		{"params.model.weights", func(r *lvlm.Request) { r.Model.Weights = artifacts.Sum([]byte("other")) }},
		{"params.adapter", func(r *lvlm.Request) { r.Adapter = "openai/2" }},
		{"params.pictures", func(r *lvlm.Request) { r.Pictures = "long1024/1" }},
		{"params.draw", func(r *lvlm.Request) { r.Draw = 2 }},
		{"params.decoding.temperature", func(r *lvlm.Request) { r.Decoding.Temperature = &cold }},
		{"params.decoding.temperature", func(r *lvlm.Request) { r.Decoding.Temperature = nil }},
		{"params.decoding.top_p", func(r *lvlm.Request) { r.Decoding.TopP = &top }},
		{"params.decoding.max_tokens", func(r *lvlm.Request) { r.Decoding.MaxTokens = 101 }},
		{"params.decoding.thinking_budget", func(r *lvlm.Request) { r.Decoding.ThinkingBudget = &budget }},
		{"params.decoding.seed", func(r *lvlm.Request) { r.Decoding.Seed = &seed }},
		{"params.decoding.stop[0]", func(r *lvlm.Request) { r.Decoding.Stop = []string{"."} }},
		{"params.decoding.extra.top_k", func(r *lvlm.Request) { r.Decoding.Extra = map[string]any{"top_k": 4} }},
		{"inputs.00.system", change(0, "be long")},
		{"inputs.01.user", change(1, "which one?")},
		{"inputs.02.assistant", change(2, "(a)")},
		{"inputs.03.user", change(3, "and then?")},
		{"inputs.03.user.picture.0", func(r *lvlm.Request) {
			r.Transcript = dialogue.Transcript{}.System("be brief").Ask("which?", picture("a"), picture("b")).Answered("(b)").Ask("and now?", picture("d"))
		}},
		{"inputs.01.user.picture.0", func(r *lvlm.Request) {
			r.Transcript = dialogue.Transcript{}.System("be brief").Ask("which?", picture("b"), picture("a")).Answered("(b)").Ask("and now?", picture("c"))
		}},
	} {
		r := request()
		c.change(&r)
		key, text := callKey(t, r)
		if was, twice := seen[key]; twice {
			t.Errorf("%s: same key as with %s changed", c.field, was)
		}
		seen[key] = c.field + fmt.Sprint(len(seen))
		how, err := provenance.Compare(text, baseText)
		if err != nil || len(how.Differs) == 0 || how.Differs[0].Field != c.field {
			t.Errorf("the comparison names %+v, want %s first (%v)", how.Differs, c.field, err)
		}
	}
}

// TestCallKeyIgnoresWhereBytesLie: size, media type and order of maps are no identity.
func TestCallKeyIgnoresWhereBytesLie(t *testing.T) {
	base, _ := callKey(t, request())
	r := request()
	for i := range r.Transcript.Messages {
		for k := range r.Transcript.Messages[i].Parts {
			if p := r.Transcript.Messages[i].Parts[k].Image; p != nil {
				p.MediaType, p.Size = "image/x-other", 1
			}
		}
	}
	if key, _ := callKey(t, r); key != base {
		t.Error("another description of the same bytes moves the key")
	}
}

// TestMessageDigestsKeepTextsApart: where a text ends is part of its digest.
func TestMessageDigestsKeepTextsApart(t *testing.T) {
	one := dialogue.Message{Role: dialogue.User, Parts: []dialogue.Part{{Text: "ab"}, {Text: "c"}}}
	two := dialogue.Message{Role: dialogue.User, Parts: []dialogue.Part{{Text: "a"}, {Text: "bc"}}}
	side := dialogue.Message{Role: dialogue.Assistant, Parts: []dialogue.Part{{Text: "ab"}, {Text: "c"}}}
	if MessageDigest(one) == MessageDigest(two) || MessageDigest(one) == MessageDigest(side) {
		t.Error("two messages share a digest")
	}
}

// TestMessageDigestsKnowTheOrder: texts before pictures keep the digest they always had, which
// tells nothing of pictures; any other order has one of its own.
func TestMessageDigestsKnowTheOrder(t *testing.T) {
	a, b, p := dialogue.Part{Text: "a"}, dialogue.Part{Text: "b"}, dialogue.Part{Image: &artifacts.Ref{}}
	message := func(parts ...dialogue.Part) dialogue.Message {
		return dialogue.Message{Role: dialogue.User, Parts: parts}
	}
	for _, m := range []dialogue.Message{message(a, b), message(a, b, p), message(a, b, p, p)} {
		if got, want := MessageDigest(m), artifacts.Sum([]byte("user\n1:a\n1:b")); got != want {
			t.Errorf("%d parts, texts first: %s, want %s", len(m.Parts), got, want)
		}
	}
	// By hand: sha256 over the same text.
	if got, want := MessageDigest(message(p, a, p, b)), artifacts.Sum([]byte("user\npicture\n1:a\npicture\n1:b")); got != want {
		t.Errorf("mixed: %s, want %s", got, want)
	}
	seen := map[artifacts.Digest]int{}
	for i, m := range []dialogue.Message{
		message(a, b, p, p), message(p, a, b, p), message(p, p, a, b), message(a, p, b, p), message(a, p, p, b), message(p, a, p, b), message(p, b, p, a),
	} {
		if j, there := seen[MessageDigest(m)]; there {
			t.Errorf("orders %d and %d share a digest", i, j)
		}
		seen[MessageDigest(m)] = i
	}
	if d := MessageDigest(message(p, dialogue.Part{Text: "\npicture\n1:a"})); d == MessageDigest(message(p, p, a)) {
		t.Error("a text that looks like a picture and a text is taken for them")
	}
}

func TestCallOutcomeKey(t *testing.T) {
	doc, err := CallKey(request())
	if err != nil {
		t.Fatal(err)
	}
	first, err0 := CallOutcomeKey(doc, 0).Key()
	second, err1 := CallOutcomeKey(doc, 1).Key()
	call, err2 := doc.Key()
	if err0 != nil || err1 != nil || err2 != nil || first == second || first == call || first.Step != StepCallOutcome {
		t.Errorf("%s, %s, %s: %v %v %v", call, first, second, err0, err1, err2)
	}
	if _, has := doc.Params["round"]; has {
		t.Error("the outcome's round leaked into the call's document")
	}
}

func TestCallKeyRefuses(t *testing.T) {
	for want, change := range map[string]func(*lvlm.Request){
		"neither by its weights": func(r *lvlm.Request) { r.Model = lvlm.Identity{Unpinned: "nobody knows"} },
		"adapter":                func(r *lvlm.Request) { r.Adapter = "" },
		"picture rule":           func(r *lvlm.Request) { r.Pictures = "" },
		"draw -1":                func(r *lvlm.Request) { r.Draw = -1 },
		"ends with a question":   func(r *lvlm.Request) { r.Transcript = r.Transcript.Answered("(a)") },
	} {
		r := request()
		change(&r)
		if _, err := CallKey(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// pinnedCall is the digest that Python gives for the document above.
const pinnedCall = "call/sha256:12136eeaed69318819c8bf0efbf944d0ac53b195c144ef16181c37d8a3077685"
