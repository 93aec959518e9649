package evaluation

import (
	"fmt"
	"html"
	"html/template"
	"strings"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
)

// funnelStep is a bar of a funnel: how many cases are left.
type funnelStep struct {
	Name string
	N    int
	// Consistent of N told a value that fits; -1 where there is none to tell.
	Consistent int
}

// funnelOf adds up a path's stages over all tasks.
func funnelOf(s cxreasonbench.PathScores) []funnelStep {
	var c cxreasonbench.Counts
	var measured cxreasonbench.Counts
	for _, t := range cxreasonbench.Tasks() {
		c = c.Add(s.Counts[t])
		if cxreasonbench.KindOf(t) == cxreasonbench.Measurement {
			measured = measured.Add(s.Counts[t])
		}
	}
	stage := func(name string, n int) funnelStep { return funnelStep{name, n, -1} }
	switch s.Path {
	case cxreasonbench.Path1:
		return []funnelStep{
			stage("cases", c.Entered+c.Unknown), stage("answered", c.Entered), stage("Stage 1", c.Right[0]), stage("not left to Path 2", c.Accepted()),
			stage("Stage 2", c.Right[1]), stage("Stage 3", c.Right[2]), {"Stage 4", c.Right[3], measured.RightConsistent},
		}
	case cxreasonbench.Path2:
		return []funnelStep{stage("cases", c.Entered), stage("Stage 1", c.Right[0]), stage("Stage 2", c.Right[1]), {"Stage 3", c.Right[2], measured.RightConsistent}}
	}
	return []funnelStep{
		stage("cases", c.Candidates), stage("initial right", c.Entered), stage("Stage 1", c.Right[0]), stage("Stage 2", c.Right[1]),
		stage("Stage 3", c.Right[2]), {"Stage 4", c.Right[3], measured.RightConsistent},
	}
}

const (
	funnelWidth = 360
	funnelLabel = 118
	funnelBar   = 150
	funnelRow   = 25
)

// Funnel draws the cases that are left after each stage of a path.
func Funnel(title string, s cxreasonbench.PathScores) template.HTML {
	steps := funnelOf(s)
	b := &strings.Builder{}
	var words []string
	for _, st := range steps {
		words = append(words, fmt.Sprintf("%s %d", st.Name, st.N))
	}
	height := funnelRow*len(steps) + 4
	fmt.Fprintf(b, `<svg class="funnel" viewBox="0 0 %d %d" role="img" aria-label="%s: %s">`, funnelWidth, height, html.EscapeString(title), html.EscapeString(strings.Join(words, ", ")))
	all := steps[0].N
	for i, st := range steps {
		y := i*funnelRow + 4
		width := 0.0
		if all > 0 {
			width = float64(funnelBar) * float64(st.N) / float64(all)
		}
		fmt.Fprintf(b, `<g><text class="name" x="%d" y="%d">%s</text>`, funnelLabel-8, y+13, html.EscapeString(st.Name))
		fmt.Fprintf(b, `<rect class="room" x="%d" y="%d" width="%d" height="16" rx="3"/>`, funnelLabel, y, funnelBar)
		fmt.Fprintf(b, `<rect class="left s%d" x="%d" y="%d" width="%.1f" height="16" rx="3"/>`, i, funnelLabel, y, width)
		if st.Consistent >= 0 && all > 0 {
			fmt.Fprintf(b, `<rect class="consistent" x="%d" y="%d" width="%.1f" height="3" rx="1.5"/>`, funnelLabel, y+18, float64(funnelBar)*float64(st.Consistent)/float64(all))
		}
		fmt.Fprintf(b, `<text class="count" x="%d" y="%d">%s</text>`, funnelLabel+funnelBar+8, y+13, report.Number(st.N))
		if i > 0 && steps[i-1].N > 0 {
			fmt.Fprintf(b, `<text class="of" x="%d" y="%d">%s</text>`, funnelWidth, y+13, report.Percent(st.N, steps[i-1].N))
		}
		b.WriteString(funnelHover(st, steps, i) + "</g>")
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) // numbers and escaped words only
}

func funnelHover(st funnelStep, steps []funnelStep, i int) string {
	text := fmt.Sprintf("%s: %d cases", st.Name, st.N)
	if i > 0 {
		text += fmt.Sprintf(", %s of the %d before, %s of all", report.Percent(st.N, steps[i-1].N), steps[i-1].N, report.Percent(st.N, steps[0].N))
	}
	if st.Consistent >= 0 {
		text += fmt.Sprintf("; %d of measurement tasks with a consistent value", st.Consistent)
	}
	return "<title>" + html.EscapeString(text) + "</title>"
}
