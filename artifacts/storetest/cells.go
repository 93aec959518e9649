package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"cxrepro/artifacts"
)

// claimNotes: a note outlives its claim by every way of taking over, until it is replaced;
// who was taken over can no longer annotate.
func (s suite) claimNotes(t *testing.T) {
	r, h := s.repository(t)
	ctx := t.Context()
	_, k := key(t, "call", 1)
	held, err := r.Claim(ctx, k, owner(1, 1), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if held.Inherited != nil {
		t.Errorf("a first claim inherits %q", held.Inherited)
	}
	if err := r.Annotate(ctx, held, []byte("attempt 1")); err != nil {
		t.Fatal(err)
	}
	if err := r.Renew(ctx, held, time.Minute); err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		name  string
		next  artifacts.Owner
		do    func(c *artifacts.Claim) error
		cause artifacts.Takeover
	}{
		{"released", owner(2, 1), func(c *artifacts.Claim) error { return r.Release(ctx, c) }, artifacts.TakeoverReleased},
		{"expired", owner(3, 1), func(*artifacts.Claim) error { h.Advance(2 * time.Minute); return nil }, artifacts.TakeoverExpired},
		{"superseded", owner(3, 2), func(*artifacts.Claim) error { return nil }, artifacts.TakeoverSuperseded},
		{"dead", owner(4, 1), func(*artifacts.Claim) error { h.Kill(1003); return nil }, artifacts.TakeoverDead},
		{"released again", owner(5, 1), func(c *artifacts.Claim) error { return r.Release(ctx, c) }, artifacts.TakeoverReleased},
	}
	want := "attempt 1"
	for i, st := range steps {
		if err := st.do(held); err != nil {
			t.Fatalf("%s: %v", st.name, err)
		}
		next, err := r.Claim(ctx, k, st.next, time.Minute)
		if err != nil || next.Takeover != st.cause || next.Fence != i+2 {
			t.Fatalf("%s: %+v, %v", st.name, next, err)
		}
		if string(next.Inherited) != want {
			t.Errorf("%s: inherited %q, want %q", st.name, next.Inherited, want)
		}
		var stale *artifacts.StaleClaimError
		if err := r.Annotate(ctx, held, []byte("late")); !errors.As(err, &stale) {
			t.Errorf("%s: the old holder annotated: %v", st.name, err)
		}
		if i != 1 { // one holder goes without a note of its own
			want = fmt.Sprintf("attempt %d\x00\xff", i+2)
			if err := r.Annotate(ctx, next, []byte(want)); err != nil {
				t.Fatal(err)
			}
		}
		held = next
	}
	if _, err := r.CommitClaimed(ctx, held, record(t, r, k, `{}`)); err != nil {
		t.Errorf("commit after annotations: %v", err)
	}
}

