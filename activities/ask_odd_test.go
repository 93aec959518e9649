package activities

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/ledger"
	"cxrepro/internal/lvlm"
)

// odd is an endpoint that answers what no adapter should hand on.
type odd func() (lvlm.Reply, error)

func (o odd) Ask(context.Context, lvlm.Request, lvlm.PictureFunc) (lvlm.Reply, error) { return o() }

func (l *askLab) odd(o odd, p place) *AskEndpoint {
	e := l.endpoint("http://127.0.0.1:1", p)
	e.Asker = o
	return e
}

// TestTextThatIsNotUTF8: such a reply is recorded, counted and not asked for again.
func TestTextThatIsNotUTF8(t *testing.T) {
	l := newAskLab(t)
	asked := 0
	a := l.worker("one", l.odd(func() (lvlm.Reply, error) {
		asked++
		return lvlm.Reply{Answer: lvlm.Answer{Outcome: lvlm.Answered, Text: "(a) \xff\xfe", Finish: "st\xffop"},
			Served: lvlm.Served{Model: "m\xc3(", Fingerprint: "\xff", RequestID: "\xff", Usage: dialogue.Usage{Calls: 1, Prompt: 7, Completion: 3}}}, nil
	}, place{price: testPrice{}}))
	in := l.input(0)
	for range 2 {
		out := l.mustAsk(a, in)
		if out.Score != cxreasonbench.Right || out.Count.Usage.Prompt != 7 || out.Count.Cost != 2*7+8*3 || asked != 1 {
			t.Errorf("%+v after %d requests", out, asked)
		}
	}
	e := l.entry(a, in)
	got, err := a.asks.answer(context.Background(), e.Record.Result)
	if err != nil || got.Text != "(a) \uFFFD" || got.Finish != "st\uFFFDop" || !strings.Contains(got.Detail, "UTF-8") || e.Facts.Served.Model != "m\uFFFD(" {
		t.Errorf("recorded %+v, %+v, %v", got, e.Facts.Served, err)
	}
}

// TestCodeThatIsNotUTF8: the attempt of such a failure is noted.
func TestCodeThatIsNotUTF8(t *testing.T) {
	var attempts ledger.Attempts
	for _, code := range []string{"\xff", strings.Repeat("x", 63) + "é", strings.Repeat("\xff", 99)} {
		attempts.Failure(time.Now(), time.Now(), "w", &lvlm.CallError{Class: lvlm.Throttled, Code: code})
	}
	if _, err := attempts.Note(); err != nil {
		t.Error(err)
	}
	for _, one := range attempts.Last {
		if !utf8.ValidString(one.Code) || len(one.Code) > 66 {
			t.Errorf("%q", one.Code)
		}
	}
}
