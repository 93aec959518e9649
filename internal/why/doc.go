// Package why attributes the difference between two figures to the settings that differ.
//
// A [Setting] is a plan of one evaluation with the benchmark it is about. [Factors] lists what
// differs between two of them, each with what a change of it needs: nothing, calls to a judge,
// or calls to a model. [Attribute] changes the factors of scoring in every combination, takes
// the figure of each from the caller, and divides the gap by Shapley values. What they leave is
// the rest, which belongs to the factors that need calls.
//
// The package computes no figure and reads no store. The unit of a figure is the last decimal
// as printed, a hundredth, so that every sum is exact.
//
//	ours, err := why.Narrow(plan, benchmark, cases, index)
//	factors, err := why.Factors(ours, theirs)
//	a, err := why.Attribute(ctx, ours, factors, figureOf)
package why
