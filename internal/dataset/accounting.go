package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Accounting counts what became of the items of a data set. The zero value is ready to
// use.
//
// In is counted apart from the outcomes, when an item is met; the outcomes are counted
// when it is decided. [Accounting.Check] compares the two: an item that was met and never
// decided, or decided twice, shows up there.
type Accounting struct {
	In     int64
	counts [lastOutcome + 1]int64
}

// Meet counts n items that were met.
func (a *Accounting) Meet(n int64) { a.In += n }

// Decide counts one item's outcome.
//
// Errors: an invalid outcome; nothing is counted then.
func (a *Accounting) Decide(o Outcome) error {
	if !o.Valid() {
		return fmt.Errorf("account for item: outcome %d does not exist", uint8(o))
	}
	a.counts[o]++
	return nil
}

// Move takes n items from one outcome to another: kept rows whose file then proves broken.
//
// Errors: fewer than n items with the first outcome, or an invalid outcome.
func (a *Accounting) Move(from, to Outcome, n int64) error {
	if !from.Valid() || !to.Valid() || n < 0 || a.counts[from] < n {
		return fmt.Errorf("account for %d items: cannot move %d of %s to %s", a.Count(from), n, from, to)
	}
	a.counts[from] -= n
	a.counts[to] += n
	return nil
}

// Merge adds the counts of another part of the same data set.
func (a *Accounting) Merge(b Accounting) {
	a.In += b.In
	for o := range a.counts {
		a.counts[o] += b.counts[o]
	}
}

// Count returns how many items had an outcome, 0 for an invalid one.
func (a *Accounting) Count(o Outcome) int64 {
	if !o.Valid() {
		return 0
	}
	return a.counts[o]
}

// Total returns how many items had an outcome of the given status.
func (a *Accounting) Total(s Status) int64 {
	var n int64
	for _, o := range Outcomes() {
		if o.Status() == s {
			n += a.counts[o]
		}
	}
	return n
}

// Check proves the balance.
//
// Errors: in differs from kept + filtered + quarantined.
func (a *Accounting) Check() error {
	k, f, q := a.Total(StatusKept), a.Total(StatusFiltered), a.Total(StatusQuarantined)
	if a.In != k+f+q {
		return fmt.Errorf("accounting does not balance: %d in, but %d kept + %d filtered + %d quarantined = %d", a.In, k, f, q, k+f+q)
	}
	return nil
}

// String returns one line for people.
func (a *Accounting) String() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d in = %d kept + %d filtered + %d quarantined",
		a.In, a.Total(StatusKept), a.Total(StatusFiltered), a.Total(StatusQuarantined))
	return b.String()
}

// accountingJSON is the stored form; reasons without items are left out.
type accountingJSON struct {
	In          int64             `json:"in"`
	Kept        int64             `json:"kept"`
	Filtered    map[Outcome]int64 `json:"filtered"`
	Quarantined map[Outcome]int64 `json:"quarantined"`
}

// MarshalJSON encodes the counts by status and reason, reasons sorted.
func (a Accounting) MarshalJSON() ([]byte, error) {
	j := accountingJSON{In: a.In, Kept: a.counts[Kept], Filtered: map[Outcome]int64{}, Quarantined: map[Outcome]int64{}}
	for _, o := range Outcomes() {
		switch {
		case a.counts[o] == 0:
		case o.Status() == StatusFiltered:
			j.Filtered[o] = a.counts[o]
		case o.Status() == StatusQuarantined:
			j.Quarantined[o] = a.counts[o]
		}
	}
	return json.Marshal(j) // encoding/json sorts the keys
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (a *Accounting) UnmarshalJSON(data []byte) error {
	var j accountingJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("read accounting: %w", err)
	}
	*a = Accounting{In: j.In}
	a.counts[Kept] = j.Kept
	for _, o := range Outcomes() {
		if o.Status() == StatusFiltered {
			a.counts[o] = j.Filtered[o]
		}
		if o.Status() == StatusQuarantined {
			a.counts[o] = j.Quarantined[o]
		}
	}
	return nil
}
