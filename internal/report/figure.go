package report

// Figure is a number that a formula of its own makes of k and n, as it is printed. Unlike a
// Share it is not k/n, so it draws no bar and is compared by whoever knows the formula.
func Figure(text string, k, n int, formula string) Cell {
	return Cell{kind: kindFigure, text: text, K: k, N: n, Formula: formula}
}

// Beside puts a published figure, as printed, and a verdict reached elsewhere beside the cell.
func (c Cell) Beside(published string, v Verdict) Cell {
	c.PublishedText, c.Verdict = published, v
	return c
}

// None is a figure that does not exist, printed as "N/A". The reason is in the CSV and in the
// title of the HTML cell; use Absent where there is room for it.
func None(why string) Cell { return Cell{kind: kindAbsent, text: why, short: true} }

// Why is the reason of a figure that does not exist; empty for any other cell.
func (c Cell) Why() string {
	if c.kind != kindAbsent {
		return ""
	}
	return c.text
}
