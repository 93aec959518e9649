package lvlm

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"cxrepro/internal/dialogue"
)

// texts fills every text of a reply but its format, new fields included.
func texts(r *Reply, with string) (strs []reflect.Value) {
	for _, v := range []reflect.Value{reflect.ValueOf(&r.Answer).Elem(), reflect.ValueOf(&r.Served).Elem()} {
		for i := range v.NumField() {
			if f := v.Field(i); f.Type() == reflect.TypeFor[string]() && v.Type().Field(i).Name != "Format" {
				f.SetString(with)
				strs = append(strs, f)
			}
		}
	}
	return strs
}

// TestHide: no text of a reply tells a credential afterwards.
func TestHide(t *testing.T) {
	const key = "sk-planted-0123456789"
	var r Reply
	strs := texts(&r, "a "+key+" b"+key)
	r.Hide(NewSecret(key))
	for _, f := range strs {
		if s := f.String(); !strings.HasPrefix(s, "a *** b***") {
			t.Errorf("%q", s)
		}
	}
	if !strings.Contains(r.Answer.Detail, "repeated a credential") {
		t.Errorf("detail %q says nothing of it", r.Answer.Detail)
	}
	plain := Reply{Answer: Answer{Text: "sk-planted"}}
	same := plain
	same.Hide(NewSecret(key))
	same.Hide(Secret{})
	if same != plain {
		t.Errorf("%+v became %+v", plain, same)
	}
}

// TestMendTexts: every text of a reply can be recorded afterwards, new fields included.
func TestMendTexts(t *testing.T) {
	var r Reply
	strs := texts(&r, "a\xff\xfeb\xc3(\xed\xa0\x80")
	r.Mend()
	for _, f := range strs {
		if s := f.String(); !utf8.ValidString(s) || !strings.HasPrefix(s, "a\uFFFDb\uFFFD(\uFFFD") {
			t.Errorf("%q", s)
		}
	}
	if !strings.Contains(r.Answer.Detail, "not UTF-8") {
		t.Errorf("detail %q says nothing of it", r.Answer.Detail)
	}
	good := Reply{Answer: Answer{Text: "\uFFFD é", Detail: "d"}, Served: Served{Usage: dialogue.Usage{Calls: 1, Prompt: MaxTokens, Cached: 3}}}
	mended := good
	if mended.Mend(); mended != good {
		t.Errorf("%+v became %+v", good, mended)
	}
}

// TestMendUsage: counts that cannot be true count as unreported.
func TestMendUsage(t *testing.T) {
	for _, u := range []dialogue.Usage{
		{Calls: 1, Prompt: -1}, {Calls: 1, Completion: -5, Prompt: 10}, {Calls: 1, Prompt: math.MaxInt64, Completion: 1},
		{Calls: 1, Prompt: 10, Cached: 11}, {Calls: 1, Prompt: 10, Cached: -1}, {Calls: 1, Prompt: 1, Thinking: MaxTokens + 1}, {Calls: -1, Prompt: 1},
	} {
		r := Reply{Served: Served{Usage: u}}
		if r.Mend(); r.Served.Usage != (dialogue.Usage{Unreported: 1}) {
			t.Errorf("%+v became %+v", u, r.Served.Usage)
		}
	}
}
