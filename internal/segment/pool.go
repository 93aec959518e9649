package segment

import (
	"context"
	"errors"
	"fmt"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/onnx"
)

// Pool is a fixed number of segmenters of one card. Safe for concurrent use: callers
// beyond that number wait.
type Pool struct {
	free     chan *Segmenter
	all      []*Segmenter
	identity Identity
	runtime  onnx.Runtime
}

// NewPool loads sessions copies of the card's model; each gets its share of the CPU
// quota unless Options.Threads says otherwise.
//
// Errors: as for New.
func NewPool(card *Card, o Options, sessions int) (*Pool, error) {
	if sessions < 1 {
		return nil, fmt.Errorf("segment: a pool needs at least one session, got %d", sessions)
	}
	if o.Threads < 1 {
		o.Threads = onnx.ThreadsFor(sessions)
	}
	model, err := card.Model()
	if err != nil {
		return nil, err
	}
	p := &Pool{free: make(chan *Segmenter, sessions)}
	for range sessions {
		s, err := open(card, model, o)
		if err == nil && len(p.all) == 0 {
			if err = s.selfTest(); err != nil {
				err = errors.Join(err, s.Close())
			}
		}
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		p.all = append(p.all, s)
		p.free <- s
	}
	p.identity, p.runtime = p.all[0].Identity(), p.all[0].Runtime()
	return p, nil
}

// Segment runs one picture on the next free segmenter.
//
// Errors: as for Segmenter.Segment.
func (p *Pool) Segment(ctx context.Context, m *cxr.Image) (*anatomy.Masks, error) {
	select {
	case s := <-p.free:
		defer func() { p.free <- s }()
		return s.Segment(ctx, m)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Size returns the number of segmenters.
func (p *Pool) Size() int { return len(p.all) }

// Identity returns what belongs into the step key.
func (p *Pool) Identity() Identity { return p.identity }

// Runtime describes what computes, for provenance.
func (p *Pool) Runtime() onnx.Runtime { return p.runtime }

// Close frees all segmenters; no Segment may be under way or follow.
func (p *Pool) Close() error {
	var errs []error
	for _, s := range p.all {
		errs = append(errs, s.Close())
	}
	p.all = nil
	return errors.Join(errs...)
}
