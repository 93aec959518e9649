package ledger

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/contract"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/provenance"
)

type price struct{}

func (price) Cost(u dialogue.Usage) int64 { return 2*u.Prompt + 8*u.Completion }
func (price) Unit() string                { return "USD" }

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func reply(o lvlm.Outcome, prompt, completion int64) lvlm.Reply {
	return lvlm.Reply{Answer: lvlm.Answer{Format: lvlm.AnswerFormat, Outcome: o, Text: "t"},
		Served: lvlm.Served{Model: "m", Usage: dialogue.Usage{Calls: 1, Prompt: prompt, Completion: completion}, Latency: 100 * time.Millisecond}}
}

func document(t *testing.T, text string) (artifacts.KeyDoc, artifacts.Key) {
	t.Helper()
	doc, err := contract.CallKey(lvlm.Request{Model: lvlm.Identity{Provider: "p", Snapshot: "s"}, Adapter: "chat/1", Pictures: "original/1",
		Transcript: dialogue.Transcript{}.Ask(text)})
	if err != nil {
		t.Fatal(err)
	}
	key, err := doc.Key()
	if err != nil {
		t.Fatal(err)
	}
	return doc, key
}

// TestAttemptsAreInherited: what earlier holders of a claim sent is in the sums of the last one,
// with the request that nobody saw the end of.
func TestAttemptsAreInherited(t *testing.T) {
	store, ctx := memstore.Open(), context.Background()
	_, key := document(t, "q")
	claim := func(worker string, attempt int, ttl time.Duration) (*artifacts.Claim, Attempts) {
		t.Helper()
		c, err := store.Claim(ctx, key, artifacts.Owner{Worker: worker, Workflow: "w", Activity: "a", Attempt: attempt}, ttl)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Inherit(c)
		if err != nil {
			t.Fatal(err)
		}
		return c, a
	}
	annotate := func(c *artifacts.Claim, a *Attempts) {
		t.Helper()
		note, err := a.Note()
		if err == nil {
			err = store.Annotate(ctx, c, note)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c, a := claim("one", 1, time.Minute)
	if a.Sent != 0 {
		t.Errorf("the first holder inherits %+v", a)
	}
	a.Failure(began, began.Add(time.Second), "one", &lvlm.CallError{Class: lvlm.Throttled, Status: 429, Sent: true})
	a.Failure(began, began.Add(time.Second), "one", &lvlm.CallError{Class: lvlm.Transient})
	annotate(c, &a)
	if err := store.Release(ctx, c); err != nil {
		t.Fatal(err)
	}
	c, a = claim("two", 2, time.Minute)
	if a.Sent != 1 || a.MaybeBilled != 0 || contract.Total(a.Ends) != 2 {
		t.Errorf("after a release: %+v", a)
	}
	a.Reply(began, "two", reply(lvlm.Refusal, 100, 10), price{})
	annotate(c, &a)
	// two dies; the server gives the activity to three.
	_, a = claim("three", 3, time.Minute)
	if a.Sent != 3 || a.MaybeBilled != 1 || a.Usage.Prompt != 100 || a.Cost != 280 || a.Currency != "USD" || a.Busy != 2100*time.Millisecond {
		t.Errorf("after a death: %+v", a)
	}
	if last := a.Last[len(a.Last)-1]; last.End != Unseen || last.Worker != "two" {
		t.Errorf("the unseen attempt is %+v", last)
	}
}

func TestManyAttemptsStaySmall(t *testing.T) {
	var a Attempts
	for range 5000 {
		a.Failure(began, began, "w", &lvlm.CallError{Class: lvlm.Transient, Status: 503, Sent: true, Code: strings.Repeat("x", 500)})
	}
	note, err := a.Note()
	if err != nil || len(note) > 8<<10 || a.Sent != 5000 || a.MaybeBilled != 0 {
		t.Errorf("a note of %d bytes, %d sent, %v", len(note), a.Sent, err)
	}
}

func TestMaybeBilled(t *testing.T) {
	for _, c := range []struct {
		e    lvlm.CallError
		want bool
	}{
		{lvlm.CallError{Class: lvlm.Transient, Sent: true}, true},               // no reply
		{lvlm.CallError{Class: lvlm.Transient, Sent: true, Status: 200}, true},  // a cut body
		{lvlm.CallError{Class: lvlm.Transient, Sent: true, Status: 500}, false}, // an error
		{lvlm.CallError{Class: lvlm.Transient}, false},                          // nobody there
		{lvlm.CallError{Class: lvlm.Throttled, Sent: true, Status: 429}, false},
	} {
		if got := MaybeBilled(&c.e); got != c.want {
			t.Errorf("%+v: %t", c.e, got)
		}
	}
}

// record commits a call's record as an activity would.
func record(t *testing.T, store *artifacts.Repository, doc artifacts.KeyDoc, answer string, f Facts) Entry {
	t.Helper()
	ctx := context.Background()
	key, err := doc.Key()
	if err != nil {
		t.Fatal(err)
	}
	c, err := store.Claim(ctx, key, artifacts.Owner{Worker: "w", Reproduction: "r"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := store.Put(ctx, []byte(answer), lvlm.AnswerMediaType)
	if err != nil {
		t.Fatal(err)
	}
	inv := provenance.InvocationOf(c)
	inv.Started, inv.Finished = began, began.Add(time.Second)
	text, err := Statement(doc, ref, f, inv, nil, provenance.Code{}, provenance.Environment{})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := store.CommitInline(ctx, c, artifacts.Record{Key: key, Result: ref}, text)
	if err == nil {
		err = store.Release(ctx, c)
	}
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(ctx, store, rec)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestFind: an answer before an outcome, the latest round before earlier ones, and classes that
// a round asks again are no hit in earlier rounds.
func TestFind(t *testing.T) {
	store, ctx := memstore.Open(), context.Background()
	doc, _ := document(t, "q")
	call, err := NewCall(doc)
	if err != nil {
		t.Fatal(err)
	}
	find := func(r Retry) (Entry, error) { return Find(ctx, store, call, r) }
	if _, err := find(Retry{}); !errors.Is(err, artifacts.ErrNotFound) {
		t.Errorf("an empty ledger: %v", err)
	}
	record(t, store, contract.CallOutcomeKey(doc, 0), "refused", Facts{Kind: KindModel, Outcome: lvlm.Refusal})
	for _, c := range []struct {
		retry Retry
		found bool
	}{
		{Retry{}, true},
		{Retry{Outcomes: []lvlm.Outcome{lvlm.Refusal}}, true}, // round 0 is this one
		{Retry{Outcomes: []lvlm.Outcome{lvlm.Refusal}, Round: 1}, false},
		{Retry{Outcomes: []lvlm.Outcome{lvlm.Empty}, Round: 1}, true},
	} {
		if _, err := find(c.retry); (err == nil) != c.found {
			t.Errorf("%+v: %v, want found %t", c.retry, err, c.found)
		}
	}
	record(t, store, contract.CallOutcomeKey(doc, 1), "empty", Facts{Kind: KindModel, Outcome: lvlm.Empty})
	for _, c := range []struct {
		retry Retry
		want  lvlm.Outcome
	}{
		{Retry{}, lvlm.Refusal},
		{Retry{Outcomes: []lvlm.Outcome{lvlm.Refusal}, Round: 1}, lvlm.Empty},
		{Retry{Outcomes: []lvlm.Outcome{lvlm.Refusal}, Round: 2}, lvlm.Empty},
		{Retry{Outcomes: []lvlm.Outcome{lvlm.Empty}, Round: 2}, ""},
	} {
		e, err := find(c.retry)
		if e.Facts.Outcome != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %s, %v, want %s", c.retry, e.Facts.Outcome, err, c.want)
		}
	}
	record(t, store, doc, "yes", Facts{Kind: KindModel, Outcome: lvlm.Answered})
	for round := range 3 {
		if e, err := find(Retry{Round: round}); err != nil || e.Record.Key.Step != contract.StepCall {
			t.Errorf("round %d does not find the answer: %+v, %v", round, e.Record.Key, err)
		}
	}
}

// TestCount: the maker's reproduction pays, others reuse.
func TestCount(t *testing.T) {
	var a Attempts
	a.Unseen("dead")
	a.Failure(began, began, "w", &lvlm.CallError{Class: lvlm.Throttled, Status: 429, Sent: true})
	a.Reply(began, "w", reply(lvlm.Refusal, 100, 1), price{})
	a.Reply(began, "w", reply(lvlm.Answered, 100, 10), price{})
	doc, _ := document(t, "q")
	e := record(t, memstore.Open(), doc, "yes", Facts{Kind: KindModel, Outcome: lvlm.Answered, Served: reply(lvlm.Answered, 100, 10).Served, Attempts: a})
	mine, other := e.Count("r"), e.Count("s")
	if mine.Needed != 1 || mine.Run != 1 || mine.Attempts != 4 || mine.MaybeBilled != 1 || mine.Repeated != 1 || mine.Cost != 488 || mine.Usage.Prompt != 200 || mine.Busy < 0.2 {
		t.Errorf("the maker counts %+v", mine)
	}
	if contract.Total(mine.Failures) != 3 {
		t.Errorf("failures %+v, want the refusal, the throttled and the unseen one", mine.Failures)
	}
	if other.Needed != 1 || other.Reused != 1 || other.Run != 0 || other.Attempts != 0 || other.Cost != 0 {
		t.Errorf("another reproduction counts %+v", other)
	}
}

// TestMoneyOfTwoKinds is never summed up.
func TestMoneyOfTwoKinds(t *testing.T) {
	var a Attempts
	a.Reply(began, "w", reply(lvlm.Refusal, 100, 1), euros{})
	a.Reply(began, "w", reply(lvlm.Answered, 100, 1), price{})
	a.Reply(began, "w", reply(lvlm.Answered, 100, 1), nil)
	if a.Cost != 1 || a.Currency != "EUR" || a.Unpriced != 2 {
		t.Errorf("%+v", a)
	}
}

type euros struct{}

func (euros) Cost(dialogue.Usage) int64 { return 1 }
func (euros) Unit() string              { return "EUR" }

func TestForeignStatements(t *testing.T) {
	if _, err := ReadEntry(artifacts.Record{}, []byte(`{"_type":"x"}`)); err == nil {
		t.Error("a foreign statement was read")
	}
	if _, err := ReadEntry(artifacts.Record{}, []byte(`no`)); err == nil {
		t.Error("no JSON was read")
	}
}
