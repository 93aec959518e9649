package radcot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"cxrepro/artifacts"
)

// Entry is one attempt of one phase of one candidate.
type Entry struct {
	Candidate string `json:"candidate"`
	Phase     Phase  `json:"phase"`
	Attempt   int    `json:"attempt"`
	// Requests name what the teacher was asked, turn by turn.
	Requests []artifacts.Digest `json:"requests"`
	Verdict  Verdict            `json:"verdict"`
}

func (e Entry) less(f Entry) int {
	return cmp.Or(cmp.Compare(e.Candidate, f.Candidate), cmp.Compare(f.Phase, e.Phase), cmp.Compare(e.Attempt, f.Attempt)) // write before route
}

// LedgerFormat is Ledger.Format.
const LedgerFormat = "cxrepro-radcot-ledger-1"

// Ledger lists every attempt of a data construction. Entries stand by candidate, phase and
// attempt, whatever the order in which they came, so a resumed construction ends with the same
// bytes. The zero value is empty.
type Ledger struct {
	Format string `json:"format"`
	// Set is the digest of the candidates document.
	Set     artifacts.Digest `json:"set"`
	Entries []Entry          `json:"entries"`
}

// ConflictError reports a second entry of an attempt that differs from the first: somebody was
// asked again, or rules changed under a construction.
type ConflictError struct {
	Candidate string
	Phase     Phase
	Attempt   int
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("ledger: candidate %s, phase %s, attempt %d: a second entry differs from the first; hint: build from one candidate set and one version of the rules", e.Candidate, e.Phase, e.Attempt)
}

// Add adds entries; one that is there already is counted once.
//
// Errors: *ConflictError.
func (l *Ledger) Add(entries ...Entry) error {
	for _, e := range entries {
		i, found := slices.BinarySearchFunc(l.Entries, e, Entry.less)
		if !found {
			l.Entries = slices.Insert(l.Entries, i, e)
			continue
		}
		have, err := json.Marshal(l.Entries[i])
		if err != nil {
			return err
		}
		also, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if !bytes.Equal(have, also) {
			return &ConflictError{e.Candidate, e.Phase, e.Attempt}
		}
	}
	return nil
}

// Find returns the entry of an attempt; ok is false where the attempt has none.
func (l *Ledger) Find(candidate string, phase Phase, attempt int) (e Entry, ok bool) {
	i, found := slices.BinarySearchFunc(l.Entries, Entry{Candidate: candidate, Phase: phase, Attempt: attempt}, Entry.less)
	if !found {
		return e, false
	}
	return l.Entries[i], true
}

// Rejections counts the rejected attempts by phase and deciding code.
func (l *Ledger) Rejections() []Count {
	t := tally{}
	for _, e := range l.Entries {
		if !e.Verdict.Accepted {
			t[string(e.Phase)+"/"+string(e.Verdict.Code())]++
		}
	}
	return t.list()
}

// Encode returns the document's bytes.
func (l *Ledger) Encode() ([]byte, error) {
	l.Format = LedgerFormat
	if l.Entries == nil {
		l.Entries = []Entry{}
	}
	return json.Marshal(l)
}

// ReadLedger reads a ledger and checks that every attempt stands there once, in order.
func ReadLedger(data []byte) (*Ledger, error) {
	var l Ledger
	if err := json.Unmarshal(data, &l); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	if l.Format != LedgerFormat {
		return nil, fmt.Errorf("ledger: format is %q, want %q", l.Format, LedgerFormat)
	}
	for i := 1; i < len(l.Entries); i++ {
		if l.Entries[i-1].less(l.Entries[i]) >= 0 {
			return nil, fmt.Errorf("ledger: entry %d does not come after the one before it; hint: take the document as it was written", i+1)
		}
	}
	return &l, nil
}
