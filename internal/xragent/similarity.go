package xragent

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// SimilarityLimit is the highest ratio that passes. [paper]
const SimilarityLimit = 0.82

// Similarity tells how much of the reference findings a rationale repeats.
type Similarity struct {
	Rationale     int     `json:"n_rationale"` // words
	Findings      int     `json:"n_findings"`
	Ratio         float64 `json:"ratio"`           // matching blocks, 2M/T
	Jaccard       float64 `json:"jaccard"`         // of the sets of words
	RougeLF       float64 `json:"rouge_l_f"`       // F1 of the longest common subsequence
	FourGramShare float64 `json:"four_gram_share"` // of the findings' 4-grams, by occurrence
}

// Rejected reports a ratio above the limit; the limit itself passes.
func (s Similarity) Rejected() bool { return s.Ratio > SimilarityLimit }

// Words cuts text into maximal runs of letters and digits after lower-casing.
func Words(text string) []string {
	lower := strings.ToLower(text)
	var out []string
	begin := -1
	for i := 0; i < len(lower); i++ {
		c := lower[i]
		if c >= utf8.RuneSelf {
			return strings.FieldsFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		}
		if word := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'; word == (begin >= 0) {
			continue
		} else if word {
			begin = i
			continue
		}
		if out == nil {
			out = make([]string, 0, 1+len(lower)/6)
		}
		out = append(out, lower[begin:i])
		begin = -1
	}
	if begin >= 0 {
		out = append(out, lower[begin:])
	}
	return out
}

// ComputeSimilarity compares a rationale with the findings; the order matters for the ratio.
// Two empty texts have ratio 1.
func ComputeSimilarity(rationale, findings string) Similarity {
	a, b := Words(rationale), Words(findings)
	s := Similarity{Rationale: len(a), Findings: len(b), Ratio: 1}
	ia, ib := number(a, b)
	if n := len(a) + len(b); n > 0 {
		s.Ratio = 2 * float64(matching(ia, ib)) / float64(n)
	}
	s.Jaccard = jaccard(ia, ib)
	s.RougeLF = rougeF(subsequence(ia, ib), len(a), len(b))
	s.FourGramShare = fourGrams(ia, ib)
	return s
}

// number gives equal words equal numbers, from 0 up.
func number(a, b []string) (ia, ib []int) {
	ids := map[string]int{}
	of := func(words []string) []int {
		out := make([]int, len(words))
		for i, w := range words {
			id, ok := ids[w]
			if !ok {
				id = len(ids)
				ids[w] = id
			}
			out[i] = id
		}
		return out
	}
	return of(a), of(b)
}

// matching is the total length of recursive longest matching blocks: of equally long ones
// the earliest in a, then the earliest in b. Source: the sequence matcher of Python's
// difflib without its junk heuristic.
func matching(a, b []int) int {
	places := map[int][]int{}
	for j, w := range b {
		places[w] = append(places[w], j)
	}
	type span struct{ a0, a1, b0, b1 int }
	total := 0
	run, next := make([]int, len(b)+1), make([]int, len(b)+1) // run[j+1]: block ending at b[j]
	for stack := []span{{0, len(a), 0, len(b)}}; len(stack) > 0; {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		bi, bj, size := s.a0, s.b0, 0
		clear(run)
		for i := s.a0; i < s.a1; i++ {
			clear(next)
			for _, j := range places[a[i]] {
				if j < s.b0 {
					continue
				}
				if j >= s.b1 {
					break
				}
				k := run[j] + 1
				next[j+1] = k
				if k > size {
					bi, bj, size = i-k+1, j-k+1, k
				}
			}
			run, next = next, run
		}
		if size == 0 {
			continue
		}
		total += size
		stack = append(stack, span{s.a0, bi, s.b0, bj}, span{bi + size, s.a1, bj + size, s.b1})
	}
	return total
}

func jaccard(a, b []int) float64 {
	sets := map[int]int{}
	for _, w := range a {
		sets[w] |= 1
	}
	for _, w := range b {
		sets[w] |= 2
	}
	both := 0
	for _, in := range sets {
		if in == 3 {
			both++
		}
	}
	if len(sets) == 0 {
		return 1
	}
	return float64(both) / float64(len(sets))
}

// subsequence is the length of the longest common subsequence.
func subsequence(a, b []int) int {
	row := make([]int, len(b)+1)
	for _, w := range a {
		diagonal := 0
		for j, v := range b {
			above := row[j+1]
			if w == v {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

func rougeF(lcs, na, nb int) float64 {
	if lcs == 0 {
		return 0
	}
	p, r := float64(lcs)/float64(na), float64(lcs)/float64(nb)
	return 2 * p * r / (p + r)
}

func fourGrams(a, b []int) float64 {
	const n = 4
	if len(b) < n {
		return 0
	}
	have := map[[n]int]bool{}
	for i := 0; i+n <= len(a); i++ {
		have[[n]int(a[i:i+n])] = true
	}
	found := 0
	for j := 0; j+n <= len(b); j++ {
		if have[[n]int(b[j:j+n])] {
			found++
		}
	}
	return float64(found) / float64(len(b)-n+1)
}
