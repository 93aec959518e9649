package lvlm

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"cxrepro/internal/dialogue"
)

// TestAdapters: every name has a version, and versions are pinned: they stand in keys.
func TestAdapters(t *testing.T) {
	want := map[string]string{OpenAI: "chat/1", Azure: "chat/1", Gemini: "gemini/1"}
	if len(Adapters()) != len(want) || !slices.IsSorted(Adapters()) {
		t.Errorf("adapters %v", Adapters())
	}
	for _, name := range Adapters() {
		if v, err := AdapterVersion(name); err != nil || v != want[name] {
			t.Errorf("%s is %q, %v", name, v, err)
		}
	}
	if _, err := AdapterVersion("bard"); err == nil || !strings.Contains(err.Error(), "azure, gemini, openai") {
		t.Errorf("an unknown adapter: %v", err)
	}
}

func TestCheckExtra(t *testing.T) {
	for _, c := range []struct {
		version, name string
		ok            bool
	}{
		{ChatVersion, "top_k", true}, {ChatVersion, "chat_template_kwargs", true}, {ChatVersion, "messages", false}, {ChatVersion, "n", false},
		{ChatVersion, "stream", false}, {ChatVersion, "temperature", false}, {GeminiVersion, "safety", true}, {GeminiVersion, "min_p", false},
	} {
		if err := CheckExtra(c.version, c.name); (err == nil) != c.ok {
			t.Errorf("%s %s: %v", c.version, c.name, err)
		}
	}
}

// TestClosed: outcomes and classes are what they are, and the zero value is none.
func TestClosed(t *testing.T) {
	if Outcome("").Valid() || Outcome("maybe").Valid() || len(Outcomes()) != 6 {
		t.Error("an outcome that is none")
	}
	for _, o := range Outcomes() {
		if !o.Valid() {
			t.Errorf("%s is no outcome", o)
		}
	}
	pauses := map[Class]bool{Throttled: false, Transient: false, Denied: true, Quota: true, Configured: true}
	if len(Classes()) != len(pauses) {
		t.Errorf("classes %v", Classes())
	}
	for _, c := range Classes() {
		if e := (&CallError{Class: c}); e.Pauses() != pauses[c] || !strings.Contains(e.Error(), string(c)) {
			t.Errorf("%s: pauses %t, %v", c, e.Pauses(), e)
		}
	}
	e := &CallError{Class: Transient, Status: 503, Code: "busy", Detail: "later", Cause: context.Canceled}
	if e.Error() != "model endpoint: transient, status 503, busy: later" || !errors.Is(e, context.Canceled) {
		t.Errorf("%v", e)
	}
}

// TestAnswerBytes: recorded answers keep their form.
func TestAnswerBytes(t *testing.T) {
	got, err := json.Marshal(Answer{Format: AnswerFormat, Outcome: Answered, Text: "(a)", Finish: "stop"})
	if want := `{"format":"cxrepro-answer-1","outcome":"answered","text":"(a)","finish":"stop"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	r := Request{Transcript: dialogue.Transcript{}.System("s").Ask("q")}
	if !slices.Equal(r.Texts(), []string{"s", "q"}) {
		t.Errorf("texts %v", r.Texts())
	}
}
