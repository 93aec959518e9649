package activities

import (
	"context"
	"errors"

	"cxrepro/artifacts"
	"cxrepro/internal/derive"
)

// liveMeans makes what is not recorded, as part of an activity.
type liveMeans struct {
	a *Activities
	b *askBeat
	r *rollout
}

var _ means = (*liveMeans)(nil)

func (l *liveMeans) context() context.Context { return l.b.work }
func (l *liveMeans) activities() *Activities  { return l.a }

func (l *liveMeans) call(_ string, c *derive.Call) (answered, bool, error) {
	if err := l.b.ended(); err != nil {
		return answered{}, false, err
	}
	out, err := l.a.askCall(l.b, c)
	return out, err == nil, err
}

// beside runs keyed steps of the rollout under a pulse of their own.
func (l *liveMeans) beside(do func(p *pulse, t *tally) (artifacts.Record, error)) (artifacts.Record, bool, error) {
	l.b.alive(l.a.opts.Stall)
	p := l.a.beat(l.b.ctx, 1)
	defer p.close()
	t := &tally{effort: effort{reproduction: l.r.in.Reproduction, id: l.r.in.Reproduction}}
	rec, err := do(p, t)
	l.b.alive(l.a.opts.Stall)
	return rec, err == nil, err
}

func (l *liveMeans) step(doc artifacts.KeyDoc, compute func(ctx context.Context) (product, error)) (artifacts.Record, bool, error) {
	return l.beside(func(p *pulse, t *tally) (artifacts.Record, error) {
		return l.a.steps.once(p, doc, t, l.r.plan.Class(), compute)
	})
}

// measured returns the record that the measuring stage made. Should it be gone, it is made again
// where this worker has the models.
func (l *liveMeans) measured(image artifacts.Ref) (artifacts.Record, bool, error) {
	rec, ok, err := l.a.measurementRecord(l.b.work, l.r.plan, l.r.gate, image.Digest)
	if ok || err != nil {
		return rec, ok, err
	}
	return l.beside(func(p *pulse, t *tally) (artifacts.Record, error) { return l.a.measured(p, l.r.plan, image, t) })
}

// recordedMeans takes what is recorded, and makes nothing.
type recordedMeans struct {
	a   *Activities
	ctx context.Context
	r   *rollout
	// missing is the key of the call that has no record; zero where something else is missing.
	missing artifacts.Key
	kind    string
}

var _ means = (*recordedMeans)(nil)

func (k *recordedMeans) context() context.Context { return k.ctx }
func (k *recordedMeans) activities() *Activities  { return k.a }

func (k *recordedMeans) call(_ string, c *derive.Call) (answered, bool, error) {
	out, ok, err := k.a.findCall(k.ctx, c)
	if err == nil && !ok {
		k.missing, k.kind = c.Ledger.Key, c.Kind
	}
	return out, ok, err
}

func (k *recordedMeans) step(doc artifacts.KeyDoc, _ func(ctx context.Context) (product, error)) (artifacts.Record, bool, error) {
	key, err := doc.Key()
	if err != nil {
		return artifacts.Record{}, false, err
	}
	return k.a.recordOf(k.ctx, key)
}

func (k *recordedMeans) measured(image artifacts.Ref) (artifacts.Record, bool, error) {
	return k.a.measurementRecord(k.ctx, k.r.plan, k.r.gate, image.Digest)
}

// follow walks a rollout over the records alone. What a picture that was never prepared would
// have been part of has no record either.
func (a *Activities) follow(ctx context.Context, r *rollout) (k *recordedMeans, done bool, err error) {
	k = &recordedMeans{a: a, ctx: ctx, r: r}
	done, err = r.run(k)
	if errors.Is(err, artifacts.ErrNotFound) {
		return k, false, nil
	}
	return k, done, err
}
