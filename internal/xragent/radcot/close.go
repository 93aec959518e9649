package radcot

import (
	"fmt"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/datause"
)

// Closing gathers outcomes in the order of the candidates and ends as a [Built].
type Closing struct {
	set    *Set
	ex     *Exclusions
	ledger Ledger
	next   int
	kept   []Example
	parts  map[Part]*PartCount
	reject tally
}

// PartCount is what became of a part.
type PartCount struct {
	Part Part `json:"part"`
	// Drawn = Accepted + Rejected + Undetermined; Accepted = Kept + Surplus.
	Drawn        int `json:"drawn"`
	Accepted     int `json:"accepted"`
	Rejected     int `json:"rejected"`
	Undetermined int `json:"undetermined,omitempty"`
	Kept         int `json:"kept"`
	Surplus      int `json:"surplus,omitempty"`
	Wanted       int `json:"wanted"`
	// Published is the paper's number of examples.
	Published int `json:"published"`
}

// Yield is the share of the drawn candidates that were accepted; ok is false of nothing.
func (p PartCount) Yield() (share float64, ok bool) {
	if p.Drawn == 0 {
		return 0, false
	}
	return float64(p.Accepted) / float64(p.Drawn), true
}

// Published are the paper's counts. [paper]
var published = map[Part]int{Report: 4000, Choice: 1995, ChoiceRL: 1000, Closed: 720, Binary: 1000}

// Published sizes: candidates for reports, the SFT corpus, the GRPO items. [paper]
const (
	PublishedReports = 6000
	PublishedSFT     = 7715
	PublishedGRPO    = 4715
)

// NewClosing begins with a candidate set and the exclusions that it was drawn under.
func NewClosing(set *Set, setDigest artifacts.Digest, ex *Exclusions) *Closing {
	c := &Closing{set: set, ex: ex, ledger: Ledger{Set: setDigest}, parts: map[Part]*PartCount{}, reject: tally{}}
	for _, p := range Parts() {
		c.parts[p] = &PartCount{Part: p, Wanted: set.Spec.Amounts.Of(p).Want, Published: published[p]}
	}
	return c
}

// Add takes the outcome of the next candidate. nil is one whose calls failed: nobody knows what
// it would have become, and it is counted apart.
func (c *Closing) Add(o *Outcome) error {
	if c.next == len(c.set.Candidates) {
		return fmt.Errorf("close: more outcomes than the %d candidates", c.next)
	}
	at := &c.set.Candidates[c.next]
	c.next++
	p := c.parts[at.Part]
	p.Drawn++
	if o == nil {
		p.Undetermined++
		return nil
	}
	if err := c.ledger.Add(o.Entries...); err != nil {
		return err
	}
	if o.Example == nil {
		p.Rejected++
		c.reject[string(at.Part)+"/"+o.Rejected]++
		return nil
	}
	if o.Example.ID != at.ID {
		return fmt.Errorf("close: the outcome of %s stands in the place of %s", o.Example.ID, at.ID)
	}
	if p.Accepted++; p.Kept == p.Wanted {
		p.Surplus++
		return nil
	}
	p.Kept++
	c.kept = append(c.kept, *o.Example)
	return nil
}

// Built is a finished data construction.
type Built struct {
	Set      *Set
	Ledger   Ledger
	Examples []Example
	Parts    []PartCount
	// Rejected counts candidates by part, phase and deciding code of the last attempt.
	Rejected []Count
	Balances []Balance
	Overlap  []Count
	DataUse  datause.Class
}

// OverlapError reports examples that show an excluded picture. Nothing is written then.
type OverlapError struct{ Counts []Count }

func (e *OverlapError) Error() string {
	parts := make([]string, len(e.Counts))
	for i, c := range e.Counts {
		parts[i] = fmt.Sprintf("%d %s", c.N, c.Name)
	}
	return "examples overlap with evaluation data: " + strings.Join(parts, ", ") + "; hint: draw the candidates again with these exclusions"
}

// Close ends the construction.
//
// Errors: candidates without an outcome; *OverlapError.
func (c *Closing) Close() (*Built, error) {
	if c.next != len(c.set.Candidates) {
		return nil, fmt.Errorf("close: %d of %d candidates have an outcome", c.next, len(c.set.Candidates))
	}
	b := &Built{Set: c.set, Ledger: c.ledger, Examples: c.kept, Rejected: c.reject.list(), Balances: Balances(c.kept), DataUse: datause.Synthetic}
	shown := make([]Candidate, len(c.kept))
	for i := range c.kept {
		e := &c.kept[i]
		shown[i] = Candidate{Source: e.Source, Picture: e.Picture}
		b.DataUse = datause.Strictest(b.DataUse, e.DataUse)
	}
	if b.Overlap = c.ex.Overlap(shown); len(b.Overlap) > 0 {
		return nil, &OverlapError{b.Overlap}
	}
	for _, p := range Parts() {
		b.Parts = append(b.Parts, *c.parts[p])
	}
	return b, nil
}

// SFT and GRPO count the examples of both corpora.
func (b *Built) SFT() int { return b.count(Part.SFT) }

// GRPO counts the questions that GRPO asks.
func (b *Built) GRPO() int { return b.count(Part.GRPO) }

func (b *Built) count(in func(Part) bool) int {
	n := 0
	for i := range b.Examples {
		if in(b.Examples[i].Part) {
			n++
		}
	}
	return n
}
