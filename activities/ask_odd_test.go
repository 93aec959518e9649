package activities

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/ledger"
	"cxrepro/internal/ledger/limit"
	"cxrepro/internal/lvlm"
)

// odd is an endpoint that answers what no adapter should hand on.
type odd func() (lvlm.Reply, error)

func (o odd) Prepare(context.Context, lvlm.Request, lvlm.PictureFunc) (lvlm.Send, error) {
	return func(context.Context) (lvlm.Reply, error) { return o() }, nil
}

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
		in.Budget = 3 * testPrice{}.Cost((&call{Call: &q.Call}).most())
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

// within runs the activity as one attempt whose time is up after d, with its own error.
func within(t *testing.T, a *Activities, in contract.AskInput, d time.Duration) (err error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivityWithOptions(func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		_, err = a.Ask(ctx, in)
		if ctx.Err() != nil {
			t.Errorf("ended only after the server gave up: %v", err)
		}
		return nil
	}, activity.RegisterOptions{Name: "within"})
	if _, err := env.ExecuteActivity("within"); err != nil {
		t.Fatal(err)
	}
	return err
}

// TestTimeIsUp: a call whose time is up while it waits is a failure of the endpoint that it
// waited for, known before the server gives up.
func TestTimeIsUp(t *testing.T) {
	for _, closed := range []bool{false, true} {
		l := newAskLab(t)
		e := l.endpoint("http://127.0.0.1:1", place{limits: limit.Limits{Concurrency: 1}, patience: time.Hour})
		want := contract.ErrTypeUnreachable
		if closed {
			e.Gate.Close(time.Now().Add(time.Minute))
			want = contract.ErrTypeThrottled
		} else { // another call has the only place
			p, err := e.Gate.Admit(context.Background(), limit.Want{Tokens: 1})
			if err == nil {
				err = p.Enter(context.Background())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		err := within(t, l.worker("one", e), l.input(0), 2*time.Second)
		if got := classify(err); got != want || !contains(err.Error(), "endpoint here", "time of the attempt") {
			t.Errorf("closed %t: %s: %v", closed, got, err)
		}
	}
}

// TestSilence: a request that was cut off may have been billed, and the account says so.
func TestSilence(t *testing.T) {
	l := newAskLab(t)
	asked := 0
	e := l.odd(nil, place{timeout: time.Millisecond})
	e.Asker = odd(func() (lvlm.Reply, error) {
		if asked++; asked == 1 {
			time.Sleep(50 * time.Millisecond)
			return lvlm.Reply{}, context.DeadlineExceeded
		}
		return lvlm.Reply{Answer: lvlm.Answer{Outcome: lvlm.Answered, Text: "(a)"}, Served: lvlm.Served{Usage: dialogue.Usage{Calls: 1, Prompt: 1}}}, nil
	})
	a := l.worker("one", e)
	a.asks.overtime = time.Millisecond
	_, err := ask(a, l.input(0))
	if app := failure(t, err); app.Type() != contract.ErrTypeUnreachable || app.NonRetryable() {
		t.Errorf("%s: %s", app.Type(), app.Message())
	}
	if n := l.mustAsk(a, l.input(0)).Count; n.Attempts != 2 || n.MaybeBilled != 1 {
		t.Errorf("%+v", n)
	}
}
