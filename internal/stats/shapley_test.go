package stats

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

func randomWorth(t *rapid.T, n int) []int64 {
	worth := make([]int64, 1<<n)
	for s := range worth {
		worth[s] = rapid.Int64Range(-10000, 10000).Draw(t, "worth")
	}
	return worth
}

func game(t rapid.TB, worth []int64) Game {
	g, err := NewGame(worth)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// byOrders is the definition: the mean over all orders of joining, times the number of orders.
func byOrders(worth []int64, n int) (shares []int64, orders int64) {
	shares = make([]int64, n)
	var join func(in int)
	join = func(in int) {
		if in == 1<<n-1 {
			orders++
			return
		}
		for i := range n {
			if in>>i&1 == 0 {
				join(in | 1<<i)
			}
		}
	}
	join(0)
	// Orders that pass through a coalition before and after a player joins.
	factorial := func(k int) int64 {
		f := int64(1)
		for i := 2; i <= k; i++ {
			f *= int64(i)
		}
		return f
	}
	for s := range worth {
		for i := range n {
			if s>>i&1 == 0 {
				k := bits.OnesCount(uint(s))
				shares[i] += factorial(k) * factorial(n-k-1) * (worth[s|1<<i] - worth[s])
			}
		}
	}
	return shares, orders
}

// TestShapleyProperties: on random games the shares sum to the gap exactly, equal the
// definition over orders, give symmetric players the same and a null player nothing, and add
// up over games.
func TestShapleyProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "players")
		worth := randomWorth(t, n)
		g := game(t, worth)
		shares, unit := g.Shapley()
		sum := int64(0)
		for _, s := range shares {
			sum += s
		}
		if sum != unit*g.Gap() {
			t.Fatalf("shares %v of unit %d sum to %d, the gap is %d", shares, unit, sum, g.Gap())
		}
		defined, orders := byOrders(worth, n)
		for i := range shares {
			if shares[i]*orders != defined[i]*unit {
				t.Fatalf("player %d: %d/%d, by orders %d/%d", i, shares[i], unit, defined[i], orders)
			}
		}
		// A second game: shares are additive.
		more := randomWorth(t, n)
		both := make([]int64, len(worth))
		for s := range both {
			both[s] = worth[s] + more[s]
		}
		x, _ := game(t, more).Shapley()
		y, _ := game(t, both).Shapley()
		for i := range y {
			if y[i] != shares[i]+x[i] {
				t.Fatalf("player %d: %d is not %d + %d", i, y[i], shares[i], x[i])
			}
		}
	})
}

// TestShapleySymmetryAndNull exchanges two players of a game made symmetric, and adds one who
// changes nothing.
func TestShapleySymmetryAndNull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "players")
		a := rapid.IntRange(0, n-1).Draw(t, "a")
		b := rapid.IntRange(0, n-1).Filter(func(i int) bool { return i != a }).Draw(t, "b")
		worth := randomWorth(t, n)
		for s := range worth {
			if s>>a&1 == 1 && s>>b&1 == 0 {
				worth[s^1<<a|1<<b] = worth[s] // either of them is as good
			}
		}
		shares, _ := game(t, worth).Shapley()
		if shares[a] != shares[b] {
			t.Fatalf("symmetric players %d and %d get %d and %d", a, b, shares[a], shares[b])
		}
		null := rapid.IntRange(0, n-1).Draw(t, "null")
		for s := range worth {
			if s>>null&1 == 1 {
				worth[s] = worth[s^1<<null]
			}
		}
		g := game(t, worth)
		if shares, _ = g.Shapley(); shares[null] != 0 {
			t.Fatalf("player %d changes nothing and gets %d", null, shares[null])
		}
		if g.Interaction()>>null&1 == 1 {
			t.Fatalf("player %d changes nothing and is part of the interaction %b", null, g.Interaction())
		}
	})
}

// TestGameKnown: the glove game (one left glove, two right ones) has the shares 4/6, 1/6, 1/6;
// two players who are worth something only together interact.
func TestGameKnown(t *testing.T) {
	shares, unit := game(t, []int64{0, 0, 0, 1, 0, 1, 0, 1}).Shapley()
	if unit != 6 || shares[0] != 4 || shares[1] != 1 || shares[2] != 1 {
		t.Errorf("glove game: %v of %d, want 4, 1, 1 of 6", shares, unit)
	}
	g := game(t, []int64{5, 5, 5, 12})
	if s := g.Interaction(); s != 3 || g.Dividend(s) != 7 || g.Gap() != 7 {
		t.Errorf("interaction %b of %d, gap %d", s, g.Dividend(s), g.Gap())
	}
	if s := game(t, []int64{0, 1, 2, 3}).Interaction(); s != 0 {
		t.Errorf("players who add up interact: %b", s)
	}
	for _, bad := range []int{0, 3, 6} {
		if _, err := NewGame(make([]int64, bad)); err == nil {
			t.Errorf("%d coalitions make a game", bad)
		}
	}
}

// TestPairedKnown: p-values worked out by hand, and a textbook's example (Agresti, Categorical
// Data Analysis, table 10.1: approval of the prime minister, 150 against 86).
func TestPairedKnown(t *testing.T) {
	for _, c := range []struct {
		plus, minus int
		want        float64
	}{
		{0, 1, 1}, {1, 5, 0.21875}, {0, 5, 0.0625}, {4, 4, 1}, {0, 10, 0.001953125}, {150, 86, 0.00003715}, {86, 150, 0.00003715},
	} {
		if p, ok := SignTest(c.plus, c.minus); !ok || p < c.want*0.999-1e-12 || p > c.want*1.001+1e-12 {
			t.Errorf("%d against %d: p = %.8f, want %.8f", c.plus, c.minus, p, c.want)
		}
	}
	var p Paired
	for i := range 10 {
		p.Add(i < 6, i%2 == 0)
	}
	if want := (Paired{Both: 3, OnlyFirst: 3, OnlySecond: 2, Neither: 2}); p != want || p.N() != 10 {
		t.Errorf("counted %+v, want %+v", p, want)
	}
	if _, ok := (Paired{Both: 3, Neither: 5}).McNemar(); ok {
		t.Error("cases that all agree say something")
	}
}
