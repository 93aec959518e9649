package dialogue

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cxrepro/artifacts"
)

func ref(name string) artifacts.Ref {
	return artifacts.Ref{Digest: artifacts.Sum([]byte(name)), Size: int64(len(name)), MediaType: "image/png"}
}

// TestTranscript: text first, then pictures; earlier transcripts keep what they are, also when
// two conversations grow from one.
func TestTranscript(t *testing.T) {
	start := Transcript{}.System("be brief").Ask("Which?", ref("a"), ref("b")).Answered("(b)")
	one, two := start.Ask("And now?"), start.Ask("Or else?", ref("c"))
	if err := errorsOf(one, two); err != nil {
		t.Error(err)
	}
	if one.Messages[3].Text() != "And now?" || two.Messages[3].Text() != "Or else?" {
		t.Error("conversations that grow from one share their end")
	}
	if d := cmp.Diff([]artifacts.Ref{ref("a"), ref("b"), ref("c")}, two.Images()); d != "" {
		t.Errorf("pictures:\n%s", d)
	}
	if one.Turns() != 2 || start.Messages[1].Parts[0].Text != "Which?" || start.Messages[1].Parts[1].Image == nil {
		t.Errorf("turns %d, parts %+v", one.Turns(), start.Messages[1].Parts)
	}
	a, err := artifacts.Canonical(two)
	if err != nil {
		t.Fatal(err)
	}
	var back Transcript
	if err := json.Unmarshal(a, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(two, back); d != "" {
		t.Errorf("encoding loses:\n%s", d)
	}
	empty := Transcript{}.Ask("q").Answered("").Ask("r")
	if err := empty.Validate(); err != nil || len(empty.Messages) != 3 {
		t.Errorf("an empty reply keeps its turn: %v", err)
	}
}

func errorsOf(list ...Transcript) error {
	for _, t := range list {
		if err := t.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// TestValidate names every fault.
func TestValidate(t *testing.T) {
	r := ref("a")
	for want, bad := range map[string]Transcript{
		"ends with a question": Transcript{}.Ask("q").Answered("a"),
		"turn of assistant":    Transcript{}.Ask("q").Ask("r"),
		"turn of user":         Transcript{}.Answered("a").Ask("q"),
		"must be the first":    Transcript{}.Ask("q").System("s").Ask("r"),
		"invalid role 0":       {Messages: []Message{{Parts: []Part{{Text: "q"}}}}},
		"no parts":             {Messages: []Message{{Role: User}}},
		"a text or a picture":  {Messages: []Message{{Role: User, Parts: []Part{{Text: "q", Image: &r}}}}},
		"only questions":       {Messages: []Message{{Role: System, Parts: []Part{{Image: &r}}}, {Role: User, Parts: []Part{{Text: "q"}}}}},
	} {
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if (Transcript{}).Validate() == nil {
		t.Error("an empty transcript cannot be answered")
	}
}

// TestOrderOfParts: any order can be sent; only a text after a picture is not texts first.
func TestOrderOfParts(t *testing.T) {
	r := ref("a")
	q, p := Part{Text: "q"}, Part{Image: &r}
	for _, c := range []struct {
		parts []Part
		first bool
	}{{[]Part{q}, true}, {[]Part{p}, true}, {[]Part{q, q, p, p}, true}, {[]Part{p, q}, false}, {[]Part{q, p, q, p}, false}} {
		m := Message{Role: User, Parts: c.parts}
		if err := errorsOf(Transcript{Messages: []Message{m}}); err != nil || m.TextsFirst() != c.first {
			t.Errorf("%v: texts first %t, want %t, %v", c.parts, m.TextsFirst(), c.first, err)
		}
	}
}

// TestUsage: sums do not depend on order.
func TestUsage(t *testing.T) {
	a, b := Usage{Calls: 1, Prompt: 100, Cached: 40, Completion: 7, Thinking: 3}, Usage{Unreported: 1}
	if a.Add(b) != b.Add(a) || a.Add(a).Total() != 214 || a.Add(b).Unreported != 1 {
		t.Errorf("%+v", a.Add(b))
	}
}
