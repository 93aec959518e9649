package responder

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strconv"
)

// chance is a named source of choices: what it gives depends on its names alone.
type chance [32]byte

// named starts a source. Each name counts with its length.
func named(seed uint64, names ...string) chance {
	var buf [512]byte
	b := binary.BigEndian.AppendUint64(buf[:0], seed)
	for _, n := range names {
		b = binary.BigEndian.AppendUint64(b, uint64(len(n)))
		b = append(b, n...)
	}
	return sha256.Sum256(b)
}

// share is a number from 0 up to 1.
func (c chance) share() float64 { return float64(binary.BigEndian.Uint64(c[:])>>11) / (1 << 53) }

// number is from 0 up to n.
func (c chance) number(n int) int { return int(binary.BigEndian.Uint64(c[8:]) % uint64(n)) }

// rand is a generator of further numbers.
func (c chance) rand() *rand.Rand {
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(c[16:]), binary.BigEndian.Uint64(c[24:])))
}

// chooser picks those of a set of cases that succeed at something, with a probability.
type chooser struct {
	exact bool
	seed  uint64
	names []string
	cases []*known
}

// choose returns who succeeds, by place in the list of cases, if those of set are asked. What
// it says of a case outside set holds should it be asked nevertheless.
//
// Exact: the right number of set, the first in the order of their chances. Rates: each by
// itself. No choice depends on how cases are listed.
func (c chooser) choose(p float64, set []bool, what ...string) []bool {
	chances := make([]float64, len(c.cases))
	for i, k := range c.cases {
		names := append(append(slices.Clone(c.names), what...), k.id)
		chances[i] = named(c.seed, names...).share()
	}
	out := make([]bool, len(c.cases))
	var ranked []int
	for i := range out {
		out[i] = chances[i] < p
		if set[i] {
			ranked = append(ranked, i)
		}
	}
	if !c.exact {
		return out
	}
	slices.SortFunc(ranked, func(a, b int) int {
		switch {
		case chances[a] < chances[b]:
			return -1
		case chances[a] > chances[b]:
			return 1
		}
		return 0
	})
	pass := int(float64(len(ranked))*p + 0.5)
	for r, i := range ranked {
		out[i] = r < pass
	}
	return out
}

func and(a, b []bool) []bool {
	out := make([]bool, len(a))
	for i := range a {
		out[i] = a[i] && b[i]
	}
	return out
}

func without(a, b []bool) []bool {
	out := make([]bool, len(a))
	for i := range a {
		out[i] = a[i] && !b[i]
	}
	return out
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
