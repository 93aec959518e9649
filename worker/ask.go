package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/worker"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/artifacts/localhost"
	"cxrepro/internal/contract"
	"cxrepro/internal/datause"
	"cxrepro/internal/ledger"
	"cxrepro/internal/ledger/limit"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/endpoint"
)

// defaultLease is how long a lease of an endpoint outlives its last renewal.
const defaultLease = 15 * time.Second

// askThrottle is how stale the heartbeat of a call may be that the server has.
const askThrottle = 800 * time.Millisecond

// askPollers is how many requests for work a queue of calls has open, at most. They are as many
// from the beginning: one takes its time, a hundredth of a second or a tenth where the machine is
// busy, and a queue that is asked too rarely leaves places at the endpoint empty.
const askPollers = 16

// slots is how many calls of a model this process works on, for an endpoint of this concurrency:
// half as many beside those in flight, so that looking up, recording and waiting for work do not
// hold requests up. Those of other models wait for the same places, so that more would only wait
// here instead of in the queue.
func slots(concurrency int) int { return concurrency + max(2, concurrency/2) }

// pollers is how many requests for work so many slots are worth.
func pollers(slots int) int { return min(askPollers, max(1, slots/4)) }

// askers serves the calls to models: a queue for each model card, for as long as this process
// holds the lease of the card's endpoint.
type askers struct {
	opts   Options
	acts   *activities.Activities
	leases *ledger.Leases
	groups []*group

	stop context.CancelFunc
	wg   sync.WaitGroup
}

// group is what shares an endpoint and a credential: one lease, one gate.
type group struct {
	id     string
	gate   *limit.Gate
	models map[string]*activities.AskEndpoint
	// refused says why an endpoint cannot be opened; its calls fail with it.
	refused map[string]error
	slots   map[string]int

	mu    sync.Mutex // guards what follows
	held  bool
	since time.Time
	err   error
}

// newAskers opens every endpoint. One that lacks its credential is served all the same: its
// calls say so, and a reproduction pauses with the reason.
func newAskers(o Options) (*askers, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Lease <= 0 {
		o.Lease = defaultLease
	}
	host := localhost.New()
	a := &askers{opts: o, leases: &ledger.Leases{
		Store: o.Store, Owner: host.Owner(artifacts.Owner{Worker: o.Name}), Now: time.Now, Dead: host.Dead, TTL: o.Lease,
	}}
	if o.Endpoints != nil {
		for i := range o.Endpoints.Endpoints {
			if err := a.open(&o.Endpoints.Endpoints[i]); err != nil {
				return nil, err
			}
		}
	}
	if len(o.Recorded) > 0 {
		g := &group{gate: limit.New(limit.Options{Now: time.Now}), models: map[string]*activities.AskEndpoint{}, slots: map[string]int{}}
		for _, model := range o.Recorded {
			if a.serving(model) != nil {
				return nil, fmt.Errorf("worker: model card %s has an endpoint and shall be answered from the ledger alone; choose one", model)
			}
			g.models[model] = &activities.AskEndpoint{Name: "recorded", Recorded: true, Gate: g.gate, Attestation: datause.Attestation{Local: true}}
			g.slots[model] = o.CPUSlots * 4
		}
		a.groups = append(a.groups, g)
	}
	return a, nil
}

func (a *askers) open(card *endpoint.Card) error {
	id := card.ID(a.opts.Getenv)
	i := slices.IndexFunc(a.groups, func(g *group) bool { return g.id == id })
	if i < 0 {
		i = len(a.groups)
		a.groups = append(a.groups, &group{
			id: id, models: map[string]*activities.AskEndpoint{}, refused: map[string]error{}, slots: map[string]int{},
			gate: limit.New(limit.Options{Now: time.Now, Limits: a.limits(id)}),
		})
	}
	g := a.groups[i]
	for _, model := range card.Served() {
		e := &activities.AskEndpoint{Name: card.Name, Gate: g.gate, Attestation: card.Attestation, Timeout: card.Limits.Timeout}
		if card.Price != nil {
			e.Price = *card.Price
		}
		asker, err := card.Open(context.Background(), endpoint.Options{Model: model, Getenv: a.opts.Getenv})
		var refused *lvlm.CallError
		if err != nil && !errors.As(err, &refused) {
			return fmt.Errorf("worker: endpoint %s: %w", card.Name, err)
		}
		e.Asker = asker
		g.models[model] = e
		if refused != nil {
			g.refused[model] = activities.EndpointFailure(card.Name, refused)
		}
		g.slots[model] = slots(card.Limits.Concurrency)
	}
	return nil
}

// limits are the strictest of all cards that share an endpoint and a credential.
func (a *askers) limits(id string) limit.Limits {
	var out limit.Limits
	strict := func(have *int, v int) {
		if v > 0 && (*have == 0 || v < *have) {
			*have = v
		}
	}
	for i := range a.opts.Endpoints.Endpoints {
		if c := &a.opts.Endpoints.Endpoints[i]; c.ID(a.opts.Getenv) == id {
			strict(&out.Requests, c.Limits.RequestsPerMinute)
			strict(&out.Tokens, c.Limits.TokensPerMinute)
			strict(&out.Concurrency, c.Limits.Concurrency)
		}
	}
	return out
}

