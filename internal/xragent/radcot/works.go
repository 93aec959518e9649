package radcot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
)

// maxWork bounds one line of a file of work.
const maxWork = 16 << 20

// ReadWork streams a file of finished work: one JSON object a line, a candidate and what it was
// answered, in the order of the candidate set. A line without replies is a candidate that nobody
// knows the end of.
func ReadWork(r io.Reader, file string) iter.Seq2[Work, error] {
	return func(yield func(Work, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 64<<10), maxWork)
		for n := 1; lines.Scan(); n++ {
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			var w Work
			dec := json.NewDecoder(bytes.NewReader(lines.Bytes()))
			dec.DisallowUnknownFields()
			err := dec.Decode(&w)
			if err != nil {
				err = fmt.Errorf("%s line %d: %w; hint: one object with candidate, written and rollouts a line", file, n, err)
			}
			if !yield(w, err) || err != nil {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Work{}, fmt.Errorf("%s: %w", file, err))
		}
	}
}

// Finish closes a construction over work in the order of the candidates.
//
// Errors: work of another candidate set, or that is not done.
func Finish(set *Set, closing *Closing, works iter.Seq2[Work, error]) (*Built, error) {
	i := 0
	for w, err := range works {
		if err != nil {
			return nil, err
		}
		if i == len(set.Candidates) {
			return nil, fmt.Errorf("work of %s: the set has %d candidates only", w.Candidate.ID, i)
		}
		c := &set.Candidates[i]
		i++
		if w.Candidate.ID != c.ID || w.Candidate.key() != c.key() || w.Candidate.Picture.Image != c.Picture.Image {
			return nil, fmt.Errorf("work of %s stands in the place of %s; hint: give the work of this candidate set, in its order", w.Candidate.ID, c.ID)
		}
		w.Candidate = *c
		if len(w.Written)+len(w.Rollouts) == 0 {
			if err := closing.Add(nil); err != nil {
				return nil, err
			}
			continue
		}
		o, err := set.Spec.Outcome(w)
		if err == nil {
			err = closing.Add(&o)
		}
		if err != nil {
			return nil, err
		}
	}
	return closing.Close()
}
