package radcot

import (
	"bytes"
	"fmt"
	"slices"

	"cxrepro/artifacts"
)

// Pin names the picture of every candidate by content, as ref reads it. A candidate whose file is
// an evaluation picture under another name is taken out and counted.
func (s *Set) Pin(ex *Exclusions, ref func(c *Candidate) (artifacts.Ref, error)) error {
	left := tally{}
	for _, c := range s.Left {
		left[c.Name] = c.N
	}
	for i := range s.Candidates {
		c := &s.Candidates[i]
		r, err := ref(c)
		if err != nil {
			return fmt.Errorf("picture of candidate %s: %w", c.ID, err)
		}
		c.Picture.Image = r
	}
	s.Candidates = slices.DeleteFunc(s.Candidates, func(c Candidate) bool {
		code := ex.Excludes(&c)
		if code != "" {
			left[string(c.Source)+"/"+string(code)]++
		}
		return code != ""
	})
	s.Left = left.list()
	s.Short = nil
	for _, p := range Parts() {
		n := s.Spec.Amounts.Of(p).Draw
		for i := range s.Candidates {
			if s.Candidates[i].Part == p {
				n--
			}
		}
		if n > 0 {
			s.Short = append(s.Short, Count{string(p), n})
		}
	}
	return nil
}

// Same adds evaluation pictures by content to the exclusions.
func (e *Exclusions) Same(files ...artifacts.Digest) {
	e.Files = append(e.Files, files...)
	slices.SortFunc(e.Files, func(a, b artifacts.Digest) int { return bytes.Compare(a[:], b[:]) })
	e.Files = slices.Compact(e.Files)
	e.tidy()
}
