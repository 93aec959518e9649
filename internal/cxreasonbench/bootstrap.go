package cxreasonbench

import (
	"sort"

	"cxrepro/internal/report"
	"cxrepro/internal/stats"
)

// Interval is a 95 % bootstrap interval over cases of a figure. It is not known where the
// figure has no value in any resample.
type Interval struct {
	Known bool    `json:"known,omitempty"`
	Low   float64 `json:"low,omitempty"`
	High  float64 `json:"high,omitempty"`
	// Without counts the resamples in which the figure had no value.
	Without int `json:"without,omitempty"`
}

// bounds is the interval for a cell; nil where it is not known.
func (i Interval) bounds() *report.Range {
	if !i.Known {
		return nil
	}
	return &report.Range{Low: i.Low, High: i.High}
}

// Holds reports whether a printed value lies in the interval, allowing for its two decimals.
func (i Interval) Holds(v float64) bool {
	return i.Known && v >= i.Low-0.005 && v <= i.High+0.005
}

// CellInterval is the interval of a cell and of its refined figure.
type CellInterval struct{ Plain, Refined Interval }

// Intervals are the intervals of every cell of a path.
type Intervals struct {
	Tasks  map[Task]map[Column]CellInterval
	Groups map[Group]map[Column]CellInterval
}

// of returns a block's interval of a column; nothing is known of a nil Intervals.
func (i *Intervals) of(b block, c Column) CellInterval {
	switch {
	case i == nil:
		return CellInterval{}
	case b.group != 0:
		return i.Groups[b.group][c]
	}
	return i.Tasks[b.task][c]
}

// Bootstrap returns the intervals of every cell of a path: the cases of each task are drawn
// anew draws times, with replacement, and the whole table is computed from each drawing. Each
// task has a stream of its own, named by seed, path and task, and its cases are sorted by
// name first, so the order of cases does not matter.
func Bootstrap(rules Rules, path Path, cases map[Task][]CaseScores, seed uint64, draws int) *Intervals {
	type taskDraws struct {
		counts []Counts
		pick   func(n int) int
	}
	tasks := map[Task]taskDraws{}
	for _, t := range Tasks() {
		list := append([]CaseScores(nil), cases[t]...)
		sort.SliceStable(list, func(i, k int) bool { return list[i].Case < list[k].Case })
		d := taskDraws{pick: stream(seed, "bootstrap", path.String(), t.String()).IntN}
		for _, c := range list {
			if n := c.count(path); n != (Counts{}) {
				d.counts = append(d.counts, n)
			}
		}
		tasks[t] = d
	}
	samples := newSamples()
	for range draws {
		rows := map[Task]ScoreRow{}
		for _, t := range Tasks() {
			d := tasks[t]
			var total Counts
			for range d.counts {
				total = total.Add(d.counts[d.pick(len(d.counts))])
			}
			rows[t] = TaskRow(rules, t, path, total)
			samples.add("t"+t.String(), rows[t])
		}
		groups := groupRows(rules, path, rows)
		for _, g := range Groups() {
			samples.add("g"+g.String(), groups[g])
		}
	}
	return samples.all(path)
}

// all are the intervals of every row.
func (s samples) all(path Path) *Intervals {
	out := &Intervals{Tasks: map[Task]map[Column]CellInterval{}, Groups: map[Group]map[Column]CellInterval{}}
	for _, t := range Tasks() {
		out.Tasks[t] = s.intervals("t"+t.String(), path)
	}
	for _, g := range Groups() {
		out.Groups[g] = s.intervals("g"+g.String(), path)
	}
	return out
}

// Pair is one case as two sides scored it.
type Pair struct{ First, Second CaseScores }

// BootstrapDifference returns the intervals of second minus first of every cell of a path, over
// cases that both sides have: the cases of each task are drawn together for both, draws times
// with replacement. What has no value on one side has no difference. Seeds and order of cases
// are as for [Bootstrap].
func BootstrapDifference(first, second Rules, path Path, pairs map[Task][]Pair, seed uint64, draws int) *Intervals {
	counts := map[Task][][2]Counts{}
	pick := map[Task]func(int) int{}
	for _, t := range Tasks() {
		list := append([]Pair(nil), pairs[t]...)
		sort.SliceStable(list, func(i, k int) bool { return list[i].First.Case < list[k].First.Case })
		for _, p := range list {
			counts[t] = append(counts[t], [2]Counts{p.First.count(path), p.Second.count(path)})
		}
		pick[t] = stream(seed, "bootstrap", path.String(), t.String()).IntN
	}
	samples := newSamples()
	for range draws {
		a, b := map[Task]ScoreRow{}, map[Task]ScoreRow{}
		for _, t := range Tasks() {
			var x, y Counts
			for range counts[t] {
				c := counts[t][pick[t](len(counts[t]))]
				x, y = x.Add(c[0]), y.Add(c[1])
			}
			a[t], b[t] = TaskRow(first, t, path, x), TaskRow(second, t, path, y)
			samples.add("t"+t.String(), minus(b[t], a[t]))
		}
		x, y := groupRows(first, path, a), groupRows(second, path, b)
		for _, g := range Groups() {
			samples.add("g"+g.String(), minus(y[g], x[g]))
		}
	}
	return samples.all(path)
}

// minus is what a row has more than another in every cell.
func minus(a, b ScoreRow) ScoreRow {
	less := func(x, y Figure) Figure {
		return Figure{Known: x.Known && y.Known, Value: x.Value - y.Value}
	}
	out := ScoreRow{Cells: make([]Cell, len(a.Cells))}
	for i, c := range a.Cells {
		out.Cells[i] = Cell{Column: c.Column, Plain: less(c.Plain, b.Cells[i].Plain), Refined: less(c.Refined, b.Cells[i].Refined)}
	}
	return out
}

// samples collects the values of every cell over the resamples.
type samples struct {
	values  map[sampleKey][]float64
	without map[sampleKey]int
}

type sampleKey struct {
	row     string
	column  Column
	refined bool
}

func newSamples() samples {
	return samples{values: map[sampleKey][]float64{}, without: map[sampleKey]int{}}
}

func (s samples) add(row string, r ScoreRow) {
	for _, c := range r.Cells {
		for _, refined := range []bool{false, true} {
			key, f := sampleKey{row, c.Column, refined}, c.Plain
			if refined {
				f = c.Refined
			}
			if f.Known {
				s.values[key] = append(s.values[key], f.Value)
			} else {
				s.without[key]++
			}
		}
	}
}

func (s samples) intervals(row string, path Path) map[Column]CellInterval {
	out := map[Column]CellInterval{}
	for _, c := range Columns(path) {
		out[c] = CellInterval{
			Plain:   s.interval(sampleKey{row, c, false}),
			Refined: s.interval(sampleKey{row, c, true}),
		}
	}
	return out
}

func (s samples) interval(key sampleKey) Interval {
	values := s.values[key]
	if len(values) == 0 {
		return Interval{Without: s.without[key]}
	}
	sort.Float64s(values)
	return Interval{Known: true, Low: stats.Quantile(values, 0.025), High: stats.Quantile(values, 0.975), Without: s.without[key]}
}
