// Package stats holds textbook statistics of counted things: proportions and their intervals,
// agreement between two raters, and resampling over cases.
//
// Only textbook formulas live here. A paper's own variant lives with the paper, under the
// paper's name, so that both can be shown side by side.
//
// Proportions are fractions between 0 and 1, never percent. A proportion of nothing has no
// value: functions say so with ok == false and never return 0 or NaN for it.
//
//	p := stats.Proportion{K: 13, N: 14}
//	low, high, ok := p.Wilson(stats.Z95)
package stats
