package report

import (
	"fmt"
	"strconv"
	"strings"
)

// Detail is what is behind the text of a cell. Nil fields do not exist.
type Detail struct {
	// Value is the figure; Refined a second one printed with it, with its formula.
	Value, Refined *float64
	RefinedFormula string
	// Standard is the textbook reading of the same counts, a share with its 95 % interval.
	Standard *Range
	// Interval is the 95 % bootstrap interval over cases of Value, RefinedInterval of Refined.
	Interval, RefinedInterval *Range
	// Why gives the reason for the verdict, where it needs one.
	Why string
}

// Range is an interval. Mid is the value in it, of a textbook reading; a bootstrap interval has
// none.
type Range struct{ Mid, Low, High float64 }

// With adds detail to a cell.
func (c Cell) With(d Detail) Cell {
	c.Detail = &d
	return c
}

// Lighter marks the cell as beside the point of the table: a published line, a repeated word.
func (c Cell) Lighter() Cell {
	c.Soft = true
	return c
}

// figures reports whether the cell is a figure of ours, one that exists or one that does not.
func (c Cell) figures() bool { return c.kind != kindText }

// counted reports whether k and n, or k alone, belong to the cell.
func (c Cell) counted() (k, n bool) {
	switch c.kind {
	case kindCount:
		return true, false
	case kindShare, kindFigure:
		return true, true
	}
	return false, false
}

// Facts says in short sentences where a figure comes from, for a hover or a footnote.
func (c Cell) Facts() []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if c.kind == kindAbsent {
		add("no value: %s", c.text)
	}
	if k, n := c.counted(); n {
		add("k = %s of n = %s", group(c.K), group(c.N))
	} else if k {
		add("k = %s", group(c.K))
	}
	if c.Formula != "" {
		add("formula %s", c.Formula)
	}
	if d := c.Detail; d != nil {
		if d.Refined != nil {
			add("in parentheses %s, formula %s", two(*d.Refined), d.RefinedFormula)
		}
		if d.Standard != nil {
			add("textbook %s %%, 95 %% interval %s to %s", one(100*d.Standard.Mid), one(100*d.Standard.Low), one(100*d.Standard.High))
		}
		if d.Interval != nil {
			add("95 %% bootstrap over cases %s to %s", two(d.Interval.Low), two(d.Interval.High))
		}
		if d.RefinedInterval != nil {
			add("of the one in parentheses %s to %s", two(d.RefinedInterval.Low), two(d.RefinedInterval.High))
		}
	}
	if c.Verdict != 0 {
		line := "published " + c.published() + ": " + c.Verdict.String()
		if c.Detail != nil && c.Detail.Why != "" {
			line += " (" + c.Detail.Why + ")"
		}
		out = append(out, line)
	}
	if !c.Ref.IsZero() {
		add("reference %s", c.Ref)
	}
	return out
}

// published is the published figure in words.
func (c Cell) published() string {
	switch {
	case c.PublishedText != "":
		return c.PublishedText
	case c.Published == nil:
		return "nothing"
	case c.kind == kindShare:
		return fmt.Sprintf("%s of %s", group(c.Published.K), group(c.Published.N))
	}
	return group(c.Published.K)
}

func one(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
func two(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// Tally counts the verdicts of a table's figures.
func (t *Table) Tally() map[Verdict]int {
	counts := map[Verdict]int{}
	for _, r := range t.Rows {
		for _, c := range r.Cells {
			if c.Verdict != 0 {
				counts[c.Verdict]++
			}
		}
	}
	return counts
}

// names returns, row by row, the words that name a row: its leading words, where a group's
// later rows take the first from the row above.
func (t *Table) names() []string {
	out, last := make([]string, len(t.Rows)), ""
	for i, r := range t.Rows {
		var words []string
		for k, c := range r.Cells {
			if c.figures() {
				break
			}
			text := strings.TrimSpace(c.text)
			if k == 0 && text == "" {
				text = last
			}
			if k == 0 {
				last = text
			}
			if text != "" {
				words = append(words, text)
			}
		}
		out[i] = strings.Join(words, " / ")
	}
	return out
}
