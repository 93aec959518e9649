package dataset

import (
	"fmt"
	"strconv"
	"strings"

	"cxrepro/internal/mask"
)

// decodeRLE reads CheXmask's run lengths of a w x h mask: pairs of start and length,
// separated by spaces; starts count from 1 along the rows of the picture.
//
// Errors: a field that is no number, an odd number of fields, runs out of order, or a run
// beyond the picture. Source: [official code] CheXmask's own decoder.
func decodeRLE(w, h int, text string) (mask.Mask, error) {
	b := mask.NewBuilder(w, h)
	end := 0 // first position after the last run
	for n := 0; ; n++ {
		start, rest, ok, err := nextNumber(text)
		if err != nil {
			return mask.Mask{}, fmt.Errorf("run %d: %w", n+1, err)
		}
		if !ok {
			return b.Mask(), nil
		}
		length, rest, ok, err := nextNumber(rest)
		if err != nil || !ok {
			return mask.Mask{}, fmt.Errorf("run %d has a start and no length", n+1)
		}
		text = rest
		p := start - 1
		if p < end || length < 0 || length > w*h-p {
			return mask.Mask{}, fmt.Errorf("run %d of %d pixels from %d: want one after %d and inside %d x %d", n+1, length, start, end, w, h)
		}
		end = p + length
		for p < end {
			y := p / w
			stop := min(end, (y+1)*w)
			b.Add(y, p-y*w, stop-y*w)
			p = stop
		}
	}
}

// nextNumber cuts the next number off a text of numbers separated by white space.
func nextNumber(text string) (v int, rest string, ok bool, err error) {
	text = strings.TrimLeft(text, " \t\r\n")
	if text == "" {
		return 0, "", false, nil
	}
	i := strings.IndexAny(text, " \t\r\n")
	if i < 0 {
		i = len(text)
	}
	v, err = strconv.Atoi(text[:i])
	if err != nil {
		return 0, "", false, fmt.Errorf("%q is no number", clip(text[:i]))
	}
	return v, text[i:], true, nil
}
