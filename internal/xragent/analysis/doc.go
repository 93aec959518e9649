// Package analysis counts what became of the items of X-Ragent's benchmarks: scores by column,
// repeats with their noise floor, differences between configurations, when tools were called, what
// the gate withheld, and the figures of the paper by their ids.
//
// Terms: a configuration is a named experiment ("xr.default"); a repeat is the same experiment with
// another seed; the noise floor of a difference is the larger spread (largest minus smallest repeat)
// of its two sides; a flip is a question that is right in one repeat and wrong in another. Percentages
// are 0 to 100, differences are points of them.
//
// A question without an outcome, or with an undetermined one, is in no denominator and is counted.
// Figures that do not exist say why. Paired tests and routing are over the first repeat.
//
//	a, err := analysis.New(items, outcomes)
//	s := a.Score("xr.default", bench.ChestAgentBench, bench.All)
package analysis
