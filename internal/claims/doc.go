// Package claims holds what the papers print as claims that a reproduction can be checked
// against, and checks them.
//
// A Claim is one printed figure: its value as printed, the cells of tables that print it, the
// formula it is made with, the cases it is over, and how it was rounded. The figures lie in
// experiments/*/claims, each once; the published counts of CheXStruct lie in its spec. What can
// be said of a figure without any run is computed from them: the whole numbers of cases behind a
// percentage (Behind), and where tables contradict each other.
//
// Check is the one comparison of ours with published figures: the report of an evaluation and the
// verb check print what it says. Verdicts are those of package report:
//
//	reproduced      equal as printed
//	within noise    the published figure lies inside our 95 % interval
//	off             it lies outside
//	not computable  one of the two has no figure, or nothing can be said; with the reason
//	undetermined    cases behind our figure have no outcome yet
//
// What is not here: running anything, and judging whether a paper is right.
//
//	c, err := claims.Check(claims.Input{Summary: summary})
//	for _, r := range c.Results { fmt.Println(r.Claim.ID, r.Verdict) }
package claims
