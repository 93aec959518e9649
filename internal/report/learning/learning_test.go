package learning

import (
	"encoding/xml"
	"io"
	"math"
	"strings"
	"testing"

	"cxrepro/internal/contract"
	"cxrepro/internal/report"
)

func rounds(means ...float64) (out []Round) {
	for i, m := range means {
		out = append(out, Round{Step: i + 1, Samples: 64, RoundRewards: contract.RoundRewards{Mean: m, Correct: 32, Calls: 16, Malformed: i}})
	}
	return out
}

// TestEnds: the ends of a curve are means over ten rounds, of a short one over all.
func TestEnds(t *testing.T) {
	up := make([]float64, 25)
	for i := range up {
		up[i] = float64(i)
	}
	for _, c := range []struct {
		means       []float64
		first, last float64
	}{{up, 4.5, 19.5}, {[]float64{1, 2, 3}, 2, 2}, {nil, 0, 0}} {
		if first, last := (Curve{Rounds: rounds(c.means...)}).Ends(); math.Abs(first-c.first)+math.Abs(last-c.last) > 1e-12 {
			t.Errorf("%d rounds: %v and %v, want %v and %v", len(c.means), first, last, c.first, c.last)
		}
	}
}

// TestPage: one file that is well-formed, loads nothing, says what the policy is, and escapes the
// names that it is given; a control is dashed; what contradicts itself is not written.
func TestPage(t *testing.T) {
	p := Page{
		Title:  "A <training>",
		Facts:  []Fact{{"seed", "1 & more"}},
		Curves: []Curve{{Name: "seed <1>", Rounds: rounds(-0.5, 0.2, 1.1)}, {Name: "permuted", Control: true, Rounds: rounds(0.4)}},
		Tables: []*report.Table{{Title: "Held out", Columns: []report.Column{{Name: "x"}}, Rows: []report.Row{{Cells: []report.Cell{report.Text("<b>")}}}}},
	}
	b := &strings.Builder{}
	if err := p.Write(b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{Note, "seed &lt;1&gt;", "&lt;b&gt;", "A &lt;training&gt;", "stroke-dasharray", "over the first 3 rounds"} {
		if !strings.Contains(text, want) && !strings.Contains(text, strings.ReplaceAll(want, "'", "&#39;")) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), "http") || strings.Contains(text, "<script") || strings.Contains(text, "NaN") {
		t.Error("the page loads something or draws what is no number")
	}
	for d := xml.NewDecoder(strings.NewReader(Rewards(p.Curves))); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	p.Tables[0].Columns = nil
	if p.Write(io.Discard) == nil || (Page{Title: "none"}).Write(io.Discard) == nil {
		t.Error("a page without a curve, or with a table of no form, was written")
	}
}
