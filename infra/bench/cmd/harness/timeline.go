package main

import (
	"fmt"
	"slices"
	"time"

	"cxrepro/internal/responder"
)

// enough dialogues are open when a free place at the endpoint never has to wait for one.
const enough = 128

// span is from one moment to another.
type span struct{ from, to time.Time }

// sum works out from the exchanges how long they took, together and from the first to the last.
func (f *figure) sum(exchanges []responder.Exchange) (all span) {
	for _, x := range exchanges {
		f.busy += x.Gone.Sub(x.Came)
		all.add(x)
	}
	f.wall = all.to.Sub(all.from)
	return all
}

// add widens s until it holds x.
func (s *span) add(x responder.Exchange) {
	if s.from.IsZero() || x.Came.Before(s.from) {
		s.from = x.Came
	}
	if x.Gone.After(s.to) {
		s.to = x.Gone
	}
}

// dialogues returns when each dialogue was open: from its first question to the last reply of the
// model, as the responder sees them. It cannot tell which dialogue a judge is asked for, so that
// a dialogue is open for longer than that.
func dialogues(exchanges []responder.Exchange) []span {
	type name struct{ model, task, id string }
	at := map[name]*span{}
	for _, x := range exchanges {
		if x.Case == "" {
			continue
		}
		k := name{x.Model, x.Task.String(), x.Case}
		if at[k] == nil {
			at[k] = &span{}
		}
		at[k].add(x)
	}
	var out []span
	for _, s := range at {
		out = append(out, *s)
	}
	return out
}

// crowded returns the times in which at least n spans overlap, and how many do at most.
func crowded(spans []span, n int) (out []span, most int) {
	type step struct {
		at time.Time
		by int
	}
	var steps []step
	for _, s := range spans {
		steps = append(steps, step{s.from, 1}, step{s.to, -1})
	}
	slices.SortFunc(steps, func(a, b step) int { return a.at.Compare(b.at) })
	open := 0
	for _, s := range steps {
		before := open
		open += s.by
		most = max(most, open)
		switch {
		case before < n && open >= n:
			out = append(out, span{from: s.at})
		case before >= n && open < n:
			out[len(out)-1].to = s.at
		}
	}
	return out, most
}

// during is what went on while enough dialogues were open.
type during struct {
	// most dialogues were open at a time, and enough of them for so long.
	most int
	time time.Duration
	// replies were written in that time; busy sums how long requests were under way in it.
	replies int
	busy    time.Duration
}

func while(spans []span, most int, exchanges []responder.Exchange) during {
	d := during{most: most}
	for _, s := range spans {
		d.time += s.to.Sub(s.from)
		for _, x := range exchanges {
			if x.Gone.After(s.from) && !x.Gone.After(s.to) {
				d.replies++
			}
			from, to := x.Came, x.Gone
			if from.Before(s.from) {
				from = s.from
			}
			if to.After(s.to) {
				to = s.to
			}
			d.busy += max(0, to.Sub(from))
		}
	}
	return d
}

// against says how the throughput compares with the ideal of so many in flight.
func (d during) against(inFlight int, latency time.Duration) string {
	s := fmt.Sprintf("at most %d dialogues open at a time", d.most)
	if d.time <= 0 {
		return fmt.Sprintf("%s, never %d", s, enough)
	}
	ideal := float64(inFlight) * d.time.Seconds() / latency.Seconds()
	return fmt.Sprintf("%s, %d or more for %.2f s: %d replies there, %.1f in flight on average; %.3f of the ideal throughput",
		s, enough, d.time.Seconds(), d.replies, d.busy.Seconds()/d.time.Seconds(), float64(d.replies)/ideal)
}
