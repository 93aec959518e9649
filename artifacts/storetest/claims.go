package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"cxrepro/artifacts"
)

func owner(n, attempt int) artifacts.Owner {
	return artifacts.Owner{Reproduction: "r", Worker: fmt.Sprintf("w%d", n), Workflow: "wf", Activity: fmt.Sprintf("a%d", n),
		Attempt: attempt, Host: "h", PID: 1000 + n, ProcStart: "1"}
}

func (s suite) claimLife(t *testing.T) {
	r, h := s.repository(t)
	ctx := t.Context()
	_, k := key(t, "life", 1)
	c, err := r.Claim(ctx, k, owner(1, 1), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if c.Fence != 1 || c.Takeover != artifacts.TakeoverNone || c.Key != k {
		t.Errorf("claim %+v", c)
	}
	_, err = r.Claim(ctx, k, owner(2, 1), time.Minute)
	var held *artifacts.HeldError
	if !errors.As(err, &held) || held.Owner != owner(1, 1) || held.Fence != 1 {
		t.Fatalf("second claim: %v", err)
	}
	if artifacts.ClassOf(err) != artifacts.Transient {
		t.Error("held is not transient")
	}
	h.Advance(50 * time.Second)
	if err := r.Renew(ctx, c, time.Minute); err != nil {
		t.Fatal(err)
	}
	h.Advance(50 * time.Second) // beyond the first minute, within the second
	if _, err = r.Claim(ctx, k, owner(2, 1), time.Minute); !errors.As(err, &held) {
		t.Errorf("renewed claim was taken: %v", err)
	}
	if _, err := r.CommitClaimed(ctx, c, record(t, r, k, `{}`)); err != nil {
		t.Fatal(err)
	}
	if err := r.Release(ctx, c); err != nil {
		t.Fatal(err)
	}
	if left := names(t, r.Bucket(), "claims/", ""); len(left) != 0 {
		t.Errorf("claims left after commit: %q", left)
	}
	// Who claims after a record appeared is told so and does not compute again.
	_, err = r.Claim(ctx, k, owner(2, 1), time.Minute)
	var done *artifacts.CommittedError
	if !errors.As(err, &done) || done.Record.Key != k {
		t.Errorf("claim of a committed key: %v", err)
	}
	if left := names(t, r.Bucket(), "claims/", ""); len(left) != 0 {
		t.Errorf("claims left: %q", left)
	}
}

func (s suite) claimTakeover(t *testing.T) {
	for i, c := range []struct {
		name  string
		next  artifacts.Owner
		do    func(*artifacts.Repository, *Host, *artifacts.Claim) error
		cause artifacts.Takeover
	}{
		{"released", owner(2, 1), func(r *artifacts.Repository, _ *Host, c *artifacts.Claim) error {
			return r.Release(t.Context(), c)
		}, artifacts.TakeoverReleased},
		{"expired", owner(2, 1), func(_ *artifacts.Repository, h *Host, _ *artifacts.Claim) error {
			h.Advance(time.Minute)
			return nil
		}, artifacts.TakeoverExpired},
		{"dead", owner(2, 1), func(_ *artifacts.Repository, h *Host, _ *artifacts.Claim) error {
			h.Kill(1001)
			return nil
		}, artifacts.TakeoverDead},
		{"later attempt", owner(1, 2), func(*artifacts.Repository, *Host, *artifacts.Claim) error { return nil }, artifacts.TakeoverSuperseded},
		{"same attempt", owner(1, 1), func(*artifacts.Repository, *Host, *artifacts.Claim) error { return nil }, artifacts.TakeoverNone},
		{"other activity", owner(2, 9), func(*artifacts.Repository, *Host, *artifacts.Claim) error { return nil }, artifacts.TakeoverNone},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, h := s.repository(t)
			_, k := key(t, "take", i)
			first, err := r.Claim(t.Context(), k, owner(1, 1), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.do(r, h, first); err != nil {
				t.Fatal(err)
			}
			got, err := r.Claim(t.Context(), k, c.next, time.Minute)
			if c.cause == artifacts.TakeoverNone {
				var held *artifacts.HeldError
				if !errors.As(err, &held) {
					t.Errorf("claim: %v, want held", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Fence != 2 || got.Takeover != c.cause || got.Previous != owner(1, 1) {
				t.Errorf("claim fence %d, cause %q, previous %v", got.Fence, got.Takeover, got.Previous)
			}
		})
	}
}

// staleClaim: who was taken over can neither renew, nor commit, nor take the new
// owner's claim away.
func (s suite) staleClaim(t *testing.T) {
	r, h := s.repository(t)
	ctx := t.Context()
	_, k := key(t, "stale", 1)
	old, err := r.Claim(ctx, k, owner(1, 1), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	h.Advance(2 * time.Minute)
	now, err := r.Claim(ctx, k, owner(2, 1), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var stale *artifacts.StaleClaimError
	if err := r.Renew(ctx, old, time.Minute); !errors.As(err, &stale) || stale.Fence != 1 || stale.Now != 2 {
		t.Errorf("renew: %v", err)
	}
	if _, err := r.CommitClaimed(ctx, old, record(t, r, k, `{"old":1}`)); !errors.As(err, &stale) {
		t.Errorf("commit: %v", err)
	}
	if _, err := r.Lookup(ctx, k); !errors.Is(err, artifacts.ErrNotFound) {
		t.Errorf("the stale result is visible: %v", err)
	}
	if err := r.Release(ctx, old); err != nil {
		t.Errorf("release: %v", err)
	}
	if err := r.CheckClaim(ctx, now); err != nil {
		t.Errorf("the new claim is gone: %v", err)
	}
	if _, err := r.CommitClaimed(ctx, now, record(t, r, k, `{"new":1}`)); err != nil {
		t.Errorf("commit by the new owner: %v", err)
	}
}

// claimRace: of many, one gets a free key and one takes an expired claim over.
func (s suite) claimRace(t *testing.T) {
	r, h := s.repository(t)
	_, k := key(t, "claim-race", 1)
	for _, fence := range []int{1, 2} {
		const racers = 12
		claims := make([]*artifacts.Claim, racers)
		errs := make([]error, racers)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Add(1)
			go func() {
				defer wg.Done()
				claims[i], errs[i] = r.Claim(t.Context(), k, owner(i, 1), time.Minute)
			}()
		}
		wg.Wait()
		won := 0
		for i, err := range errs {
			var held *artifacts.HeldError
			switch {
			case err == nil:
				if won++; claims[i].Fence != fence {
					t.Errorf("fence %d, want %d", claims[i].Fence, fence)
				}
			case !errors.As(err, &held):
				t.Errorf("racer %d: %v", i, err)
			}
		}
		if won != 1 {
			t.Fatalf("%d racers hold the claim with fence %d", won, fence)
		}
		h.Advance(time.Hour)
	}
}
