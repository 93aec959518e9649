// Package tables lays out Tables 1 to 11 of the X-Ragent paper from outcomes of ours, with what the
// paper's text prints beside each figure.
//
// The text copy that we have lacks the tables themselves: what it prints is a published figure, what
// follows from printed figures is marked "derived", everything else is "-". A figure of ours that
// cannot be computed is N/A, and the reason stands below the table. Differences stand beside the
// noise floor that repeats measure. Where the text cites a table by another number than its caption
// has, the title gives both.
//
// The package only lays out: figures come from [analysis], verdicts from whoever holds the published
// figures ([Beside]).
//
//	list, err := tables.All(tables.Input{Analysis: a, Beside: checked})
package tables
