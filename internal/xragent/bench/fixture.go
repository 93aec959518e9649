package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"cxrepro/internal/cxr"
	"cxrepro/internal/phantom"
)

// Writer takes the files of a fixture, each once, with the path below its folder.
type Writer interface {
	WriteFile(name string, data []byte) error
}

// FixtureOptions choose a synthetic benchmark. The zero value is the full size with seed 0.
type FixtureOptions struct {
	Seed uint64
	// Questions is how many there are; 0 is the published number. A smaller fixture keeps the
	// proportions of groups and sources and imports with counts any.
	Questions int
	// Long is the longer side of the pictures in pixels, at least 160; 0 is 256.
	Long int
}

// Fixture writes a synthetic benchmark in the form of its release: drawn pictures, few different
// ones under many names, and questions in our own words. Nothing in it is about a patient.
//
// Errors: those of w; a negative size; a side that no phantom has.
func Fixture(b Benchmark, o FixtureOptions, w Writer) error {
	if o.Long == 0 {
		o.Long = 256
	}
	if !b.Valid() || o.Questions < 0 || o.Long < leastLong {
		return fmt.Errorf("bench: fixture of %s with %d questions, pictures of %d pixels; want a benchmark, 0 or more, and %d or more", b, o.Questions, o.Long, leastLong)
	}
	f := &fixture{o: o, w: w, rng: stream(o.Seed, b.String()), drawn: map[drawing][]byte{}, written: map[string]bool{}}
	switch b {
	case ChestAgentBench:
		return f.chestAgentBench()
	case CheXbench:
		return f.cheXbench()
	}
	return f.slake()
}

// leastLong leaves each half of a picture of two panels large enough to be drawn.
const leastLong = 160

// fixture is a fixture on its way.
type fixture struct {
	o       FixtureOptions
	w       Writer
	rng     *rand.Rand
	drawn   map[drawing][]byte
	written map[string]bool
}

// drawing is a picture in a file format.
type drawing struct {
	kind phantom.Kind
	n    int
	jpeg bool
}

// stream is a named stream of draws.
func stream(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte("xragent/bench/" + name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// size is the number of questions: the published one, or what was asked for.
func (f *fixture) size(b Benchmark) int {
	if f.o.Questions > 0 {
		return f.o.Questions
	}
	return b.Expected()[0].N
}

// picture writes a picture once; kind is what it shows, n which of the different ones.
func (f *fixture) picture(name string, kind phantom.Kind, n int, jpeg bool) error {
	if f.written[name] {
		return nil
	}
	f.written[name] = true
	d := drawing{kind, n, jpeg}
	if f.drawn[d] == nil {
		im, _, err := phantom.DrawKind(f.o.Seed, n, kind, f.o.Long)
		if err != nil {
			return fmt.Errorf("bench: fixture: %w", err)
		}
		if jpeg {
			f.drawn[d], err = cxr.EncodeJPEG(im, 85)
		} else {
			f.drawn[d], err = cxr.EncodePNG(im)
		}
		if err != nil {
			return fmt.Errorf("bench: fixture: %w", err)
		}
	}
	return f.w.WriteFile(name, f.drawn[d])
}

// frontals is how many different PA pictures a fixture has.
const frontals = 8

// odd are the kinds of pictures in a quarter of the cases, as the benchmark holds pictures that are
// no PA radiographs.
var odd = []phantom.Kind{phantom.KindAP, phantom.KindLateral, phantom.KindSlice, phantom.KindTwoPanel, phantom.KindTurned90, phantom.KindInverted, phantom.KindCropped}

// kindOf gives picture k of a fixture its kind: three of four are PA.
func kindOf(k int) (phantom.Kind, int) {
	if k%4 == 3 {
		return odd[(k/4)%len(odd)], 0
	}
	return phantom.KindPA, k % frontals
}

// parts splits n by weights, by largest remainder.
func parts(n int, weights []int) []int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	out, rest := make([]int, len(weights)), make([]int, len(weights))
	left := n
	for i, w := range weights {
		out[i], rest[i] = n*w/sum, n*w%sum
		left -= out[i]
	}
	for ; left > 0; left-- {
		best := 0
		for i := range rest {
			if rest[i] > rest[best] {
				best = i
			}
		}
		out[best]++
		rest[best] = -1
	}
	return out
}

// lines writes values as JSON lines.
func lines[T any](list []T) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, v := range list {
		if err := enc.Encode(v); err != nil {
			return nil, fmt.Errorf("bench: fixture: %w", err)
		}
	}
	return b.Bytes(), nil
}
