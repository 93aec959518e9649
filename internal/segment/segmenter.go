package segment

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/mask"
	"cxrepro/internal/onnx"
)

// Options says on what a card's model runs. None of it but Provider can change a mask's
// identity.
type Options struct {
	// Provider is "cpu" or "cuda"; required. What is asked for is used, or New refuses.
	Provider string
	// Device is the CUDA device.
	Device int
	// Library is the path of the ONNX Runtime library; required.
	Library string
	// Threads works on one picture; 0 means the CPU quota, divided by the sessions of a
	// pool.
	Threads int
}

// Segmenter finds the structures of pictures, one picture at a time. Not for concurrent
// use; see Pool.
type Segmenter struct {
	card     *Card
	identity Identity
	session  *onnx.Session
	pre      *preprocessor
	declared anatomy.Set
}

// New verifies the card's model file, loads it and runs it once, so that a model that
// cannot serve is refused at the start and not at the first picture.
//
// Errors: those of Permanent, or the runtime's own.
func New(card *Card, o Options) (*Segmenter, error) {
	model, err := card.Model()
	if err != nil {
		return nil, err
	}
	s, err := open(card, model, o)
	if err != nil {
		return nil, err
	}
	if err := s.selfTest(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// open loads verified model bytes.
func open(card *Card, model []byte, o Options) (*Segmenter, error) {
	identity, err := card.Identity(o.Provider)
	if err != nil {
		return nil, err
	}
	provider, err := onnx.ParseProvider(o.Provider)
	if err != nil {
		return nil, err
	}
	in, out := card.tensors()
	described, err := onnx.ReadModel(model)
	if err != nil {
		return nil, fmt.Errorf("model card %s: %w", card.Name, err)
	}
	if out.Element, err = card.outputElement(described, out); err != nil {
		return nil, fmt.Errorf("model card %s: %w", card.Name, err)
	}
	session, err := onnx.Open(onnx.Config{Library: o.Library, Model: model, Provider: provider, Device: o.Device,
		Threads: o.Threads, Input: in, Output: out})
	if err != nil {
		return nil, fmt.Errorf("model card %s: %w", card.Name, err)
	}
	return &Segmenter{card: card, identity: identity, session: session, pre: newPreprocessor(card.Input), declared: card.Structures()}, nil
}

// outputElement returns the element type of the card's output in the model, after the
// one check that deserves its own words: the number of channels.
func (c *Card) outputElement(m *onnx.Model, want onnx.Tensor) (onnx.Element, error) {
	for _, t := range m.Outputs {
		if t.Name != want.Name {
			continue
		}
		if len(t.Shape) == 4 && t.Shape[1] >= 1 && t.Shape[1] != want.Shape[1] {
			return 0, &ChannelError{Card: want.Shape[1], Model: t.Shape[1]}
		}
		if c.Output.Kind == KindMasks && (t.Element == onnx.Uint8 || t.Element == onnx.Bool) {
			return t.Element, nil
		}
	}
	if c.Output.Kind == KindMasks {
		return onnx.Uint8, nil
	}
	return onnx.Float32, nil
}

// selfTest segments a mid-grey picture.
func (s *Segmenter) selfTest() error {
	grey := cxr.NewImage(s.card.Input.Width, s.card.Input.Height)
	for i := range grey.Pix {
		grey.Pix[i] = 128
	}
	if _, err := s.Segment(context.Background(), grey); err != nil {
		return fmt.Errorf("model card %s: trial run: %w", s.card.Name, err)
	}
	return nil
}

// Segment returns the masks of all structures on the model's grid, with the picture's
// own size as native size.
//
// Errors: an inconsistent picture, *NotFiniteError, onnx.ErrClosed, the context's error.
func (s *Segmenter) Segment(ctx context.Context, m *cxr.Image) (*anatomy.Masks, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("segment: %w", err)
	}
	in := s.session.Input()
	if in == nil {
		return nil, onnx.ErrClosed
	}
	s.pre.fill(m, in)
	if err := s.session.Run(ctx); err != nil {
		return nil, fmt.Errorf("segment: %w", err)
	}
	return s.masks(m.Width, m.Height)
}

// masks reads the session's output, the channels shared out among as many goroutines as
// the session has threads: they lie idle just now.
func (s *Segmenter) masks(width, height int) (*anatomy.Masks, error) {
	w, h := s.card.Output.Width, s.card.Output.Height
	found, err := anatomy.NewMasks(w, h, width, height, s.declared)
	if err != nil {
		return nil, fmt.Errorf("segment: %w", err)
	}
	n := len(s.card.structures)
	masks, errs := make([]mask.Mask, n), make([]error, n)
	workers := min(s.session.Runtime().Threads, n)
	var wg sync.WaitGroup
	for first := range workers {
		wg.Go(func() {
			for c := first; c < n; c += workers {
				masks[c], errs[c] = s.channel(c, w, h)
			}
		})
	}
	wg.Wait()
	for c, structure := range s.card.structures {
		if errs[c] != nil {
			return nil, errs[c]
		}
		if !structure.Valid() {
			continue
		}
		if err := found.Put(structure, masks[c]); err != nil {
			return nil, fmt.Errorf("segment: %w", err)
		}
	}
	return found, nil
}

// channel returns the mask of one output channel.
func (s *Segmenter) channel(c, w, h int) (mask.Mask, error) {
	if s.card.Output.Kind == KindMasks {
		return nonZeroRuns(s.session.Bytes()[c*w*h:(c+1)*w*h], w, h), nil
	}
	plane := s.session.Floats()[c*w*h : (c+1)*w*h]
	var m mask.Mask
	var finite bool
	if s.card.Output.Threshold == 0 {
		m, finite = positiveRuns(plane, w, h)
	} else {
		m, finite = runsAbove(plane, w, h, float32(s.card.Output.Threshold))
	}
	if !finite {
		return m, &NotFiniteError{Channel: c, Name: s.card.Channels[c], Count: countNotFinite(plane)}
	}
	return m, nil
}

// Identity returns what belongs into the step key.
func (s *Segmenter) Identity() Identity { return s.identity }

// Runtime describes what computes, for provenance.
func (s *Segmenter) Runtime() onnx.Runtime { return s.session.Runtime() }

// Close frees the model.
func (s *Segmenter) Close() error { return s.session.Close() }
