package viewcheck

import (
	"context"
	"errors"
	"fmt"
	"math"

	"cxrepro/internal/cxr"
	"cxrepro/internal/onnx"
)

// Options says on what a card's model runs.
type Options struct {
	Provider string // "cpu" or "cuda"; required. What is asked for is used, or New refuses
	Device   int    // of CUDA
	Library  string // path of the ONNX Runtime library; required
	Threads  int    // on one picture; 0 means the CPU quota
}

// Checker reads pictures, one at a time. Not for concurrent use.
type Checker struct {
	card     *Card
	session  *onnx.Session
	identity map[string]any
}

// New verifies the card's model file, loads it and runs it once, so that a model that
// cannot serve is refused at the start.
//
// Errors: those of Permanent, or the runtime's own.
func New(card *Card, o Options) (*Checker, error) {
	model, err := card.Model()
	if err != nil {
		return nil, err
	}
	identity, err := card.Identity(o.Provider)
	if err != nil {
		return nil, err
	}
	provider, err := onnx.ParseProvider(o.Provider)
	if err != nil {
		return nil, err
	}
	session, err := onnx.Open(onnx.Config{Library: o.Library, Model: model, Provider: provider, Device: o.Device, Threads: o.Threads,
		Input:  onnx.Tensor{Name: card.Input, Element: onnx.Float32, Shape: []int64{1, Side, Side, 3}},
		Output: onnx.Tensor{Name: card.Output, Element: onnx.Float32, Shape: []int64{1, Outputs}}})
	if err != nil {
		return nil, fmt.Errorf("view card %s: %w", card.Name, err)
	}
	c := &Checker{card: card, session: session, identity: identity}
	for i := range session.Input() {
		session.Input()[i] = 0.5
	}
	if _, err := c.run(context.Background()); err != nil {
		return nil, errors.Join(fmt.Errorf("view card %s: trial run: %w", card.Name, err), c.Close())
	}
	return c, nil
}

// Check reads one picture.
//
// Errors: an inconsistent picture, one that is all border, *ReadingError, onnx.ErrClosed,
// the context's error.
func (c *Checker) Check(ctx context.Context, m *cxr.Image) (Reading, error) {
	if err := m.Check(); err != nil {
		return Reading{}, fmt.Errorf("view check: %w", err)
	}
	s, err := Prepare(GreyOf(m))
	if err != nil {
		return Reading{}, fmt.Errorf("view check: %w", err)
	}
	in := c.session.Input()
	if in == nil {
		return Reading{}, onnx.ErrClosed
	}
	for i, v := range s.Input() {
		in[3*i], in[3*i+1], in[3*i+2] = v, v, v
	}
	return c.run(ctx)
}

// run infers from what lies in the input buffer.
func (c *Checker) run(ctx context.Context) (Reading, error) {
	if err := c.session.Run(ctx); err != nil {
		return Reading{}, fmt.Errorf("view check: %w", err)
	}
	return readingOf(c.session.Floats())
}

// readingOf parts the output into its heads.
func readingOf(out []float32) (Reading, error) {
	var r Reading
	take := func(p []float64, from int) float64 {
		sum := 0.0
		for i := range p {
			p[i] = float64(out[from+i])
			sum += p[i]
		}
		return sum
	}
	for i, v := range out {
		if !(v >= 0 && v <= 1) {
			return r, &ReadingError{Why: fmt.Sprintf("output %d is %v, no probability", i, v)}
		}
	}
	for name, sum := range map[string]float64{"type": take(r.Type[:], 0), "turn": take(r.Turn[:], Types)} {
		if math.Abs(sum-1) > 1e-3 {
			return r, &ReadingError{Why: fmt.Sprintf("the probabilities of head %s sum to %v", name, sum)}
		}
	}
	r.Inverted, r.Mirrored = float64(out[Types+Turns]), float64(out[Types+Turns+1])
	return r, nil
}

// Identity returns what belongs into the step key.
func (c *Checker) Identity() map[string]any { return c.identity }

// Runtime describes what computes, for provenance.
func (c *Checker) Runtime() onnx.Runtime { return c.session.Runtime() }

// Close frees the model.
func (c *Checker) Close() error { return c.session.Close() }

// ReadingError reports an inference that gave no probabilities: the model is not what its
// card says. Permanent.
type ReadingError struct{ Why string }

func (e *ReadingError) Error() string {
	return "view check: " + e.Why + "; hint: export the model with its four heads as probabilities side by side"
}

// Permanent reports whether err is one that asking again cannot mend.
func Permanent(err error) bool {
	var c *CardError
	var r *ReadingError
	return errors.As(err, &c) || errors.As(err, &r) || onnx.Permanent(err)
}

// Tally collects readings of pictures whose truth is known.
type Tally struct {
	heads [4][][]int
	cases int
}

// NewTally returns an empty tally.
func NewTally() *Tally {
	t := &Tally{}
	for i, names := range HeadNames() {
		t.heads[i] = make([][]int, len(names))
		for r := range t.heads[i] {
			t.heads[i][r] = make([]int, len(names))
		}
	}
	return t
}

// Add counts one picture; truth and reading name one value per head.
func (t *Tally) Add(truth, reading [4]int) {
	t.cases++
	for i := range truth {
		t.heads[i][truth[i]][reading[i]]++
	}
}

// Figures returns the confusion matrices with the words that say what was measured.
func (t *Tally) Figures(data string) Figures {
	f := Figures{Data: data, Cases: t.cases}
	for i, name := range []string{"type", "turn", "inverted", "mirrored"} {
		right := 0
		for k := range t.heads[i] {
			right += t.heads[i][k][k]
		}
		f.Heads = append(f.Heads, Head{Name: name, Right: math.Round(float64(right)/float64(max(t.cases, 1))*1e4) / 1e4, Confusion: t.heads[i]})
	}
	return f
}
