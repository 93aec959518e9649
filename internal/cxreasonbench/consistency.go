package cxreasonbench

import (
	"regexp"
	"strconv"
	"strings"

	"cxrepro/internal/chexstruct"
)

const projection = chexstruct.Projection

var (
	// boundNumber: an optional sign with a decimal number, or a run of digits.
	boundNumber = regexp.MustCompile(`[+-]?[0-9]*\.[0-9]+|[0-9]+`)
	// exponentNumber also takes an exponent.
	exponentNumber = regexp.MustCompile(`[+-]?(?:[0-9]*\.)?[0-9]+(?:[eE][+-]?[0-9]+)?`)
	// replyRange: two numbers joined by a plain hyphen.
	replyRange = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)?\s*-\s*[0-9]+(?:\.[0-9]+)?`)
	// replyNumber: as boundNumber, a minus is never part of it.
	replyNumber = regexp.MustCompile(`\+?[0-9]*\.[0-9]+|\+?[0-9]+`)
)

// Consistent reports whether the value told in the last reply of a path lies in the range of
// the measurement stage before, which the model had right. Both bounds belong to the range;
// nothing is rounded.
//
// reference is the reference answer of the measurement stage, for example
// "(b) [0.49 - 0.51]" or, for projection, "(b) Right: [0.1 - 0.3], (g) Left: [0.4 - 0.6]".
// reply is the raw final reply: ranges in it are dropped, then blanks but not line breaks,
// and the numbers that are left must be one number in one spelling, or for projection exactly
// two, the right side first. No number, several numbers, a percentage or an exponent make it
// inconsistent.
//
// Source: [official code]; NumberReading=exponents [ours].
func Consistent(rules Rules, task Task, reference, reply string) bool {
	pattern := boundNumber
	if rules.is(NumberReading, Exponents) {
		pattern = exponentNumber
	}
	bounds, ok := parseNumbers(pattern.FindAllString(reference, -1))
	if !ok || len(bounds) == 0 {
		return false
	}
	last := bounds[len(bounds)-1]
	texts := replyNumbers(reply)
	values, ok := parseNumbers(texts)
	if !ok {
		return false
	}
	if task == projection {
		return len(bounds) >= 3 && len(values) == 2 &&
			bounds[0] <= values[0] && values[0] <= bounds[1] &&
			bounds[2] <= values[1] && values[1] <= last
	}
	if len(values) == 0 {
		return false
	}
	for _, t := range texts {
		if t != texts[0] {
			return false
		}
	}
	return bounds[0] <= values[0] && values[0] <= last
}

// replyNumbers returns the texts of the numbers of a reply that the consistency check sees.
func replyNumbers(reply string) []string {
	reply = replyRange.ReplaceAllString(reply, "")
	reply = strings.ReplaceAll(reply, " ", "")
	return replyNumber.FindAllString(reply, -1)
}

func parseNumbers(texts []string) ([]float64, bool) {
	values := make([]float64, len(texts))
	for i, t := range texts {
		v, err := strconv.ParseFloat(t, 64)
		if err != nil {
			return nil, false
		}
		values[i] = v
	}
	return values, true
}

// ValueForm is how a final reply of a measurement task tells its value. The zero value is
// invalid.
type ValueForm uint8

const (
	// OneNumber: one number (for projection one for each side), in one spelling.
	OneNumber ValueForm = iota + 1
	// RangeOnly: a range and no number beside it.
	RangeOnly
	// SeveralNumbers: other than the numbers that were asked for.
	SeveralNumbers
	// NoNumber: neither.
	NoNumber
)

// ValueForms returns every form.
func ValueForms() []ValueForm { return []ValueForm{OneNumber, RangeOnly, SeveralNumbers, NoNumber} }

// String returns the form in words.
func (f ValueForm) String() string {
	switch f {
	case OneNumber:
		return "one number"
	case RangeOnly:
		return "a range only"
	case SeveralNumbers:
		return "several numbers"
	case NoNumber:
		return "no number"
	}
	return "invalid value form"
}

// FormOf returns how a final reply tells its value.
//
// Source: [paper D] counts the replies with one number, a range only, none.
func FormOf(task Task, reply string) ValueForm {
	texts := replyNumbers(reply)
	switch {
	case len(texts) == 0 && replyRange.MatchString(reply):
		return RangeOnly
	case len(texts) == 0:
		return NoNumber
	case task == projection:
		if len(texts) == 2 {
			return OneNumber
		}
		return SeveralNumbers
	}
	for _, t := range texts {
		if t != texts[0] {
			return SeveralNumbers
		}
	}
	return OneNumber
}
