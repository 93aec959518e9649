package lvlm

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"cxrepro/internal/dialogue"
)

// TestMendTexts: every text of a reply can be recorded afterwards, new fields included.
func TestMendTexts(t *testing.T) {
	var r Reply
	var strs []reflect.Value
	for _, v := range []reflect.Value{reflect.ValueOf(&r.Answer).Elem(), reflect.ValueOf(&r.Served).Elem()} {
		for i := range v.NumField() {
			if f := v.Field(i); f.Kind() == reflect.String && f.Type() == reflect.TypeFor[string]() && v.Type().Field(i).Name != "Format" {
				f.SetString("a\xff\xfeb\xc3(\xed\xa0\x80")
				strs = append(strs, f)
			}
		}
	}
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
