package responder

import (
	"errors"
	"fmt"
	"strings"

	"cxrepro/internal/cxreasonbench"
)

// errUnknown: the request is about nothing in the benchmark.
var errUnknown = errors.New("unknown_question")

// turn is what the user says once.
type turn struct {
	text     string
	pictures []picture
}

// place is a question in a dialogue: of the case at, in a dialogue that began with own. The
// two differ in the re-evaluation.
type place struct {
	own, at *known
	q       *cxreasonbench.Question
}

// locate finds the question that the last of the user's turns asks. The turns before say which
// of several questions with one text it is, and radiographs which case it is about.
//
// Errors: wrapping errUnknown.
func (b *Benchmark) locate(turns []turn) (place, error) {
	var own, at []*known
	var p place
	after, radiographs := 0, 0
	for i, t := range turns {
		text, ok := b.texts[strings.TrimSpace(t.text)]
		if !ok {
			return place{}, fmt.Errorf("%w: the text of turn %d is no question of the benchmark", errUnknown, i+1)
		}
		if b.first[text] != nil && len(t.pictures) == 1 {
			var err error
			if at, err = b.looks.find(t.pictures[0], text, b.first[text]); err != nil {
				return place{}, err
			}
			if len(at) == 0 {
				return place{}, fmt.Errorf("%w: the picture of turn %d is no radiograph of the benchmark", errUnknown, i+1)
			}
			radiographs++
		}
		if at == nil {
			return place{}, fmt.Errorf("%w: turn %d comes before any radiograph", errUnknown, i+1)
		}
		var still []*known
		for _, k := range at {
			if k.next(text, after) != nil {
				still = append(still, k)
			}
		}
		if len(still) == 0 {
			return place{}, fmt.Errorf("%w: turn %d asks what is not asked about its radiograph at this point", errUnknown, i+1)
		}
		at = still
		if radiographs == 1 {
			own = at
		}
		a := at[0].next(text, after)
		after, p.q = a.rank, &a.q
	}
	if len(turns) == 0 {
		return place{}, fmt.Errorf("%w: there is no question", errUnknown)
	}
	p.own, p.at = own[0], at[0]
	return p, nil
}
