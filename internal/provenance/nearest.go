package provenance

import (
	"strings"
	"time"
)

// Earlier is a computation that may explain a later one.
type Earlier struct {
	Name     string // the key
	Document []byte // its key document
	Finished time.Time
}

// Nearest looks for the earlier computation that is most like ours: the one with the most
// equal fields; among those the one with fewer differing inputs, because a changed
// parameter says more than another image; among those the latest. Documents equal to
// ours, and documents that cannot be read, are passed over.
//
// It serves one goroutine. The zero value is not usable; call NewNearest.
type Nearest struct {
	ours   []byte
	best   Earlier
	found  Comparison
	inputs int
	ok     bool
}

// NewNearest begins a search for what is most like the key document ours.
func NewNearest(ours []byte) *Nearest { return &Nearest{ours: ours} }

// Offer considers one computation.
func (n *Nearest) Offer(e Earlier) {
	c, err := Compare(n.ours, e.Document)
	if err != nil || len(c.Differs) == 0 {
		return
	}
	inputs := 0
	for _, d := range c.Differs {
		if strings.HasPrefix(d.Field, "inputs.") {
			inputs++
		}
	}
	if !n.ok || better(c, inputs, e.Finished, n) {
		n.best, n.found, n.inputs, n.ok = e, c, inputs, true
	}
}

func better(c Comparison, inputs int, finished time.Time, n *Nearest) bool {
	switch {
	case c.Equal != n.found.Equal:
		return c.Equal > n.found.Equal
	case len(c.Differs) != len(n.found.Differs):
		return len(c.Differs) < len(n.found.Differs)
	case inputs != n.inputs:
		return inputs < n.inputs
	}
	return finished.After(n.best.Finished)
}

// Best returns the nearest so far and how it differs; ok is false when there is none.
func (n *Nearest) Best() (best Earlier, how Comparison, ok bool) { return n.best, n.found, n.ok }