func (a *askers) serving(model string) *group {
	for _, g := range a.groups {
		if g.models[model] != nil {
			return g
		}
	}
	return nil
}

// endpoint returns where the calls to a model card go.
func (a *askers) endpoint(model string) (*activities.AskEndpoint, error) {
	g := a.serving(model)
	if g == nil {
		return nil, activities.EndpointFailure("of this worker", &lvlm.CallError{Class: lvlm.Configured, Detail: "none serves model card " + model})
	}
	if err := g.refused[model]; err != nil {
		return nil, err
	}
	return g.models[model], nil
}

// start begins to serve: at once what needs no lease, everything else when it has one.
func (a *askers) start(acts *activities.Activities) {
	a.acts = acts
	var ctx context.Context
	ctx, a.stop = context.WithCancel(context.Background())
	for _, g := range a.groups {
		a.wg.Go(func() {
			if g.id != "" {
				a.hold(ctx, g)
				return
			}
			for ctx.Err() == nil {
				a.serve(ctx, g, func() { <-ctx.Done() })
			}
		})
	}
}

// close finishes what is in hand, gives leases back, and what is left of budgets.
func (a *askers) close(ctx context.Context) error {
	if a.stop == nil {
		return nil
	}
	a.stop()
	a.wg.Wait()
	return a.acts.CloseAsks(ctx)
}

// hold takes the lease of a group again and again, and serves while it has it.
func (a *askers) hold(ctx context.Context, g *group) {
	log := a.opts.Log.With("endpoint_id", g.id)
	waiting := false
	g.note(false, nil)
	for ctx.Err() == nil {
		lease, err := a.leases.Take(ctx, g.id)
		var held *ledger.LeaseHeldError
		switch {
		case err == nil:
			waiting = false
			g.note(true, nil)
			log.Info("endpoint leased", "fence", lease.Fence())
			g.gate.Close(lease.NotBefore)
			a.admit(g, lease)
			a.serve(ctx, g, func() { a.keep(ctx, g, lease) })
			g.note(false, nil)
			if err := lease.Release(context.WithoutCancel(ctx)); err != nil {
				log.Warn("lease not given back; it runs out by itself", "err", err)
			}
			continue
		case errors.As(err, &held):
			g.note(false, err)
			if !waiting {
				waiting = true
				log.Info("another process serves the endpoint; standing by", "holder", held.Holder.Worker)
			}
		case ctx.Err() == nil:
			g.note(false, err)
			log.Warn("lease not taken", "err", err)
		}
		sleep(ctx, a.opts.Lease/5)
	}
}

// admit opens the gate until a third of the lease before its end: clocks may differ by that.
func (a *askers) admit(g *group, lease *ledger.Lease) {
	g.gate.Hold(lease.Until().Add(-a.opts.Lease / 3))
}

// keep renews a lease until it is lost or the worker stops.
func (a *askers) keep(ctx context.Context, g *group, lease *ledger.Lease) {
	for {
		t := time.NewTimer(a.opts.Lease / 5)
		select {
		case <-t.C:
		case <-g.gate.Closings(): // the next holder shall know at once
		case <-ctx.Done():
		}
		t.Stop()
		if ctx.Err() != nil {
			return
		}
		err := lease.Renew(ctx, g.gate.Closed())
		var lost *ledger.LostError
		switch {
		case err == nil:
			a.admit(g, lease)
		case errors.As(err, &lost), time.Now().After(lease.Until()):
			g.gate.Hold(time.Time{})
			a.opts.Log.Warn("lease of an endpoint lost", "endpoint_id", g.id, "err", err)
			return
		case ctx.Err() == nil:
			a.opts.Log.Warn("lease not renewed", "endpoint_id", g.id, "err", err)
		}
	}
}

// serve serves the queues of a group while wait runs.
func (a *askers) serve(ctx context.Context, g *group, wait func()) {
	var running []worker.Worker
	defer func() {
		var stopping sync.WaitGroup
		for _, w := range running {
			stopping.Go(w.Stop)
		}
		stopping.Wait()
	}()
	for model := range g.models {
		o := a.opts.sdk(g.slots[model])
		o.DisableWorkflowWorker = true
		o.MaxHeartbeatThrottleInterval, o.DefaultHeartbeatThrottleInterval = askThrottle, askThrottle
		n := pollers(g.slots[model])
		o.ActivityTaskPollerBehavior = worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{
			InitialNumberOfPollers: n, MinimumNumberOfPollers: n, MaximumNumberOfPollers: askPollers,
		})
		w := worker.New(a.opts.Client, contract.QueueAsk(a.opts.Queue, model), o)
		a.acts.RegisterAsk(w)
		if err := w.Start(); err != nil {
			a.opts.Log.Error("queue of a model not served; it is tried again", "card", model, "err", err)
			sleep(ctx, a.opts.Lease/5)
			return
		}
		running = append(running, w)
	}
	wait()
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
