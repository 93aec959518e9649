package radcot

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"cxrepro/internal/datause"
)

// rank is a place between candidates that depends on the seed, a stream and the content alone.
func rank(seed uint64, stream, key string) [sha256.Size]byte {
	head := binary.BigEndian.AppendUint64(nil, seed)
	return sha256.Sum256(append(head, (stream + "\x00" + key)...))
}

// shuffled returns the places of list in drawn order.
func shuffled(seed uint64, stream string, list []Candidate) []int {
	type at struct {
		rank [sha256.Size]byte
		i    int
	}
	all := make([]at, len(list))
	for i := range list {
		all[i] = at{rank(seed, stream, list[i].key()), i}
	}
	slices.SortFunc(all, func(a, b at) int {
		return cmp.Or(bytes.Compare(a.rank[:], b.rank[:]), cmp.Compare(list[a.i].key(), list[b.i].key()))
	})
	out := make([]int, len(all))
	for k, a := range all {
		out[k] = a.i
	}
	return out
}

// quotas shares n out over strata in proportion to their sizes, by largest remainder; where a
// stratum has less than its share, the others take the rest.
func quotas(n int, sizes []int) []int {
	out := make([]int, len(sizes))
	total := 0
	for _, s := range sizes {
		total += s
	}
	if n >= total {
		copy(out, sizes)
		return out
	}
	type part struct {
		i    int
		rest int // of n*size, over total
	}
	parts := make([]part, len(sizes))
	left := n
	for i, s := range sizes {
		out[i] = n * s / total
		parts[i] = part{i, n * s % total}
		left -= out[i]
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.rest, a.rest) })
	for _, p := range parts[:left] { // a share is never above its stratum's size
		out[p.i]++
	}
	return out
}

// stratified draws n by strata in proportion and returns them in drawn order, with what stays.
func stratified(seed uint64, stream string, list []Candidate, n int, stratum func(*Candidate) string) (drawn, rest []Candidate) {
	order := shuffled(seed, stream, list)
	place := map[string]int{}
	var names []string
	for i := range list {
		if s := stratum(&list[i]); place[s] == 0 {
			place[s] = 1
			names = append(names, s)
		}
	}
	slices.Sort(names)
	sizes := make([]int, len(names))
	for k, name := range names {
		place[name] = k
	}
	for i := range list {
		sizes[place[stratum(&list[i])]]++
	}
	left := quotas(max(n, 0), sizes)
	for _, i := range order {
		if k := place[stratum(&list[i])]; left[k] > 0 {
			left[k]--
			drawn = append(drawn, list[i])
		} else {
			rest = append(rest, list[i])
		}
	}
	return drawn, rest
}

// studies draws n studies by label vector, with at most the cap without a finding.
//
// Special cases: where the others are too few, fewer are drawn rather than more without a
// finding.
func studies(spec Spec, stream string, list []Candidate, n int) (drawn, rest []Candidate) {
	var none, some []Candidate
	for _, c := range list {
		if c.noFinding() {
			none = append(none, c)
		} else {
			some = append(some, c)
		}
	}
	most := int(math.Floor(spec.NoFindingCap*float64(n) + 1e-9))
	share := 0
	if len(list) > 0 {
		share = n * len(none) / len(list)
	}
	want := min(most, len(none), max(share, n-len(some)))
	// Of a pool that cannot fill n the cap holds over what is drawn.
	if spec.NoFindingCap < 1 && want+len(some) < n {
		want = min(want, int(math.Floor(spec.NoFindingCap/(1-spec.NoFindingCap)*float64(len(some))+1e-9)))
	}
	labels := func(c *Candidate) string { return c.Labels }
	first, firstRest := stratified(spec.Seed, stream+"/none", none, want, labels)
	second, secondRest := stratified(spec.Seed, stream+"/some", some, n-want, labels)
	drawn, rest = append(first, second...), append(firstRest, secondRest...)
	order := shuffled(spec.Seed, stream, drawn)
	out := make([]Candidate, len(order))
	for k, i := range order {
		out[k] = drawn[i]
	}
	return out, rest
}

// Draw chooses the candidates of every part out of a pool. The result does not depend on the
// order in which the pool was read.
func Draw(spec Spec, pool *Pool) (*Set, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	s := &Set{Format: SetFormat, Spec: spec, Left: pool.Left.list(), DataUse: datause.Synthetic}
	parts := map[Part][]Candidate{}
	a, rest := spec.Amounts, pool.Reports
	for _, p := range []Part{Report, Choice, ChoiceRL} {
		parts[p], rest = studies(spec, string(p), rest, a.Of(p).Draw)
	}
	answer := func(c *Candidate) string {
		if c.Question == nil {
			return ""
		}
		return string(c.Question.Type) + "/" + c.Question.Key
	}
	parts[Closed], _ = stratified(spec.Seed, string(Closed), pool.Closed, a.Closed.Draw, func(*Candidate) string { return "" })
	used := map[string]bool{}
	for i := range parts[Closed] {
		used[parts[Closed][i].key()] = true
	}
	free := slices.DeleteFunc(slices.Clone(pool.Binary), func(c Candidate) bool { return used[c.key()] })
	parts[Binary] = balanced(spec.Seed, free, a.Binary.Draw, answer)
	size := tally{}
	for _, p := range Parts() {
		for i, c := range parts[p] {
			c.Part, c.ID = p, fmt.Sprintf("%s-%05d", p, i+1)
			s.Candidates = append(s.Candidates, c)
			s.DataUse = datause.Strictest(s.DataUse, c.DataUse)
		}
		if short := a.Of(p).Draw - len(parts[p]); short > 0 {
			s.Short = append(s.Short, Count{string(p), short})
		}
	}
	for _, list := range [][]Candidate{pool.Reports, pool.Closed, pool.Binary} {
		for i := range list {
			size[string(list[i].Source)]++
		}
	}
	s.Pool = size.list()
	if !s.DataUse.Valid() {
		return nil, fmt.Errorf("candidate set: a source has no data-use class; hint: declare one for the items")
	}
	return s, nil
}

// balanced draws n with as many of each answer as there are, then fills up with what is left.
func balanced(seed uint64, list []Candidate, n int, answer func(*Candidate) string) []Candidate {
	by := map[string][]int{}
	var names []string
	for _, i := range shuffled(seed, string(Binary), list) {
		a := answer(&list[i])
		if by[a] == nil {
			names = append(names, a)
		}
		by[a] = append(by[a], i)
	}
	slices.Sort(names)
	var out []Candidate
	for k := 0; len(out) < n; k++ {
		before := len(out)
		for _, a := range names {
			if k < len(by[a]) && len(out) < n {
				out = append(out, list[by[a][k]])
			}
		}
		if len(out) == before {
			break
		}
	}
	return out
}
