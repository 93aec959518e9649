package review

import (
	"fmt"
	"html"
	"strings"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/report"
)

// labelRows are the rows that judge a task's own index.
var labelRows = map[chexstruct.Task][]string{
	chexstruct.Inspiration:                {"inspiration.label.good_min"},
	chexstruct.Rotation:                   {"rotation.label.not_rotated_min"},
	chexstruct.Projection:                 {"projection.label.overlap_split"},
	chexstruct.Cardiomegaly:               {"cardiomegaly.label.PA_min", "cardiomegaly.label.AP_min"},
	chexstruct.MediastinalWidening:        {"mediastinal_widening.label.PA_min", "mediastinal_widening.label.AP_min"},
	chexstruct.CarinaAngle:                {"carina_angle.label.normal_range"},
	chexstruct.AorticKnobEnlargement:      {"aortic_knob_enlargement.label.enlarged_min"},
	chexstruct.AscendingAortaEnlargement:  {"ascending_aorta_enlargement.label.enlarged_min", "ascending_aorta_enlargement.label.implausible_min"},
	chexstruct.DescendingAortaTortuous:    {"descending_aorta_tortuous.label.tortuous_min"},
	chexstruct.DescendingAortaEnlargement: {"descending_aorta_enlargement.label.enlarged_min"},
}

// indexWords name what a task's index is.
var indexWords = map[chexstruct.Task]string{
	chexstruct.Inspiration: "number of the lowest rib above the diaphragm", chexstruct.Rotation: "shorter over longer distance to the spine",
	chexstruct.Projection: "share of the shoulder blade inside the lung", chexstruct.Cardiomegaly: "cardiothoracic ratio",
	chexstruct.MediastinalWidening: "mediastinum-chest ratio", chexstruct.CarinaAngle: "angle at the carina, in degrees",
	chexstruct.AorticKnobEnlargement: "knob width over trachea width", chexstruct.AscendingAortaEnlargement: "share of the ascending aorta beyond the line",
	chexstruct.DescendingAortaTortuous: "mean curvature, per native pixel", chexstruct.DescendingAortaEnlargement: "aorta width over trachea width",
}

// rows returns the rows of the threshold table that judge a series.
func (k seriesKey) rows() []string {
	if k.rule == 0 {
		return labelRows[k.task]
	}
	rows := ruleText[k.rule].Rows
	if k.rule == chexstruct.RuleHeartBox || k.rule == chexstruct.RuleMediBox {
		return []string{rows[k.part], rows[2+k.part]}
	}
	return rows
}

// name is the text form of a series: a rule's name, or the task's name with ".label" for
// its index; a part is named behind a slash.
func (k seriesKey) name() string {
	name := k.rule.String()
	if k.rule == 0 {
		name = k.task.String() + ".label"
	}
	if part := k.partName(); part != "" {
		name += "/" + part
	}
	return name
}

func (k seriesKey) partName() string {
	if k.rule == 0 {
		if k.task == chexstruct.Projection {
			return sides[k.part]
		}
		return ""
	}
	return ruleText[k.rule].Parts[k.part]
}

// what says what the values of a series are.
func (k seriesKey) what() string {
	if k.rule == 0 {
		return indexWords[k.task]
	}
	return ruleText[k.rule].What
}

// must says what the values are compared with.
func (l limits) seriesMust(k seriesKey) string {
	if k.rule == 0 {
		return l.limit(k.task, 0)
	}
	return l.must(k.rule)
}

// lines are the limits of a series that can be drawn into its range of values, in order.
func (l limits) lines(k seriesKey) []float64 {
	var out []float64
	add := func(v float64) {
		for _, o := range out {
			if o == v {
				return
			}
		}
		out = append(out, v)
	}
	for _, row := range k.rows() {
		lo, hi := l.number(row)
		add(lo)
		if hi != lo {
			add(hi)
		}
	}
	return out
}

// Size of a histogram, in its own units.
const (
	plotW, plotH = 640.0, 120.0
	plotFoot     = 22.0
)

// histogram draws bins as stacked bars with the limits as lines, as an SVG element that
// takes its colours from the page.
func histogram(bins []bin, lines []float64, passWord, failWord string) string {
	if len(bins) == 0 {
		return ""
	}
	lo, hi := bins[0].Low, bins[len(bins)-1].High
	most := 1
	for _, b := range bins {
		most = max(most, b.Pass+b.Fail)
	}
	// Room for limits just outside the values.
	from, to := lo, hi
	for _, v := range lines {
		if span := hi - lo; v < from && v >= lo-span {
			from = v
		} else if v > to && v <= hi+span {
			to = v
		}
	}
	if to == from {
		from, to = from-0.5, to+0.5
	}
	x := func(v float64) float64 { return 8 + (v-from)/(to-from)*(plotW-16) }
	b := &strings.Builder{}
	fmt.Fprintf(b, `<svg class="plot" viewBox="0 0 %g %g" role="img" aria-label="distribution of %d values">`, plotW, plotH+plotFoot, total(bins))
	for _, n := range bins {
		x0, x1 := x(n.Low), x(n.High)
		if n.Low == n.High {
			x0, x1 = x0-6, x1+6
		}
		w := max(1, x1-x0-1.5)
		pass := float64(n.Pass) / float64(most) * (plotH - 18)
		fail := float64(n.Fail) / float64(most) * (plotH - 18)
		fmt.Fprintf(b, `<g><title>%s to %s: %d %s, %d %s</title>`, figureText(n.Low), figureText(n.High), n.Pass, passWord, n.Fail, failWord)
		if n.Pass > 0 {
			fmt.Fprintf(b, `<rect class="pass" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, x0, plotH-pass, w, max(1, pass))
		}
		if n.Fail > 0 {
			fmt.Fprintf(b, `<rect class="fail" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, x0, plotH-pass-fail, w, max(1, fail))
		}
		b.WriteString("</g>")
	}
	fmt.Fprintf(b, `<line class="axis" x1="8" x2="%g" y1="%g" y2="%g"/>`, plotW-8, plotH, plotH)
	fmt.Fprintf(b, `<text x="8" y="%g">%s</text><text x="%g" y="%g" text-anchor="end">%s</text>`, plotH+16, figureText(from), plotW-8, plotH+16, figureText(to))
	for _, v := range lines {
		if v < from || v > to {
			continue
		}
		anchor := "middle"
		if x(v) < 60 {
			anchor = "start"
		} else if x(v) > plotW-60 {
			anchor = "end"
		}
		fmt.Fprintf(b, `<line class="limit" x1="%.1f" x2="%.1f" y1="14" y2="%g"/><text class="limit" x="%.1f" y="10" text-anchor="%s">%s</text>`,
			x(v), x(v), plotH, x(v), anchor, html.EscapeString(figureText(v)))
	}
	b.WriteString("</svg>")
	return b.String()
}

func total(bins []bin) int {
	n := 0
	for _, b := range bins {
		n += b.Pass + b.Fail
	}
	return n
}

// countText is "12 pass, 3 fail" for a series, in the words given.
func countText(s *series, passWord, failWord string) string {
	pass := 0
	for _, p := range s.pass {
		if p {
			pass++
		}
	}
	return fmt.Sprintf("%s %s, %s %s", report.Number(pass), passWord, report.Number(len(s.pass)-pass), failWord)
}
