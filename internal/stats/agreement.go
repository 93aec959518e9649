package stats

// Agreement counts how two raters put the same items into categories. The zero value has seen
// nothing.
type Agreement struct {
	pairs map[[2]string]int
	n     int
}

// Add counts one item that the raters put into categories a and b.
func (g *Agreement) Add(a, b string) {
	if g.pairs == nil {
		g.pairs = map[[2]string]int{}
	}
	g.pairs[[2]string{a, b}]++
	g.n++
}

// Count returns the items put into a by the first rater and b by the second.
func (g *Agreement) Count(a, b string) int { return g.pairs[[2]string{a, b}] }

// Observed returns the items on which the raters agree, of all.
func (g *Agreement) Observed() Proportion {
	k := 0
	for pair, n := range g.pairs {
		if pair[0] == pair[1] {
			k += n
		}
	}
	return Proportion{K: k, N: g.n}
}

// Kappa returns Cohen's kappa: the agreement beyond chance. ok is false without items, and
// where chance alone would agree on all of them.
//
// The sums are over whole numbers, so the order of items and categories does not matter.
func (g *Agreement) Kappa() (kappa float64, ok bool) {
	first, second := map[string]int{}, map[string]int{}
	for pair, n := range g.pairs {
		first[pair[0]] += n
		second[pair[1]] += n
	}
	chance := 0 // times n squared
	for c, n := range first {
		chance += n * second[c]
	}
	all := g.n * g.n
	if all == chance {
		return 0, false
	}
	return float64(g.Observed().K*g.n-chance) / float64(all-chance), true
}
