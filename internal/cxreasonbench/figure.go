package cxreasonbench

import "cxrepro/internal/stats"

// Names of formulas, as results and reports carry them.
const (
	// FormulaAdjustedWilson: 100 * centre * (1 - half) of the Wilson interval of k of n with
	// z = 1.96, 0 where k is 0, to two decimals.
	FormulaAdjustedWilson = "paper.adjusted_wilson"
	// FormulaRefined: the unrounded adjusted Wilson value of k of n times the share of
	// consistent values, to two decimals.
	FormulaRefined = "paper.refined"
	// FormulaDepth: stages passed over cases, to two decimals.
	FormulaDepth = "paper.depth"
	// FormulaRefinedDepth: as depth, with the third stage passed only by consistent values
	// and the fourth only by right answers with a consistent value.
	FormulaRefinedDepth = "paper.refined_depth"
	// FormulaMean: unweighted mean over the tasks with a value, k of n tasks, to two decimals.
	FormulaMean = "paper.mean_of_tasks"
	// FormulaMeanOfAll: the same over all tasks that could have a value, which is 0 where one
	// has none. Under WithoutValue=zero.
	FormulaMeanOfAll = "mean_of_all_tasks"
	// FormulaShare: 100 * k / n, to two decimals. Under ProportionFormula=share.
	FormulaShare = "share"
)

// paperZ is the paper's quantile, not the textbook's. Source: [paper].
const paperZ = 1.96

// Absence says why a figure has no value.
const (
	// WhyNothingAsked: no case came to the stage.
	WhyNothingAsked = "no case came to this stage"
	// WhyRejected: every case was left to Path 2.
	WhyRejected = "every case was left to path 2"
	// WhyNoReview: no re-evaluation began.
	WhyNoReview = "no re-evaluation began"
	// WhyNotMeasured: the task has no value to be consistent.
	WhyNotMeasured = "the task asks for a label, not a value"
	// WhyNoTask: no task of the group has a value.
	WhyNoTask = "no task of the group has a value"
	// WhyMixed: refined figures of tasks with and without a value to check are not added up.
	WhyMixed = "tasks with and without a value to check are not added up"
)

// Figure is one number of a table with its origin. Without a value, Why says the reason; such
// a figure is never zero and never part of a mean. The zero value is a figure without value
// and reason.
type Figure struct {
	// Known: there is a value.
	Known bool
	// Value is as reported; Exact before the last rounding.
	Value, Exact float64
	// K of N: right answers of cases, stages passed of cases, or tasks with a value of tasks.
	K, N int
	// Formula is one of the formula names.
	Formula string
	// Why a figure has no value.
	Why string
}

// absent is a figure without a value.
func absent(formula, why string) Figure { return Figure{Formula: formula, Why: why} }

// adjustedWilson returns 100 * centre * (1 - half) of the Wilson interval of p, unrounded.
//
// Source: [paper] formula (4); that 0 of n is 0 is only in [official code].
func adjustedWilson(rules Rules, p stats.Proportion) (v float64, ok bool) {
	centre, half, ok := p.WilsonCentre(paperZ)
	if !ok {
		return 0, false
	}
	if p.K == 0 && rules.is(NothingRight, Zero) {
		return 0, true
	}
	return float64(100*centre) * (1 - half), true
}

// Proportion is the figure of k of n cases under some rules; of none it has no value.
func Proportion(rules Rules, k, n int) Figure { return proportion(rules, k, n, WhyNothingAsked) }

// proportion is the figure of k of n: the paper's, or the plain share.
func proportion(rules Rules, k, n int, why string) Figure {
	if rules.is(ProportionFormula, PlainShare) {
		share, ok := stats.Proportion{K: k, N: n}.Value()
		if !ok {
			return absent(FormulaShare, why)
		}
		return Figure{Known: true, Value: RoundDecimal(100*share, 2), Exact: 100 * share, K: k, N: n, Formula: FormulaShare}
	}
	exact, ok := adjustedWilson(rules, stats.Proportion{K: k, N: n})
	if !ok {
		return absent(FormulaAdjustedWilson, why)
	}
	return Figure{Known: true, Value: RoundDecimal(exact, 2), Exact: exact, K: k, N: n, Formula: FormulaAdjustedWilson}
}

