package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/lvlm"
)

// Unseen is the end of an attempt that nobody saw: its process died, or lost its claim.
const Unseen = "unseen"

// lastAttempts is how many attempts are kept one by one; sums hold all.
const lastAttempts = 16

// Attempt is one request.
type Attempt struct {
	// Began is zero where nobody knows.
	Began time.Time `json:"began,omitzero"`
	// End is an outcome of package lvlm, one of its classes of failures, or Unseen.
	End    string `json:"end"`
	Status int    `json:"status,omitempty"`
	Code   string `json:"code,omitempty"`
	// Latency is in nanoseconds.
	Latency time.Duration  `json:"latency_ns,omitempty"`
	Usage   dialogue.Usage `json:"usage,omitzero"`
	Worker  string         `json:"worker,omitempty"`
}

// Attempts sums every request of a call. The zero value holds none.
type Attempts struct {
	// Sent counts requests that reached an endpoint or may have; MaybeBilled those of them
	// whose end nobody saw.
	Sent        int `json:"sent"`
	MaybeBilled int `json:"maybe_billed,omitempty"`
	// Ends counts attempts by their end, those included that reached nobody.
	Ends  []contract.Count `json:"ends"`
	Usage dialogue.Usage   `json:"usage"`
	// Cost is in millionths of Currency. Unpriced counts replies without a price.
	Cost     int64  `json:"cost,omitempty"`
	Currency string `json:"currency,omitempty"`
	Unpriced int    `json:"unpriced,omitempty"`
	// Busy is the time spent waiting for replies, in nanoseconds.
	Busy time.Duration `json:"busy_ns,omitempty"`
	// Last are the latest attempts, oldest first.
	Last []Attempt `json:"last"`
}

// Price turns usage into millionths of a currency. A nil Price knows no prices.
type Price interface {
	Cost(u dialogue.Usage) int64
	Unit() string
}

func (a *Attempts) add(t Attempt) {
	a.Ends = contract.AddCount(a.Ends, t.End, 1)
	a.Busy += t.Latency
	a.Last = append(a.Last, t)
	if n := len(a.Last) - lastAttempts; n > 0 {
		a.Last = append([]Attempt(nil), a.Last[n:]...)
	}
}

// Reply adds a request that was answered, whatever the outcome, and returns its cost.
func (a *Attempts) Reply(began time.Time, worker string, r lvlm.Reply, price Price) (cost int64) {
	a.Sent++
	u := r.Served.Usage
	a.Usage = a.Usage.Add(u)
	switch {
	case price == nil || u.Unreported > 0:
		a.Unpriced++
	case a.Currency != "" && a.Currency != price.Unit():
		// Another endpoint served an earlier attempt for other money; sums stay honest.
		a.Unpriced++
	default:
		cost = price.Cost(u)
		if a.Cost += cost; a.Cost < cost {
			a.Cost = math.MaxInt64 // the sum does not fit
		}
		a.Currency = price.Unit()
	}
	a.add(Attempt{Began: began.UTC(), End: string(r.Answer.Outcome), Latency: r.Served.Latency, Usage: u, Worker: worker})
	return cost
}

// Failure adds a request that failed.
func (a *Attempts) Failure(began, ended time.Time, worker string, e *lvlm.CallError) {
	if e.Sent {
		a.Sent++
		if MaybeBilled(e) {
			a.MaybeBilled++
		}
	}
	a.add(Attempt{Began: began.UTC(), End: string(e.Class), Status: e.Status, Code: clip(e.Code), Latency: ended.Sub(began), Worker: worker})
}

// Unseen adds the request that a holder of the claim had in hand when it was last seen.
func (a *Attempts) Unseen(worker string) {
	a.Sent++
	a.MaybeBilled++
	a.add(Attempt{End: Unseen, Worker: worker})
}

// MaybeBilled reports whether a failed request may have been answered, and billed, all the
// same: it was sent, and no status of failure came back.
func MaybeBilled(e *lvlm.CallError) bool { return e.Sent && e.Status < 300 }

// into enters what the requests took.
func (a *Attempts) into(c *contract.CallCount) {
	c.Attempts, c.MaybeBilled = a.Sent, a.MaybeBilled
	c.Usage, c.Cost, c.Currency, c.Unpriced, c.Busy = a.Usage, a.Cost, a.Currency, a.Unpriced, a.Busy.Seconds()
}

// Attempted is what was attempted of a call that has no record: requests, failures, usage, cost.
// It is zero where nobody tried, and where the note cannot be read: whoever tries next says so.
func Attempted(ctx context.Context, store *artifacts.Repository, key artifacts.Key) (c contract.CallCount, err error) {
	text, err := store.ClaimNote(ctx, key)
	if err != nil {
		return c, err
	}
	var n note
	if json.Unmarshal(text, &n) != nil || n.Format != noteFormat {
		return c, nil
	}
	n.Attempts.into(&c)
	c.Failures = n.Attempts.Ends
	return c, nil
}

// clip keeps an endpoint's code short and fit for a note: it is a word, not a message.
func clip(code string) string {
	const most = 64
	if len(code) > most {
		code = strings.ToValidUTF8(code[:most], "")
	}
	return lvlm.Valid(code)
}

// note is what a claim holds.
type note struct {
	Format   string   `json:"format"`
	Attempts Attempts `json:"attempts"`
}

const noteFormat = "cxrepro-call-note-1"

// Note encodes attempts for the claim of their key.
func (a *Attempts) Note() ([]byte, error) {
	return artifacts.Canonical(note{noteFormat, *a})
}

// Inherit returns the attempts of a claim's earlier holders. A holder that did not give the
// claim back may have had a request under way.
//
// Errors: a note that is not ours; the attempts that can be known are returned all the same.
func Inherit(c *artifacts.Claim) (Attempts, error) {
	var n note
	var err error
	if len(c.Inherited) > 0 {
		if err = json.Unmarshal(c.Inherited, &n); err == nil && n.Format != noteFormat {
			err = errors.New("format " + n.Format)
		}
		if err != nil {
			n, err = note{}, fmt.Errorf("note of claim %s: %w", c.Key.Short(), err)
		}
	}
	switch c.Takeover {
	case artifacts.TakeoverNone, artifacts.TakeoverReleased:
	default:
		n.Attempts.Unseen(c.Previous.Worker)
	}
	return n.Attempts, err
}