// claimNotesCollected: a note stays while there is no record that tells what it tells.
func (s suite) claimNotesCollected(t *testing.T) {
	r, h := s.repository(t)
	ctx := t.Context()
	_, noted := key(t, "call", 1)
	_, plain := key(t, "call", 2)
	_, done := key(t, "call", 3)
	for _, k := range []artifacts.Key{noted, plain, done} {
		c, err := r.Claim(ctx, k, owner(1, 1), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if k != plain {
			if err := r.Annotate(ctx, c, []byte("paid")); err != nil {
				t.Fatal(err)
			}
		}
		if k == done { // killed between commit and release
			if _, err := r.CommitClaimed(ctx, c, record(t, r, k, `{}`)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := r.Release(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.SetPin(ctx, artifacts.Pin{Name: "done", Keys: []artifacts.Key{done}}); err != nil {
		t.Fatal(err)
	}
	h.Advance(48 * time.Hour)
	report, err := r.GC(ctx, artifacts.GCOptions{Apply: true})
	if err != nil || report.Claims.Count != 2 {
		t.Fatalf("gc: %+v, %v", report, err)
	}
	c, err := r.Claim(ctx, noted, owner(2, 1), time.Minute)
	if err != nil || string(c.Inherited) != "paid" {
		t.Errorf("claim after gc: %+v, %v", c, err)
	}
}

// cells: a named cell is made once, swapped by who knows its state, and never collected.
func (s suite) cells(t *testing.T) {
	r, h := s.repository(t)
	ctx := t.Context()
	none, err := r.Cell(ctx, "leases", "endpoint-1")
	wantErr(t, "no cell", err, artifacts.ErrNotFound)
	one, err := r.SwapCell(ctx, none, []byte(`{"fence": 1, "b":2}`))
	if err != nil || string(one.Body) != `{"b":2,"fence":1}` {
		t.Fatalf("create: %+v, %v", one, err)
	}
	_, err = r.SwapCell(ctx, none, []byte(`{"b":2,"fence":1}`))
	wantErr(t, "create again, with an equal body", err, artifacts.ErrPrecondition)
	two, err := r.SwapCell(ctx, one, []byte(`{"fence":2}`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.SwapCell(ctx, one, []byte(`{"fence":2}`))
	wantErr(t, "swap from an old state, with an equal body", err, artifacts.ErrPrecondition)
	h.Advance(1000 * time.Hour)
	if _, err := r.GC(ctx, artifacts.GCOptions{Apply: true}); err != nil {
		t.Fatal(err)
	}
	if report, err := r.Verify(ctx, artifacts.VerifyOptions{}); err != nil || len(report.Faults) != 0 {
		t.Errorf("verify: %+v, %v", report.Faults, err)
	}
	got, err := r.Cell(ctx, "leases", "endpoint-1")
	if err != nil || string(got.Body) != `{"fence":2}` {
		t.Fatalf("cell after gc: %+v, %v", got, err)
	}
	if _, err := r.SwapCell(ctx, got, []byte(`{"fence":3}`)); err != nil {
		t.Errorf("swap of a cell as read: %v", err)
	}
	_, err = r.SwapCell(ctx, two, []byte(`{"fence":4}`))
	wantErr(t, "swap by who was passed over", err, artifacts.ErrPrecondition)
	_, err = r.Cell(ctx, "budgets", "endpoint-1")
	wantErr(t, "the other area", err, artifacts.ErrNotFound)
	for _, bad := range []artifacts.Cell{{Area: "index", Name: "x"}, {Area: "leases", Name: "a/b"}, {Area: "leases"}} {
		if _, err := r.SwapCell(ctx, bad, []byte(`{}`)); err == nil {
			t.Errorf("cell %+v was accepted", bad)
		}
	}
	if _, err := r.SwapCell(ctx, artifacts.Cell{Area: "budgets", Name: "x"}, []byte(`half {`)); err == nil {
		t.Error("a body that is no JSON was accepted")
	}
}

// cellRace: withdrawals from one budget by many hands never exceed it.
func (s suite) cellRace(t *testing.T) {
	r, _ := s.repository(t)
	ctx := t.Context()
	const hands, balance, portion = 6, 10, 3
	if _, err := r.SwapCell(ctx, artifacts.Cell{Area: "budgets", Name: "b"}, []byte(strconv.Itoa(balance))); err != nil {
		t.Fatal(err)
	}
	taken := make([]int, hands)
	errs := make([]error, hands)
	var wg sync.WaitGroup
	for i := range hands {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				c, err := r.Cell(ctx, "budgets", "b")
				if err != nil {
					errs[i] = err
					return
				}
				left, err := strconv.Atoi(string(c.Body))
				if err != nil || left < portion {
					errs[i] = err
					return
				}
				switch _, err = r.SwapCell(ctx, c, []byte(strconv.Itoa(left-portion))); {
				case err == nil:
					taken[i]++
				case !errors.Is(err, artifacts.ErrPrecondition):
					errs[i] = err
					return
				}
			}
		}()
	}
	wg.Wait()
	sum := 0
	for i := range hands {
		if sum += taken[i]; errs[i] != nil {
			t.Errorf("hand %d: %v", i, errs[i])
		}
	}
	if sum != balance/portion {
		t.Errorf("%d portions of %d were taken from %d", sum, portion, balance)
	}
}
