package responder

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxreasonbench"
)

// span is a range of an option.
type span struct{ low, high float64 }

// value writes the line with the value that a last question asks for: in the range of the
// measurement before, or not.
func value(p place, in intent, r *rand.Rand) string {
	spans := p.spans(in, r)
	if len(spans) == 0 {
		return "\nValue: not measurable"
	}
	row, _ := cxreasonbench.RowOf(p.at.task)
	sides := p.at.task == chexstruct.Projection
	texts := make([]string, len(spans))
	for i, s := range spans {
		texts[i] = s.inside(row.ValueDecimals, r)
	}
	if !in.consistent && !in.letter {
		switch n := r.IntN(10); {
		case n < 2:
			for i, s := range spans {
				texts[i] = decimal(s.low, row.ValueDecimals) + " - " + decimal(s.high, row.ValueDecimals)
			}
		case n < 4:
			return ""
		default:
			i := r.IntN(len(spans))
			texts[i] = spans[i].outside(row.ValueDecimals, r)
		}
	}
	if sides {
		return "\nValue: Right - " + texts[0] + ", Left - " + texts[len(texts)-1]
	}
	return "\nValue: " + texts[0]
}

// spans are the ranges of the path's measurement that the reference accepts, or any for a
// model that chooses without looking; for projection one for each side.
func (p place) spans(in intent, r *rand.Rand) []span {
	q := p.at.question(cxreasonbench.Key{Path: p.q.Key.Path, Stage: cxreasonbench.StageMeasurement})
	if q == nil {
		return nil
	}
	var out []span
	for _, letter := range q.Accepted {
		o, _ := q.Option(letter)
		if in.letter {
			o = q.Options[r.IntN(len(q.Options))]
		}
		if s, ok := spanOf(o.Text); ok {
			out = append(out, s)
		}
	}
	return out
}

// spanOf reads "[0.49 - 0.51]", also behind "Right: ".
func spanOf(text string) (s span, ok bool) {
	_, rest, found := strings.Cut(text, "[")
	low, high, dash := strings.Cut(strings.TrimSuffix(strings.TrimSpace(rest), "]"), " - ")
	if !found || !dash {
		return s, false
	}
	var err1, err2 error
	s.low, err1 = strconv.ParseFloat(strings.TrimSpace(low), 64)
	s.high, err2 = strconv.ParseFloat(strings.TrimSpace(high), 64)
	return s, err1 == nil && err2 == nil
}

// inside is a number of the range, with as few decimals as are asked for, more where none of
// so few lies in it.
func (s span) inside(decimals int, r *rand.Rand) string {
	want := s.low + r.Float64()*(s.high-s.low)
	for d := decimals; d <= decimals+4; d++ {
		for _, v := range []float64{want, s.low, s.high, (s.low + s.high) / 2} {
			text := decimal(v, d)
			if got, err := strconv.ParseFloat(text, 64); err == nil && s.low <= got && got <= s.high {
				return text
			}
		}
	}
	return strconv.FormatFloat(s.low, 'f', -1, 64)
}

// outside is a number above the range.
func (s span) outside(decimals int, r *rand.Rand) string {
	step := math.Pow10(-decimals)
	width := max(s.high-s.low, step)
	return decimal(s.high+step+r.Float64()*2*width, decimals)
}

func decimal(v float64, decimals int) string { return strconv.FormatFloat(v, 'f', decimals, 64) }
