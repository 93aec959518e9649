package limit

import "time"

// RefusedError says that the endpoint refused a request for a reason that a person must see to,
// after this one was asked for: it would be refused as well, and was not sent.
type RefusedError struct {
	// Err is the failure of the request that was sent.
	Err error
}

func (e *RefusedError) Error() string { return "not sent: " + e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// refusal is kept until a request of later is accepted.
type refusal struct {
	at    time.Time
	err   error
	probe *Permit // the one request that may find out whether it still holds
}

// everybody is the scope of a refusal that holds whatever the request's scope.
const everybody = ""

// Refused ends a permit after the endpoint refused it for a reason that waiting does not cure.
// Requests asked for until now are refused with the same error; those asked for later, such as
// after a person acted, go one by one until one of them is accepted. all says that the reason
// is not one of the request's scope.
func (p *Permit) Refused(all bool, err error) {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	scope := p.scope
	if all {
		scope = everybody
	}
	// What was under way together with the first refused one tells nothing new.
	if r := g.refused[scope]; r == nil || r.probe == p {
		g.refused[scope] = &refusal{at: g.opts.Now(), err: err}
	}
	g.leave(p)
	g.wakeAll()
}

// holding calls f for each refusal that concerns p. The caller holds mu.
func (g *Gate) holding(p *Permit, f func(scope string, r *refusal)) {
	for _, scope := range []string{everybody, p.scope} {
		if r := g.refused[scope]; r != nil {
			f(scope, r)
		}
		if p.scope == everybody {
			return
		}
	}
}

// refuses returns the refusal of what was asked for before it.
func (g *Gate) refuses(p *Permit) (err error) {
	g.holding(p, func(_ string, r *refusal) {
		if err == nil && !p.asked.After(r.at) {
			err = &RefusedError{Err: r.err}
		}
	})
	return err
}

// probed reports whether another request is finding out whether p would be refused.
func (g *Gate) probed(p *Permit) (busy bool) {
	g.holding(p, func(_ string, r *refusal) { busy = busy || r.probe != nil })
	return busy
}

// probe makes p the one that finds out.
func (g *Gate) probe(p *Permit) {
	g.holding(p, func(_ string, r *refusal) { r.probe = p })
}

// accepted forgets what p has shown to be over.
func (g *Gate) accepted(p *Permit) {
	g.holding(p, func(scope string, r *refusal) {
		if r.probe == p {
			delete(g.refused, scope)
		}
	})
}
