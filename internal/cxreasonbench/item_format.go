package cxreasonbench

import (
	"fmt"
	"slices"
)

// Format says how many rounds a stage takes and what they show. The zero value is invalid.
type Format uint8

const (
	// FormatBasic is one round with every right option in it.
	FormatBasic Format = iota + 1
	// FormatTwoRound (criteria): the right one is not among the first options.
	FormatTwoRound
	// FormatNoneIncluded (structures): none is among the first pictures.
	FormatNoneIncluded
	// FormatPartial (several structures): some are among the first pictures.
	FormatPartial
)

// formatText holds the folder names of the data set.
var formatText = [...]string{FormatBasic: "basic", FormatTwoRound: "two-round",
	FormatNoneIncluded: "two-round_none_included", FormatPartial: "two-round_partial_inclusion"}

// Valid reports whether f is a format.
func (f Format) Valid() bool { return f >= FormatBasic && f <= FormatPartial }

// Rounds is how many rounds the format takes.
func (f Format) Rounds() int {
	if f == FormatBasic {
		return 1
	}
	return 2
}

// String returns the folder name, for example "two-round_none_included".
func (f Format) String() string {
	if !f.Valid() {
		return fmt.Sprintf("invalid format %d", uint8(f))
	}
	return formatText[f]
}

// MarshalText encodes a valid format.
func (f Format) MarshalText() ([]byte, error) {
	if !f.Valid() {
		return nil, fmt.Errorf("cxreasonbench: %s", f)
	}
	return []byte(formatText[f]), nil
}

// UnmarshalText accepts exactly the folder names.
func (f *Format) UnmarshalText(b []byte) error {
	i := slices.Index(formatText[:], string(b))
	if i < 1 {
		return fmt.Errorf("cxreasonbench: no format is called %q; the formats are %v", b, formatText[1:])
	}
	*f = Format(i)
	return nil
}

// Formats are those of one path of a case.
type Formats struct {
	Criteria   Format `json:"criteria"`
	Structures Format `json:"structures"`
}

// CaseFormats are those of a case.
type CaseFormats struct {
	Path1   Formats `json:"path1"`
	RePath1 Formats `json:"re_path1"`
}

func (c CaseFormats) of(p Path) Formats {
	if p == RePath1 {
		return c.RePath1
	}
	return c.Path1
}

// Shares of the formats of 100 cases.
//
// Source: [official code], confirmed by the counts of the paper.
var (
	criteriaShares  = []int{50, 50}
	singleShares    = []int{50, 50}
	multipleShares  = []int{34, 33, 33}
	criteriaFormats = []Format{FormatBasic, FormatTwoRound}
	singleFormats   = []Format{FormatBasic, FormatNoneIncluded}
	multipleFormats = []Format{FormatBasic, FormatNoneIncluded, FormatPartial}
)

// officialCases is the length of a case list of the released benchmark.
const officialCases = 100

// DealFormats deals the formats over the cases of a task, in the order of cases.
//
// By position in the list, as released, the first path takes blocks and the second a
// pattern; a list may then be shorter than 100 cases, never longer. By quota the shares are
// kept to the case at any length, over permutations that depend on seed, task, path and
// stage alone.
//
// Errors: more than 100 cases by position; a case listed twice.
func DealFormats(rules Rules, seed uint64, task Task, cases []string) ([]CaseFormats, error) {
	sorted := slices.Sorted(slices.Values(cases))
	for i := 1; i < len(sorted); i++ {
		if sorted[i-1] == sorted[i] {
			return nil, fmt.Errorf("cxreasonbench: %s: case %q is listed twice", task, sorted[i])
		}
	}
	deal := make([]CaseFormats, len(cases))
	if rules.is(BuildDeal, ByPosition) {
		if len(cases) > officialCases {
			return nil, fmt.Errorf("cxreasonbench: %s: %d cases, the released rule deals at most %d; set %s=%s", task, len(cases), officialCases, BuildDeal, ByQuota)
		}
		for i := range deal {
			deal[i] = officialFormats(task, i)
		}
		return deal, nil
	}
	formats, shares := structureFormats(task)
	dealer := func(p Path, s Stage, f []Format, shares []int) []Format {
		return quotaDeal(seed, task, p, s, cases, f, shares)
	}
	c1, s1 := dealer(Path1, StageCriteria, criteriaFormats, criteriaShares), dealer(Path1, StageStructures, formats, shares)
	c2, s2 := dealer(RePath1, StageCriteria, criteriaFormats, criteriaShares), dealer(RePath1, StageStructures, formats, shares)
	for i := range deal {
		deal[i] = CaseFormats{Path1: Formats{c1[i], s1[i]}, RePath1: Formats{c2[i], s2[i]}}
	}
	return deal, nil
}

