package claims

import (
	"strings"
	"testing"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
)

// TestTooFewCases: an interval of too few cases, or without width, says nothing of a published
// figure that differs; one that is equal as printed is reproduced all the same.
func TestTooFewCases(t *testing.T) {
	figure := func(v float64, cases int) cxreasonbench.Reached {
		cell := cxreasonbench.Cell{Column: cxreasonbench.Completion, Plain: cxreasonbench.Figure{Known: true, Value: v}}
		return cxreasonbench.Reached{Cell: cell, Cases: cases}
	}
	wide, point := cxreasonbench.Interval{Known: true, Low: 10, High: 30}, cxreasonbench.Interval{Known: true, Low: 20, High: 20}
	for _, c := range []struct {
		name  string
		in    cxreasonbench.Interval
		paper float64
		cases int
		want  report.Verdict
		why   string
	}{
		{"inside", wide, 25, 5, report.WithinNoise, ""},
		{"outside", wide, 31, 5, report.Off, "outside"},
		{"four cases inside", wide, 25, 4, report.NotComputable, "too few cases"},
		{"four cases outside", wide, 31, 4, report.NotComputable, "too few cases"},
		{"no width", point, 25, 100, report.NotComputable, "too few cases"},
		{"equal", point, 20, 1, report.Reproduced, ""},
	} {
		got, why := judge(cxreasonbench.PublishedFigure{Known: true, Value: c.paper}, figure(20, c.cases), cxreasonbench.CellInterval{Plain: c.in}, false)
		if got != c.want || !strings.Contains(why, c.why) || c.why == "" && why != "" {
			t.Errorf("%s: %v, %q; want %v, %q", c.name, got, why, c.want, c.why)
		}
	}
}