// refined is a proportion times the share of consistent values, consistent of checked.
//
// Source: [official code]; the paper says only that consistency enters.
func refined(f Figure, consistent, checked int) Figure {
	if !f.Known {
		return absent(FormulaRefined, f.Why)
	}
	exact := 0.0
	if f.K > 0 && checked > 0 {
		exact = float64(f.Exact * (float64(consistent) / float64(checked)))
	}
	return Figure{Known: true, Value: RoundDecimal(exact, 2), Exact: exact, K: f.K, N: f.N, Formula: FormulaRefined}
}

// depth is stages passed over cases. It is a mean, so numpy rounds it: 63 over 40 is 1.58.
func depth(passed, cases int, formula, why string) Figure {
	if cases == 0 {
		return absent(formula, why)
	}
	exact := float64(passed) / float64(cases)
	return Figure{Known: true, Value: RoundNumpy(exact, 2), Exact: exact, K: passed, N: cases, Formula: formula}
}

// Standard is the textbook reading of the same counts.
type Standard struct {
	// Share is k/n, Low and High the bounds of its 95 % Wilson interval; all fractions.
	Share, Low, High float64
}

// Standard returns the textbook reading; ok is false for a figure without a value, a mean,
// and a depth, which are no proportions.
func (f Figure) Standard() (s Standard, ok bool) {
	if !f.Known || (f.Formula != FormulaAdjustedWilson && f.Formula != FormulaRefined && f.Formula != FormulaShare) {
		return Standard{}, false
	}
	return standardOf(stats.Proportion{K: f.K, N: f.N})
}

// pooled adds up k and n of a group's tasks that have a value: the textbook reading of a mean.
// ok is false where no task has one.
func (p PathScores) pooled(g Group, c Column) (pool stats.Proportion, ok bool) {
	for _, t := range Tasks() {
		if cell, has := p.Tasks[t].Cell(c); has && g.Has(t) && cell.Plain.Known {
			pool, ok = pool.Add(stats.Proportion{K: cell.Plain.K, N: cell.Plain.N}), true
		}
	}
	return pool, ok
}

// standardOf is the textbook reading of k of n; ok is false without n.
func standardOf(p stats.Proportion) (s Standard, ok bool) {
	s.Share, _ = p.Value()
	s.Low, s.High, ok = p.Wilson(stats.Z95)
	return s, ok
}

// mean is the unweighted mean over the figures that have a value: of the reported values, but
// of plain depths before rounding. Under WithoutValue=zero a figure without a value is 0, but
// not one that its task cannot have.
//
// Source: [official code], which adds like numpy; zero [ours].
func mean(rules Rules, figures []Figure) Figure {
	var values []float64
	formula := FormulaMean
	if rules.is(WithoutValue, Zero) {
		formula = FormulaMeanOfAll
	}
	for _, f := range figures {
		if !f.Known {
			if formula == FormulaMeanOfAll && f.Why != WhyNotMeasured && f.Why != "" {
				values = append(values, 0)
			}
			continue
		}
		v := f.Value
		if f.Formula == FormulaDepth {
			v = f.Exact
		}
		values = append(values, v)
	}
	if len(values) == 0 {
		return absent(formula, WhyNoTask)
	}
	m := numpySum(values) / float64(len(values))
	return Figure{Known: true, Value: RoundNumpy(m, 2), Exact: m, K: len(values), N: len(figures), Formula: formula}
}

// numpySum adds fewer than 129 values in numpy's order: one after the other below eight,
// else in eight columns that are added in pairs, then the rest one after the other.
func numpySum(v []float64) float64 {
	if len(v) < 8 {
		s := 0.0
		for _, x := range v {
			s += x
		}
		return s
	}
	var r [8]float64
	copy(r[:], v)
	i := 8
	for ; i+8 <= len(v); i += 8 {
		for k := range r {
			r[k] += v[i+k]
		}
	}
	s := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	for ; i < len(v); i++ {
		s += v[i]
	}
	return s
}
