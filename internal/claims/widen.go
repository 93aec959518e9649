package claims

import (
	"math"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/stats"
)

// widen returns the interval of a figure made wider by its decoding noise, and the flips that
// say how noisy it is. measured is false, and the interval as it was, where no question behind
// the figure was answered more than once.
//
// The noise moves the k behind a task's figure, and the figure by as much as half a step of k to
// either side does; a mean moves by its tasks. It is independent of which cases there are, so
// squares of half widths add.
func (n *Noise) widen(at cxreasonbench.Place, r cxreasonbench.Reached, rules cxreasonbench.Rules) (in cxreasonbench.CellInterval, f Flips, measured bool) {
	in = r.Interval
	if n == nil {
		return in, f, false
	}
	if f = n.of(at, at.Tasks()...); f.Questions == 0 {
		return in, f, false
	}
	plain, refined, tasks := 0.0, 0.0, 0
	for _, t := range at.Tasks() {
		cell, ok := cxreasonbench.TaskRow(rules, t, at.Path, r.Counts[t]).Cell(at.Column)
		if !ok || !cell.Plain.Known {
			continue
		}
		tasks++
		step := stepOf(at.Column, cell.Plain, rules)
		plain += n.spread(at, t) * square(step)
		if cell.Plain.Exact > 0 && cell.Refined.Known {
			step *= cell.Refined.Exact / cell.Plain.Exact
		}
		refined += n.spread(at, t) * square(step)
	}
	if tasks == 0 {
		return in, f, false
	}
	in.Plain = wider(in.Plain, r.Plain, math.Sqrt(plain)/float64(tasks))
	in.Refined = wider(in.Refined, r.Refined, math.Sqrt(refined)/float64(tasks))
	return in, f, true
}

func square(v float64) float64 { return v * v }

// stepOf is how far a task's figure moves when k moves by one.
func stepOf(c cxreasonbench.Column, f cxreasonbench.Figure, rules cxreasonbench.Rules) float64 {
	if f.N == 0 {
		return 0
	}
	if c == cxreasonbench.Depth {
		return 1 / float64(f.N)
	}
	low, high := max(0, f.K-1), min(f.N, f.K+1)
	a, b := cxreasonbench.Proportion(rules, low, f.N).Exact, cxreasonbench.Proportion(rules, high, f.N).Exact
	return (b - a) / float64(high-low)
}

// wider adds a noise of some standard deviation to an interval around a figure.
func wider(in cxreasonbench.Interval, f cxreasonbench.Figure, deviation float64) cxreasonbench.Interval {
	if !in.Known || !f.Known || deviation == 0 {
		return in
	}
	noise := square(stats.Z95 * deviation)
	in.Low = f.Value - math.Sqrt(square(f.Value-in.Low)+noise)
	in.High = f.Value + math.Sqrt(square(in.High-f.Value)+noise)
	return in
}
