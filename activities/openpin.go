package activities

import (
	"errors"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// launchHold is how long the pin of a launch counts after it was set. It is set again while
// the data set is read, and goes when the reproduction has its own; one that failed leaves a
// pin that runs out.
const launchHold = 48 * time.Hour

// launchPin names the pin of a plan whose data set is being read: there is no reproduction yet
// that a pin could be named after.
func launchPin(plan artifacts.Ref) string { return "launch-" + contract.SpecID(plan.Digest) }

// launching keeps what the reading of a data set writes from garbage collection.
func (a *Activities) launching(p *pulse, plan artifacts.Ref) error {
	name := launchPin(plan)
	now := a.opts.Now()
	pin, err := a.opts.Store.Pin(p.work, name)
	if err == nil && pin.Until.Sub(now) > launchHold/2 {
		return nil
	}
	if err != nil && !errors.Is(err, artifacts.ErrNotFound) {
		return err
	}
	return a.open(p, artifacts.Pin{Name: name, Roots: []artifacts.Ref{plan}, Until: now.Add(launchHold), Note: "data set being read"}, name)
}

// launched removes the pin of a launch: the reproduction has its own, or is finished.
func (a *Activities) launched(p *pulse, plan artifacts.Ref) error {
	err := a.opts.Store.RemovePin(p.work, launchPin(plan))
	if errors.Is(err, artifacts.ErrNotFound) {
		return nil
	}
	return err
}

// open sets an open pin. It counts from when the earlier one was set that it follows, or an
// earlier one of its own name: what was written since may be needed.
func (a *Activities) open(p *pulse, pin artifacts.Pin, follows string) error {
	pin.Open, pin.Created = true, a.opts.Now()
	for _, name := range []string{pin.Name, follows} {
		before, err := a.opts.Store.Pin(p.work, name)
		if errors.Is(err, artifacts.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if before.OpenAt(a.opts.Now()) && before.Created.Before(pin.Created) {
			pin.Created = before.Created
		}
	}
	return a.opts.Store.SetPin(p.work, pin)
}
