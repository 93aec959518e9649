package cxreasonbench

import (
	"fmt"
	"slices"
	"strings"

	"cxrepro/internal/chexstruct"
)

// SampleMode says how the cases of a task are drawn. The zero value is invalid.
type SampleMode uint8

const (
	// SampleRandom draws from all that are eligible, as the paper describes it.
	SampleRandom SampleMode = iota + 1
	// SampleBalanced draws as many of each class, and fills up where a class is short.
	SampleBalanced
)

var sampleText = [...]string{SampleRandom: "random", SampleBalanced: "balanced"}

// Valid reports whether m is a mode.
func (m SampleMode) Valid() bool { return m == SampleRandom || m == SampleBalanced }

// String returns "random" or "balanced".
func (m SampleMode) String() string {
	if !m.Valid() {
		return fmt.Sprintf("invalid sample mode %d", uint8(m))
	}
	return sampleText[m]
}

// MarshalText encodes a valid mode.
func (m SampleMode) MarshalText() ([]byte, error) {
	if !m.Valid() {
		return nil, fmt.Errorf("cxreasonbench: %s", m)
	}
	return []byte(sampleText[m]), nil
}

// UnmarshalText accepts exactly the text forms.
func (m *SampleMode) UnmarshalText(b []byte) error {
	i := slices.Index(sampleText[:], string(b))
	if i < 1 {
		return fmt.Errorf("cxreasonbench: no sample mode is called %q; there are random and balanced", b)
	}
	*m = SampleMode(i)
	return nil
}

// Sample draws n cases of a task out of candidates that passed quality control. Candidates
// that the questions cannot be built for are left out and returned with their reasons.
//
// The draw depends on seed, task and the set of candidates, not on their order. In balanced
// mode half of the cases are of the normal class, by largest remainder; where a class is short,
// the other fills up. The drawn cases are in random order.
//
// Special cases: fewer than n eligible candidates give all of them.
// Errors: an invalid mode, a candidate of another task, or one listed twice.
func Sample(rules Rules, mode SampleMode, seed uint64, task Task, candidates []Source, n int) (drawn []Source, left []*IneligibleError, err error) {
	if !mode.Valid() {
		return nil, nil, fmt.Errorf("cxreasonbench: sample %s: %s; there are random and balanced", task, mode)
	}
	list := slices.Clone(candidates)
	slices.SortFunc(list, func(a, b Source) int { return strings.Compare(a.Case, b.Case) })
	var eligible []Source
	for i, s := range list {
		if s.Task != task {
			return nil, nil, fmt.Errorf("cxreasonbench: sample %s: candidate %s is a case of %s", task, s.Case, s.Task)
		}
		if i > 0 && list[i-1].Case == s.Case {
			return nil, nil, fmt.Errorf("cxreasonbench: sample %s: candidate %s is listed twice", task, s.Case)
		}
		switch err := s.Check(rules).(type) {
		case nil:
			eligible = append(eligible, s)
		case *IneligibleError:
			left = append(left, err)
		default:
			return nil, nil, err
		}
	}
	r := stream(seed, "sample", task.String(), mode.String())
	order := shuffle(r, eligible)
	n = min(n, len(order))
	if mode == SampleRandom {
		return order[:n], left, nil
	}
	var classes [2][]Source
	for _, s := range order {
		classes[s.class()] = append(classes[s.class()], s)
	}
	take := LargestRemainder(n, []int{1, 1})
	for i := range take {
		if short := take[i] - len(classes[i]); short > 0 {
			take[i] -= short
			take[1-i] += short
		}
	}
	drawn = append(slices.Clone(classes[0][:take[0]]), classes[1][:take[1]]...)
	return shuffle(r, drawn), left, nil
}

// class is 0 for the task's normal class and 1 for the other one.
func (s Source) class() int {
	if labels := chexstruct.Labels(s.Task); s.Label != "" {
		if s.Label == labels[0] {
			return 0
		}
		return 1
	}
	first, second := Diagnoses(s.Task, s.View, s.Reading)
	normalFirst := false
	switch s.Task {
	case chexstruct.CarinaAngle, chexstruct.Inclusion, chexstruct.Inspiration, chexstruct.Projection:
		normalFirst = true
	}
	if normalFirst && first || !normalFirst && second {
		return 0
	}
	return 1
}

// Quotas divides a number of cases over the twelve tasks, by largest remainder, in the order
// of [Tasks].
func Quotas(cases int) []int {
	shares := make([]int, len(taskTable))
	for i := range shares {
		shares[i] = 1
	}
	return LargestRemainder(cases, shares)
}