func structureFormats(task Task) ([]Format, []int) {
	if len(facts(task).structures) == 1 {
		return singleFormats, singleShares
	}
	return multipleFormats, multipleShares
}

// quotaDeal gives each format its share of the cases, over a permutation of the sorted
// cases, so that the order of the list does not matter.
func quotaDeal(seed uint64, task Task, p Path, s Stage, cases []string, formats []Format, shares []int) []Format {
	sorted := slices.Sorted(slices.Values(cases))
	stream(seed, "deal", task.String(), p.String(), s.String()).Shuffle(len(sorted), func(i, j int) { sorted[i], sorted[j] = sorted[j], sorted[i] })
	of := make(map[string]Format, len(sorted))
	next := 0
	for i, n := range LargestRemainder(len(sorted), shares) {
		for range n {
			of[sorted[next]] = formats[i]
			next++
		}
	}
	dealt := make([]Format, len(cases))
	for i, id := range cases {
		dealt[i] = of[id]
	}
	return dealt
}

// officialFormats are the formats of position i, from 0, of a case list.
//
// Source: [official code].
func officialFormats(task Task, i int) CaseFormats {
	several := len(facts(task).structures) > 1
	return CaseFormats{
		Path1:   Formats{Criteria: pick(criteriaFormats, i >= 50), Structures: blockFormat(several, i)},
		RePath1: Formats{Criteria: pick(criteriaFormats, i%2 == 1), Structures: patternFormat(several, i)},
	}
}

func pick(formats []Format, second bool) Format {
	if second {
		return formats[1]
	}
	return formats[0]
}

func blockFormat(several bool, i int) Format {
	switch {
	case !several:
		return pick(singleFormats, i >= 50)
	case i < 34:
		return FormatBasic
	case i < 67:
		return FormatNoneIncluded
	}
	return FormatPartial
}

// patternFormat repeats every 4 cases for one structure and every 9 for several; the last
// case of a hundred is basic.
func patternFormat(several bool, i int) Format {
	if !several {
		return pick(singleFormats, i%4 == 1 || i%4 == 2)
	}
	if i == officialCases-1 {
		return FormatBasic
	}
	const b, n, p = FormatBasic, FormatNoneIncluded, FormatPartial
	return [...]Format{n, p, n, b, p, p, b, b, n}[i%9]
}

// LargestRemainder divides n into whole parts in the proportion of shares: everyone gets the
// whole part of its share, and what is left goes to the largest remainders, the first of
// equal ones first. No shares, or shares that sum to 0, give zeros.
func LargestRemainder(n int, shares []int) []int {
	sum := 0
	for _, s := range shares {
		sum += s
	}
	parts := make([]int, len(shares))
	if sum == 0 {
		return parts
	}
	order := make([]int, len(shares))
	left := n
	for i, s := range shares {
		parts[i] = n * s / sum
		left -= parts[i]
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return n*shares[b]%sum - n*shares[a]%sum })
	for _, i := range order[:left] {
		parts[i]++
	}
	return parts
}
