package limit

import (
	"context"
	"slices"
	"time"
)

// verdict is what a waiter finds when it looks.
type verdict uint8

const (
	yes    verdict = iota
	notYet         // for a reason of its own, or for some time
	full           // nobody in the line could go
)

// line holds those who wait for the same, first come first. The gate's mutex guards it.
type line struct{ waiters []chan struct{} }

// wake has the first in the line look.
func (l *line) wake() {
	if len(l.waiters) > 0 {
		nudge(l.waiters[0])
	}
}

// after has the one behind w look: w has gone, or could not.
func (l *line) after(w chan struct{}) {
	if i := slices.Index(l.waiters, w); i >= 0 && i+1 < len(l.waiters) {
		nudge(l.waiters[i+1])
	}
}

func nudge(w chan struct{}) {
	select {
	case w <- struct{}{}:
	default: // it is going to look anyway
	}
}

// joinBehind stands w at the end of a line that others stand in, and has them look first.
func (l *line) joinBehind(w chan struct{}) bool {
	if len(l.waiters) == 0 || slices.Contains(l.waiters, w) {
		return false
	}
	l.join(w)
	l.wake()
	return true
}

// join stands w at the end, unless it stands already.
func (l *line) join(w chan struct{}) {
	if !slices.Contains(l.waiters, w) {
		l.waiters = append(l.waiters, w)
	}
}

// quit takes w out, and has the one behind it look in its place.
func (l *line) quit(w chan struct{}) {
	l.after(w)
	l.waiters = slices.DeleteFunc(l.waiters, func(x chan struct{}) bool { return x == w })
}

// wakeAll has everybody look. The caller holds mu.
func (g *Gate) wakeAll() {
	for _, l := range []*line{&g.turns, &g.places, &g.starts} {
		for _, w := range l.waiters {
			nudge(w)
		}
	}
}

// wait calls try until it says yes, whenever something may have changed for those in the line. try
// runs under mu and returns how long to wait before the next look, 0 for until it is woken.
//
// Who is woken and goes wakes the one behind it, for whom there may be room too; so does who
// cannot go for a reason of its own. That ends with the first that finds the gate full.
func (g *Gate) wait(ctx context.Context, p *Permit, l *line, try func(now time.Time) (time.Duration, verdict)) error {
	patience := g.opts.Patience
	woken := make(chan struct{}, 1)
	for {
		d, ok, err := g.look(ctx, p, l, woken, try)
		switch {
		case ok || err != nil:
			return err
		case d > patience:
			g.mu.Lock()
			l.quit(woken)
			g.mu.Unlock()
			return &WaitError{Delay: d, Until: g.opts.Now().Add(d)}
		case d == 0:
			d = time.Minute
		}
		timer := time.NewTimer(d)
		began := time.Now()
		select {
		case <-timer.C:
		case <-woken:
		case <-ctx.Done():
		}
		timer.Stop()
		// A crowd that waits for its turn comes back later instead of waiting for ever.
		patience = max(patience-time.Since(began), 10*time.Millisecond)
	}
}

// look tries once. Who cannot go stands in the line afterwards, who goes or fails does not.
func (g *Gate) look(ctx context.Context, p *Permit, l *line, w chan struct{}, try func(now time.Time) (time.Duration, verdict)) (d time.Duration, ok bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.opts.Now()
	switch err = ctx.Err(); {
	case err != nil:
	case g.leased && !now.Before(g.lease):
		err = ErrNotHeld
	default:
		err = g.refuses(p)
	}
	if err != nil {
		l.quit(w)
		return 0, false, err
	}
	if l.joinBehind(w) {
		return 0, false, nil
	}
	d, v := try(now)
	switch v {
	case yes:
		l.quit(w)
		return 0, true, nil
	case notYet:
		l.after(w)
	}
	l.join(w)
	return d, false, nil
}
