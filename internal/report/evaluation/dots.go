package evaluation

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"

	"cxrepro/internal/cxreasonbench"
)

// dotRow is a line of a plot of one figure: each sampling's value with its interval, and the
// published ones.
type dotRow struct {
	Model string
	Marks []dotMark
}

type dotMark struct {
	Stochastic, Published bool
	Value, Low, High      float64
	HasInterval           bool
	Text                  string
}

// dotRows collects the overall figure of a column, model by model.
func (d *Document) dotRows(p cxreasonbench.Path, c cxreasonbench.Column) []dotRow {
	var rows []dotRow
	at := map[string]int{}
	for i := range d.evaluations {
		e := &d.evaluations[i]
		k, ok := at[e.Model]
		if !ok {
			k = len(rows)
			at[e.Model] = k
			rows = append(rows, dotRow{Model: e.Model})
		}
		ours, paper, printed := d.at(e, p, cxreasonbench.Overall, c)
		stochastic := e.Sampling == cxreasonbench.Stochastic
		if ours.Known {
			m := dotMark{Stochastic: stochastic, Value: ours.Value, Text: fmt.Sprintf("%s, %s: %.2f", e.Model, e.Sampling, ours.Value)}
			if in := e.Intervals[p]; in != nil {
				if x := in.Groups[cxreasonbench.Overall][c].Plain; x.Known {
					m.Low, m.High, m.HasInterval = x.Low, x.High, true
					m.Text += fmt.Sprintf(", 95 %% bootstrap %.2f to %.2f", x.Low, x.High)
				}
			}
			rows[k].Marks = append(rows[k].Marks, m)
		}
		if printed && paper.Known {
			rows[k].Marks = append(rows[k].Marks, dotMark{Stochastic: stochastic, Published: true, Value: paper.Value, Text: fmt.Sprintf("%s, %s: published %.2f", e.Model, e.Sampling, paper.Value)})
		}
	}
	return rows
}

const (
	dotsWidth = 430
	dotsLeft  = 142
	dotsRow   = 26
	dotsTop   = 8
)

// Dots draws the completion of a path, model by model.
func (d *Document) Dots(p cxreasonbench.Path) template.HTML {
	rows := d.dotRows(p, cxreasonbench.Completion)
	top := 5.0
	for _, r := range rows {
		for _, m := range r.Marks {
			top = max(top, m.Value, m.High)
		}
	}
	step := niceStep(top)
	top = math.Ceil(top/step) * step
	x := func(v float64) float64 { return dotsLeft + (dotsWidth-dotsLeft-16)*v/top }
	height := dotsTop + dotsRow*len(rows) + 22
	b := &strings.Builder{}
	fmt.Fprintf(b, `<svg class="dots" viewBox="0 0 %d %d" role="img" aria-label="Completion of %s by model">`, dotsWidth, height, cxreasonbench.PathTitle(p))
	for v := 0.0; v <= top+step/2; v += step {
		fmt.Fprintf(b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><text class="tick" x="%.1f" y="%d">%.4g</text>`, x(v), x(v), dotsTop, dotsTop+dotsRow*len(rows), x(v), height-6, v)
	}
	for i, r := range rows {
		y := float64(dotsTop + i*dotsRow + dotsRow/2)
		fmt.Fprintf(b, `<text class="model" x="%d" y="%.1f">%s</text>`, dotsLeft-10, y+4, html.EscapeString(r.Model))
		if len(r.Marks) == 0 {
			fmt.Fprintf(b, `<text class="tick none" x="%d" y="%.1f">no value</text>`, dotsLeft+6, y+4)
		}
		for _, m := range r.Marks {
			b.WriteString(m.svg(x, y))
		}
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) // numbers and escaped words only
}

func (m dotMark) svg(x func(float64) float64, y float64) string {
	class := "greedy"
	y -= 5
	if m.Stochastic {
		class = "draws"
		y += 10
	}
	title := "<title>" + html.EscapeString(m.Text) + "</title>"
	if m.Published {
		return fmt.Sprintf(`<g class="mark published %s">%s<path d="M%.1f %.1f l4.5 4.5 l-4.5 4.5 l-4.5 -4.5 z"/></g>`, class, title, x(m.Value), y-4.5)
	}
	s := fmt.Sprintf(`<g class="mark ours %s">%s`, class, title)
	if m.HasInterval {
		s += fmt.Sprintf(`<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, x(m.Low), x(m.High), y, y)
	}
	return s + fmt.Sprintf(`<circle cx="%.1f" cy="%.1f" r="4.2"/></g>`, x(m.Value), y)
}

// niceStep is a round distance between marks of an axis.
func niceStep(top float64) float64 {
	for _, s := range []float64{1, 2, 5, 10, 20} {
		if top/s <= 6 {
			return s
		}
	}
	return 25
}
