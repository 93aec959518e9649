package worker

import (
	"slices"
	"time"
)

// EndpointState is how it stands with the lease of what shares an endpoint and a credential.
// Without it this worker asks nothing there.
type EndpointState struct {
	// Cards are the endpoint cards, Models the model cards that they serve, both sorted.
	Cards, Models []string
	// Lease is the object of the store that says who holds the lease.
	Lease string
	// Held says that this worker holds it, Since since when it does, or does not.
	Held  bool
	Since time.Time
	// Err is why it could not be taken the last time: *ledger.LeaseHeldError when another
	// process has it, else the store's. nil while it is held, and before the first try.
	Err error
}

// Endpoints returns the states of all leases that the worker needs, in the order of the cards.
func (w *Worker) Endpoints() []EndpointState {
	var out []EndpointState
	for _, g := range w.askers.groups {
		if g.id != "" {
			out = append(out, g.state())
		}
	}
	return out
}

func (g *group) state() EndpointState {
	s := EndpointState{Lease: "leases/" + g.id}
	for model, e := range g.models {
		s.Models = append(s.Models, model)
		if !slices.Contains(s.Cards, e.Name) {
			s.Cards = append(s.Cards, e.Name)
		}
	}
	slices.Sort(s.Models)
	slices.Sort(s.Cards)
	g.mu.Lock()
	defer g.mu.Unlock()
	s.Held, s.Since, s.Err = g.held, g.since, g.err
	return s
}

// note keeps whether the lease is held now, and why not.
func (g *group) note(held bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if held != g.held || g.since.IsZero() {
		g.held, g.since = held, time.Now()
	}
	g.err = err
}
