package bench

import (
	"errors"
	"strings"
	"testing"

	"cxrepro/internal/xragent"
)

// TestExternal: replies and answers of another system are scored like ours and marked; each thing
// that can be wrong is named with its line.
func TestExternal(t *testing.T) {
	items := []xragent.Item{{ID: "chestagentbench/q1", Question: six}, {ID: "chestagentbench/q2", Question: six}}
	read := func(text string) ([]xragent.Outcome, error) {
		return ReadExternal("r.jsonl", []byte(text), "xr.baseline.x", items, Strict)
	}
	got, err := read(`{"item":"chestagentbench/q1","reply":"The answer is B."}
{"item":"chestagentbench/q2","answer":"c"}
{"item":"chestagentbench/q1","repeat":1,"reply":"The film is odd"}`)
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	for i, want := range []xragent.Outcome{
		{Item: "chestagentbench/q1", Config: "xr.baseline.x", Reply: "The answer is B.", Answer: "B", Correct: true, External: true},
		{Item: "chestagentbench/q2", Config: "xr.baseline.x", Answer: "C", External: true},
		{Item: "chestagentbench/q1", Config: "xr.baseline.x", Repeat: 1, Reply: "The film is odd", Unparsed: true, External: true},
	} {
		if o := got[i]; o.Item != want.Item || o.Config != want.Config || o.Repeat != want.Repeat || o.Reply != want.Reply || o.Answer != want.Answer ||
			o.Unparsed != want.Unparsed || o.Correct != want.Correct || !o.External || o.Validate() != nil {
			t.Errorf("%d: got %+v, want %+v", i, o, want)
		}
	}
	lucky, err := ReadExternal("r.jsonl", []byte(`{"item":"chestagentbench/q1","reply":"The film"}`), "xr.baseline.x", items, MedRAXCompat)
	if err != nil || lucky[0].Answer != "E" {
		t.Error(lucky, err)
	}
	for text, want := range map[string]string{
		`{"item":"chestagentbench/q9","reply":"B"}`:              "r.jsonl:1: item: source_unknown",
		`{"item":"chestagentbench/q1"}`:                          "r.jsonl:1: reply: field_missing",
		`{"item":"chestagentbench/q1","reply":"B","answer":"B"}`: "r.jsonl:1: answer: field_type",
		`{"item":"chestagentbench/q1","reply":"B","note":1}`:     "r.jsonl:1: file_malformed",
		`{"item":"chestagentbench/q1","reply":"B","repeat":-1}`:  "r.jsonl:1: repeat: field_type",
		"": "r.jsonl: file_malformed: the file holds no result",
		"\n{\"item\":\"chestagentbench/q1\",\"reply\":\"B\"}\n{\"item\":\"chestagentbench/q1\",\"reply\":\"C\"}": "r.jsonl:3: item: duplicate_id",
	} {
		_, err := read(text)
		var e *ExternalError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "hint: ") {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	if _, err := ReadExternal("r.jsonl", nil, "xr.default", items, Strict); err == nil {
		t.Error("results made elsewhere were taken as ours")
	}
}
