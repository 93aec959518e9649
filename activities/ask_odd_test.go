package activities

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cxrepro/internal/contract"
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

// TestUsageThatCannotBe: the reply counts as one without usage, and what was set aside for it
// stays spent.
func TestUsageThatCannotBe(t *testing.T) {
	for _, u := range []dialogue.Usage{{Calls: 1, Prompt: -1 << 40, Completion: 3}, {Calls: 1, Prompt: 1 << 62, Completion: 1 << 62}, {Calls: 1, Prompt: 5, Cached: 1 << 30}} {
		l := newAskLab(t)
		sent := 0
		a := l.worker("one", l.odd(func() (lvlm.Reply, error) {
			sent++
			return lvlm.Reply{Answer: lvlm.Answer{Outcome: lvlm.Answered, Text: "(a)"}, Served: lvlm.Served{Usage: u}}, nil
		}, place{price: testPrice{}}))
		in := l.input(0)
		q, err := a.asks.question(a, context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		in.Budget = 3 * testPrice{}.Cost(q.most())
		in.Evaluation = 1
		done := 0
		for draw := range 9 {
			in.Call.Draw = draw
			out, err := ask(a, in)
			if err != nil {
				if app := failure(t, err); app.Type() != contract.ErrTypeBudget {
					t.Fatal(err)
				}
				continue
			}
			done++
			if out.Count.Usage != (dialogue.Usage{Unreported: 1}) || out.Count.Cost != 0 || out.Count.Unpriced != 1 {
				t.Errorf("%+v of %+v", out.Count, u)
			}
		}
		if done != 3 || sent != 3 {
			t.Errorf("%+v: a budget for three calls made %d, %d sent", u, done, sent)
		}
	}
}
