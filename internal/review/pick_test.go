package review

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSpread holds that places are distinct, in order, inside, as many as asked for, and as
// far apart as each other within one.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n := rapid.IntRange(0, 500).Draw(t, "m"), rapid.IntRange(0, 40).Draw(t, "n")
		got := spread(m, n)
		if len(got) != min(m, n) {
			t.Fatalf("%d places of %d, want %d", len(got), m, min(m, n))
		}
		small, large := m, 0
		for i, p := range got {
			if p < 0 || p >= m || i > 0 && p <= got[i-1] {
				t.Fatalf("places %v of %d", got, m)
			}
			if i > 0 {
				small, large = min(small, p-got[i-1]), max(large, p-got[i-1])
			}
		}
		if len(got) > 1 && large-small > 1 {
			t.Fatalf("places %v of %d lie %d to %d apart", got, m, small, large)
		}
		if len(got) > 0 && (got[0] > m/(2*len(got)) || m-1-got[len(got)-1] > m/(2*len(got))+1) {
			t.Fatalf("places %v of %d leave an end out", got, m)
		}
	})
}

// TestBins holds that every value lies in exactly one range, that of its size, and that
// verdicts add up.
func TestBins(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, n := range []int{1, 2, 8, 33} {
		s := &series{}
		for i := range 400 {
			v := rng.NormFloat64()
			s.add(i, v, v > 0)
		}
		bins := s.bins(n)
		var all []int32
		pass := 0
		for i, b := range bins {
			if i > 0 && b.Low != bins[i-1].High {
				t.Errorf("%d ranges: range %d begins at %v, the last ends at %v", n, i, b.Low, bins[i-1].High)
			}
			if b.Pass+b.Fail != len(b.members) {
				t.Errorf("range %d: %d pass, %d fail, %d members", i, b.Pass, b.Fail, len(b.members))
			}
			pass += b.Pass
			for _, o := range b.members {
				v, _, ok := s.value(int(o))
				if !ok || v < b.Low-1e-6 || v > b.High+1e-6 {
					t.Errorf("value %v is in range %v to %v", v, b.Low, b.High)
				}
			}
			all = append(all, b.members...)
			if !slices.IsSorted(b.members) {
				t.Error("members are out of order")
			}
		}
		slices.Sort(all)
		if len(all) != 400 || len(slices.Compact(all)) != 400 {
			t.Errorf("%d ranges hold %d values", n, len(all))
		}
		want := 0
		for _, p := range s.pass {
			if p {
				want++
			}
		}
		if pass != want {
			t.Errorf("%d pass in ranges, %d in all", pass, want)
		}
	}
	one := &series{}
	one.add(3, 0.5, true)
	one.add(9, 0.5, false)
	if bins := one.bins(8); len(bins) != 1 || bins[0].Pass != 1 || bins[0].Fail != 1 {
		t.Errorf("equal values give %+v", bins)
	}
	if bins := (&series{}).bins(8); bins != nil {
		t.Errorf("no values give %+v", bins)
	}
	if histogram(nil, nil, "", "") != "" {
		t.Error("no ranges have a picture")
	}
}
