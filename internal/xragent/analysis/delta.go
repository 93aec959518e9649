package analysis

import (
	"fmt"
	"slices"

	"cxrepro/internal/stats"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/bench"
)

// Place is a column of a benchmark.
type Place struct {
	Benchmark bench.Benchmark
	Column    string
}

// Wholes are the three benchmarks as wholes, which averages are over.
func Wholes() []Place {
	var out []Place
	for _, b := range bench.Benchmarks() {
		out = append(out, Place{b, b.Columns()[0].Name})
	}
	return out
}

// Value is a column's mean as a figure, with its interval over questions.
func (a *Analysis) Value(config string, at Place) Figure { return a.Average(config, at) }

// Average is the unweighted mean of columns of one configuration, in percent.
func (a *Analysis) Average(config string, at ...Place) Figure {
	f := a.combine(config, "", at)
	if f.Known && len(at) == 1 {
		f.Counted = a.Score(config, at[0].Benchmark, at[0].Column).Counted()
		if col, _ := columnOf(at[0].Benchmark, at[0].Column); col.Macro {
			f.Counted.K, f.Counted.N = 0, 0
		}
	}
	return f
}

// Delta is the mean of columns of one configuration minus that of another, in points.
func (a *Analysis) Delta(config, against string, at ...Place) Figure {
	return a.combine(config, against, at)
}

// combine adds up columns of one configuration, less those of another where one is named.
func (a *Analysis) combine(config, against string, at []Place) Figure {
	name := fmt.Sprint(config, "-", against, at)
	f, known := a.made[name]
	if !known {
		f = a.compute(name, config, against, at)
		a.made[name] = f
	}
	return f
}

func (a *Analysis) compute(name, config, against string, at []Place) Figure {
	f := Figure{Known: true}
	var parts []part
	for _, p := range at {
		for k, c := range []string{config, against} {
			if k == 1 && against == "" {
				continue
			}
			s := a.Score(c, p.Benchmark, p.Column)
			if s.Why != "" {
				return none(s.Why)
			}
			v, _ := s.Mean()
			f.Open += s.Open()
			f.Value += []float64{1, -1}[k] * v / float64(len(at))
			f.Repeated = a.repeated(f.Repeated, c, p)
		}
		parts = append(parts, a.parts(config, against, p, 1/float64(len(at)))...)
	}
	f.Low, f.High, f.HasInterval = spread(name, f.Value, parts)
	if against == "" { // a share stays one
		f.Low, f.High = max(f.Low, 0), min(f.High, 100)
	}
	return f
}

// repeated adds the repeats behind a column to a count of them.
func (a *Analysis) repeated(r *Repeated, config string, p Place) *Repeated {
	for _, c := range countedIn(p) {
		for _, item := range a.sets[p.Benchmark] {
			k, n := a.right(config, item)
			if n < 2 || !c.Counts(item) {
				continue
			}
			if r == nil {
				r = &Repeated{}
			}
			r.Questions++
			r.Pairs = r.Pairs.Add(stats.Proportion{K: k * (n - k), N: n * (n - 1) / 2})
			if k > 0 && k < n {
				r.Split++
			}
		}
	}
	return r
}

// countedIn are the columns that questions behind a column count in: itself, or the sources of a mean.
func countedIn(p Place) []bench.Column {
	c, _ := columnOf(p.Benchmark, p.Column)
	if c.Macro {
		return p.Benchmark.Columns()[1:]
	}
	return []bench.Column{c}
}

// part is what each question of a stratum adds to a figure: weight times the mean of its values.
type part struct {
	weight float64
	values []float64
	// noise is the decoding variance of the mean of values.
	noise float64
}

// parts are the strata behind a column: itself, or the sources of a macro column.
func (a *Analysis) parts(config, against string, p Place, weight float64) []part {
	columns := countedIn(p)
	var out []part
	for _, c := range columns {
		one := part{weight: weight / float64(len(columns))}
		variance := 0.0
		for _, item := range a.sets[p.Benchmark] {
			if !c.Counts(item) {
				continue
			}
			v, s, ok := a.question(config, item)
			if against != "" && ok {
				w, t, has := a.question(against, item)
				v, s, ok = v-w, s+t, has
			}
			if ok {
				one.values = append(one.values, 100*v)
				variance += 100 * 100 * s
			}
		}
		if n := float64(len(one.values)); n > 0 {
			one.noise = variance / (n * n)
		}
		out = append(out, one)
	}
	return out
}

// right counts the repeats in which a question is right, of those that have an outcome of it.
func (a *Analysis) right(config string, item *xragent.Item) (k, n int) {
	for _, m := range a.repeats(config) {
		if o := determined(m[item.ID]); o != nil {
			n++
			if o.Correct {
				k++
			}
		}
	}
	return k, n
}

// question is the share of repeats in which a question is right, and the variance of that share
// that the repeats measure; ok is false where no repeat has an outcome.
func (a *Analysis) question(config string, item *xragent.Item) (mean, variance float64, ok bool) {
	k, n := a.right(config, item)
	if n == 0 {
		return 0, 0, false
	}
	mean = float64(k) / float64(n)
	if n > 1 {
		variance = mean * (1 - mean) / float64(n-1)
	}
	return mean, variance, true
}

// spread is the interval of a sum of parts, wider by their decoding noise, and where all questions of a
// part are alike by what so few questions can miss: 0 of 20 is not exact.
func spread(name string, value float64, parts []part) (low, high float64, ok bool) {
	var kinds []float64
	strata := make([][]int, len(parts))
	below, above := 0.0, 0.0
	for s, p := range parts {
		if len(p.values) == 0 {
			return 0, 0, false
		}
		for _, v := range p.values {
			k := slices.Index(kinds, v)
			if k < 0 {
				k = len(kinds)
				kinds = append(kinds, v)
			}
			strata[s] = append(strata[s], k)
		}
		noise := p.weight * p.weight * stats.Z95 * stats.Z95 * p.noise
		missed := 0.0
		if slices.Min(p.values) == slices.Max(p.values) {
			missed = p.weight * p.weight * unseen(len(p.values)) * unseen(len(p.values))
		}
		below, above = below+noise+missed, above+noise+missed
	}
	low, high, ok = interval(name, strata, len(kinds), func(counts [][]int) (float64, bool) {
		total := 0.0
		for s, p := range parts {
			sum := 0.0
			for k, n := range counts[s] {
				sum += float64(n) * kinds[k]
			}
			total += p.weight * sum / float64(len(p.values))
		}
		return total, true
	})
	if ok {
		low, high = widened(value, low, high, below, above)
	}
	return low, high, ok
}

// Floor is the noise floor of a difference in one column: the larger spread of its two sides, in
// points. ok is false where a side was run only once.
func (a *Analysis) Floor(config, against string, at Place) (v float64, ok bool) {
	x, measuredX := a.Score(config, at.Benchmark, at.Column).Spread()
	y, measuredY := a.Score(against, at.Benchmark, at.Column).Spread()
	return max(x, y), measuredX && measuredY
}
