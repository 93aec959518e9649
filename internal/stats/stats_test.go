package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// tol allows for the last digits of values quoted to four places.
const tol = 5e-5

// TestWilsonKnown holds values of Newcombe, Statist. Med. 17 (1998), table I, method 3.
func TestWilsonKnown(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
		{29, 29, 0.8830, 1},
	} {
		low, high, ok := Proportion{c.k, c.n}.Wilson(Z95)
		if !ok || math.Abs(low-c.low) > tol || math.Abs(high-c.high) > tol {
			t.Errorf("%d of %d: got [%.4f, %.4f] %v, want [%.4f, %.4f]", c.k, c.n, low, high, ok, c.low, c.high)
		}
	}
	if _, _, ok := (Proportion{}).Wilson(Z95); ok {
		t.Error("a proportion of nothing has an interval")
	}
	if _, ok := (Proportion{}).Value(); ok {
		t.Error("a proportion of nothing has a value")
	}
}

// TestWilsonProperties: bounds in [0, 1] around the share, never a point, monotone in k,
// mirrored by exchanging hits and misses, narrower with more cases.
func TestWilsonProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 500).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		p := Proportion{k, n}
		low, high, _ := p.Wilson(Z95)
		v, _ := p.Value()
		if low < 0 || high > 1 || low > v || v > high || low >= high {
			t.Fatalf("%v: [%v, %v] around %v", p, low, high, v)
		}
		if k < n {
			l, h, _ := Proportion{k + 1, n}.Wilson(Z95)
			if l <= low && k > 0 || h < high {
				t.Fatalf("%v: not monotone: [%v, %v] then [%v, %v]", p, low, high, l, h)
			}
		}
		l, h, _ := Proportion{n - k, n}.Wilson(Z95)
		if math.Abs(l-(1-high)) > 1e-12 || math.Abs(h-(1-low)) > 1e-12 {
			t.Fatalf("%v: not mirrored", p)
		}
		l, h, _ = Proportion{2 * k, 2 * n}.Wilson(Z95)
		if h-l >= high-low {
			t.Fatalf("%v: more cases, wider interval", p)
		}
	})
}

// TestPooling: order and shards do not matter.
func TestPooling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hits := rapid.SliceOfN(rapid.Bool(), 1, 60).Draw(t, "hits")
		cut := rapid.IntRange(0, len(hits)).Draw(t, "cut")
		count := func(part []bool) (p Proportion) {
			for i := len(part) - 1; i >= 0; i-- {
				q := Proportion{N: 1}
				if part[i] {
					q.K = 1
				}
				p = p.Add(q)
			}
			return p
		}
		whole := count(hits)
		if sharded := count(hits[cut:]).Add(count(hits[:cut])); sharded != whole || whole.Validate() != nil {
			t.Fatalf("%v, in shards %v", whole, sharded)
		}
	})
	for _, p := range []Proportion{{-1, 2}, {3, 2}, {0, -1}} {
		if p.Validate() == nil {
			t.Errorf("%v is accepted", p)
		}
	}
}

// TestKappa holds a worked example: 20 + 15 of 50 agree, chance 0.5, kappa 0.4.
func TestKappa(t *testing.T) {
	var g Agreement
	if _, ok := g.Kappa(); ok {
		t.Error("kappa without items")
	}
	for pair, n := range map[[2]string]int{{"yes", "yes"}: 20, {"yes", "no"}: 5, {"no", "yes"}: 10, {"no", "no"}: 15} {
		for range n {
			g.Add(pair[0], pair[1])
		}
	}
	kappa, ok := g.Kappa()
	if !ok || math.Abs(kappa-0.4) > 1e-15 || g.Observed() != (Proportion{35, 50}) || g.Count("no", "yes") != 10 {
		t.Errorf("kappa %v %v, observed %v", kappa, ok, g.Observed())
	}
	var same Agreement
	same.Add("a", "a")
	if _, ok := same.Kappa(); ok {
		t.Error("one category leaves nothing beyond chance")
	}
}

// TestBootstrap: equal seeds give equal bounds, the bounds hold the value, and a statistic
// without a value is left out and counted.
func TestBootstrap(t *testing.T) {
	hit := []float64{1, 0, 1, 1, 0, 0, 1, 0, 1, 1}
	mean := func(cases []int) (float64, bool) {
		s := 0.0
		for _, i := range cases {
			s += hit[i]
		}
		return s / float64(len(cases)), true
	}
	l1, h1, w, ok := Bootstrap(len(hit), 500, 0.95, rand.New(rand.NewPCG(1, 2)), mean)
	l2, h2, _, _ := Bootstrap(len(hit), 500, 0.95, rand.New(rand.NewPCG(1, 2)), mean)
	if !ok || w != 0 || l1 != l2 || h1 != h2 || l1 >= 0.6 || h1 <= 0.6 || l1 < 0.1 || h1 > 1 {
		t.Errorf("[%v, %v] and [%v, %v]", l1, h1, l2, h2)
	}
	_, _, without, ok := Bootstrap(3, 50, 0.95, rand.New(rand.NewPCG(1, 2)), func([]int) (float64, bool) { return 0, false })
	if ok || without != 50 {
		t.Errorf("without a value: %v, %d", ok, without)
	}
	if _, _, _, ok := Bootstrap(0, 50, 0.95, rand.New(rand.NewPCG(1, 2)), mean); ok {
		t.Error("no cases")
	}
	if q := Quantile([]float64{1, 2, 3, 4}, 0.5); q != 2.5 {
		t.Errorf("median %v", q)
	}
}
