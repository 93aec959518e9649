package plan

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"cxrepro/internal/contract"
)

func TestFigures(t *testing.T) {
	for _, c := range []struct {
		a    amount
		want string
	}{
		{amount{}, "0"}, {sure(12), "12"}, {span(3, 9), "3..9"}, {about(3, 9, 4), "3..9 (~4)"}, {about(3, 9, 99), "3..9 (~9)"}, {dark(), "?"},
		{sure(2).plus(span(0, 3)), "2..5"}, {about(0, 4, 1).plus(sure(10)), "10..14 (~11)"}, {about(0, 4, 1).plus(about(1, 2, 2)), "1..6 (~3)"},
		{about(0, 4, 1).plus(span(0, 1)), "0..5"}, {sure(5).plus(dark()), "?"},
		{sure(10).times(1, 2, 3), "10..30 (~20)"}, {about(0, 4, 1).times(2, 3, 5), "0..20 (~3)"}, {span(0, 4).times(1, 2, 3), "0..12"}, {dark().times(1, 2, 3), "?"},
	} {
		f := c.a.figure()
		if got := f.String(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.a, got, c.want)
		}
		text, err := json.Marshal(f)
		var back Figure
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back.String() != c.want {
			t.Errorf("%s: %s after %s, %v", c.want, back, text, err)
		}
		if zero := c.want == "0"; f.Zero() != zero {
			t.Errorf("%s: zero %t", c.want, f.Zero())
		}
	}
	// What is unknown is no number in any form.
	if text, _ := json.Marshal(dark().figure()); string(text) != `{"mark":"unknown"}` {
		t.Errorf("unknown: %s", text)
	}
}

// TestFigureOfAFile refuses figures of a file without the numbers that they need.
func TestFigureOfAFile(t *testing.T) {
	for _, text := range []string{`{}`, `{"mark":"exact"}`, `{"mark":"between","low":1}`, `{"mark":"sure","value":1}`, `7`} {
		var f Figure
		if err := json.Unmarshal([]byte(text), &f); err == nil {
			t.Errorf("%s was read as %s", text, f)
		}
	}
}

// TestFinished holds that a plan of a finished reproduction is right only if the receipt is older.
func TestFinished(t *testing.T) {
	made := time.Unix(100, 0)
	for ended, want := range map[time.Time]string{made.Add(-time.Second): VerdictEqual, made.Add(time.Second): VerdictOff} {
		c, err := Compare(t.Context(), nil, &Forecast{Format: Format, Finished: true, Made: made}, &contract.Receipt{Ended: ended})
		if err != nil || len(c.Verdicts) != 1 || c.Verdicts[0].Verdict != want {
			t.Errorf("ended %v, planned %v: %+v, %v", ended, made, c, err)
		}
	}
}

// TestTally holds that needed is the sum of what becomes of keys, by every bound.
func TestTally(t *testing.T) {
	var one tally
	one.found(true, 2)
	one.found(false, 3)
	one.missing(4)
	one.perhaps(sure(1), about(0, 1, 1))
	one.perhaps(about(2, 6, 3), about(0, 6, 2))
	if got := one.needed.figure().String() + " " + one.reused.figure().String() + " " + one.done.figure().String() + " " + one.run.figure().String(); got != "12..16 (~13) 3..10 (~4) 2 4..11 (~7)" {
		t.Error(got)
	}
}

func TestVerdicts(t *testing.T) {
	c := &Check{}
	c.counted("exact", sure(3).figure(), 3)
	c.counted("wrong", sure(3).figure(), 4)
	c.counted("inside", span(1, 5).figure(), 5)
	c.counted("outside", span(1, 5).figure(), 0)
	c.counted("dark", dark().figure(), 7)
	c.recorded("tokens", span(1, 5).figure(), 6)
	var words []string
	for _, v := range c.Verdicts {
		words = append(words, v.Verdict)
	}
	if got := strings.Join(words, ", "); got != "equal, off, in the range, off, was unknown, beyond what was recorded" || c.Equal != 1 || c.Off != 2 || c.Within != 1 || c.Unknown != 1 || c.Beyond != 1 {
		t.Errorf("%s: %+v", got, c)
	}
}

func TestReasonsInWords(t *testing.T) {
	r := reasons{}
	r.merge(Reason{Field: "params.x", Ours: "1", Other: "2", Keys: 3})
	r.merge(Reason{Field: "params.x", Ours: "1", Other: "2", Keys: 4})
	r.merge(Reason{Field: "inputs.image", Keys: 9})
	r.after("segment", 1)
	if got, want := reasonsInWords(sorted(r.list)), "9: inputs.image is another one; 7: params.x is 1, was 2; and 1 more reasons"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
