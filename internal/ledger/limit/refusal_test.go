package limit

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestRefused: the first refusal ends everybody's waiting, later requests go one by one, and the
// first that is accepted opens the gate.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the key is wrong")
		g := New(Options{Now: time.Now, Limits: Limits{Concurrency: 2}, Patience: time.Hour})
		first, second := acquire(t, g, 1), acquire(t, g, 1)
		if err := first.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				var refused *RefusedError
				if _, err := enter(g, Want{Tokens: 1}); !errors.As(err, &refused) || !errors.Is(err, cause) {
					t.Errorf("a waiting request: %v", err)
				}
			})
		}
		time.Sleep(time.Second)
		first.Refused(true, cause)
		wg.Wait()
		if err := second.Start(context.Background()); !errors.Is(err, cause) {
			t.Errorf("a permit in hand: %v", err)
		}
		second.Cancel()
		time.Sleep(time.Second)
		// A person resumes: 10 requests, the key is still wrong.
		sent := 0
		round := func(end func(*Permit)) (refused int) {
			var mu sync.Mutex
			for range 10 {
				wg.Go(func() {
					p, err := enter(g, Want{Tokens: 1})
					mu.Lock()
					defer mu.Unlock()
					if err != nil {
						refused++
						return
					}
					sent++
					mu.Unlock()
					time.Sleep(time.Second)
					mu.Lock()
					end(p)
				})
			}
			wg.Wait()
			time.Sleep(time.Second)
			return refused
		}
		if n := round(func(p *Permit) { p.Refused(true, cause) }); n != 9 || sent != 1 {
			t.Errorf("%d sent with a wrong key, %d refused here", sent, n)
		}
		if n := round(func(p *Permit) { p.Done(1, true) }); n != 0 || sent != 11 || len(g.refused) != 0 || g.InFlight() != 0 {
			t.Errorf("%d sent with a good key, %d refused, %d in flight", sent, n, g.InFlight())
		}
	})
}

// TestRefusedScope: what is wrong with one model says nothing about another, and a probe that
// learns nothing leaves the next one to it.
func TestRefusedScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Now: time.Now, Patience: time.Hour})
		admit := func(scope string, asked time.Time) (*Permit, error) {
			return enter(g, Want{Tokens: 1, Scope: scope, Asked: asked})
		}
		begin := time.Now()
		p, err := admit("a", begin)
		if err != nil {
			t.Fatal(err)
		}
		p.Refused(false, errors.New("no such model"))
		time.Sleep(time.Second)
		if _, err := admit("a", begin); err == nil {
			t.Error("what was queued before the refusal is sent")
		}
		for range 3 {
			other, err := admit("b", begin)
			if err != nil {
				t.Fatal(err)
			}
			other.Done(1, true)
			probe, err := admit("a", time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			probe.Done(-1, false)
		}
	})
}
