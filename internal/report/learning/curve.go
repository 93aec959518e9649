package learning

import (
	"fmt"
	"html"
	"strings"

	"cxrepro/internal/contract"
)

// Note goes with everything that the small policy shows.
const Note = "a small policy that proves the machinery and says nothing about the paper's numbers"

// Round is one round of a training: its sums, over so many samples.
type Round struct {
	Step    int
	Samples int
	contract.RoundRewards
}

// Curve is the rounds of one training. A control is drawn dashed.
type Curve struct {
	Name    string
	Control bool
	Rounds  []Round
}

// Window is over how many rounds a thick line and the ends of a curve are means.
const Window = 10

// Ends are the mean rewards of the first and the last Window rounds; of fewer, of all.
func (c Curve) Ends() (first, last float64) {
	n := min(Window, len(c.Rounds))
	return mean(c.Rounds[:n], reward), mean(c.Rounds[len(c.Rounds)-n:], reward)
}

// figure is one number of a round.
type figure func(Round) float64

func reward(r Round) float64 { return r.Mean }

func share(of func(Round) int) figure {
	return func(r Round) float64 { return float64(of(r)) / float64(max(1, r.Samples)) }
}

func mean(list []Round, f figure) float64 {
	sum := 0.0
	for _, r := range list {
		sum += f(r)
	}
	return sum / float64(max(1, len(list)))
}

// line is one figure of one training.
type line struct {
	name   string
	dashed bool
	rounds []Round
	of     figure
}

// Rewards draws the mean reward of every round: thin as it was, thick the mean over ten rounds
// around it.
func Rewards(curves []Curve) string {
	var lines []line
	for _, c := range curves {
		lines = append(lines, line{c.Name, c.Control, c.Rounds, reward})
	}
	return draw("Mean reward of a round", 0, 1, lines)
}

// Shares draws of one training how many samples of a round were right, malformed, and how many
// calls there were for each.
func Shares(c Curve) string {
	return draw("Of the samples of a round", 0, 1, []line{
		{"right", false, c.Rounds, share(func(r Round) int { return r.Correct })},
		{"calls", false, c.Rounds, share(func(r Round) int { return r.Calls })},
		{"malformed", false, c.Rounds, share(func(r Round) int { return r.Malformed })},
	})
}

// the plot's frame in pixels
const (
	plotW, plotH           = 760, 400
	left, right, top, base = 56, 168, 56, 48
)

var colours = []string{"#1f5fa8", "#b3541e", "#2e7d4f", "#7a3e9d", "#555555", "#a08000"}

// frame maps rounds and values to pixels.
type frame struct {
	last      int // step of the last round
	low, high float64
}

func (f frame) x(step float64) float64 {
	return left + (step-1)/float64(max(1, f.last-1))*(plotW-left-right)
}
func (f frame) y(v float64) float64 {
	return top + (f.high-v)/(f.high-f.low)*(plotH-top-base)
}

// draw plots lines in a frame that holds low, high and all of them.
func draw(title string, low, high float64, lines []line) string {
	f := frame{last: 2, low: low, high: high}
	for _, l := range lines {
		for _, r := range l.rounds {
			f.last, f.low, f.high = max(f.last, r.Step), min(f.low, l.of(r)), max(f.high, l.of(r))
		}
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="12" role="img">`+"\n", plotW, plotH, plotW, plotH)
	fmt.Fprintf(b, `<title>%s</title><rect width="%d" height="%d" fill="#fff"/>`+"\n", html.EscapeString(title), plotW, plotH)
	fmt.Fprintf(b, `<text x="%d" y="22" font-size="15">%s</text>`+"\n", left, html.EscapeString(title))
	fmt.Fprintf(b, `<text x="%d" y="40" fill="#555">%s</text>`+"\n", left, html.EscapeString(Note))
	f.axes(b)
	for i, l := range lines {
		f.line(b, l, i)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (f frame) axes(b *strings.Builder) {
	const bottom = plotH - base
	step := 0.2
	if f.high-f.low > 2 {
		step = 0.5
	}
	for k := int(f.low/step) - 1; float64(k)*step <= f.high+1e-9; k++ {
		if v := float64(k) * step; v >= f.low-1e-9 {
			fmt.Fprintf(b, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%.1f</text>`+"\n", left, f.y(v), plotW-right, left-8, f.y(v)+4, v+0)
		}
	}
	every := max(1, f.last/5)
	for s := 1; s <= f.last; s = s/every*every + every {
		fmt.Fprintf(b, `<path d="M%.1f %dv5" stroke="#888"/><text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n", f.x(float64(s)), bottom, f.x(float64(s)), bottom+18, s)
	}
	fmt.Fprintf(b, `<text x="%.0f" y="%d" text-anchor="middle">round</text>`+"\n", f.x(float64(1+f.last)/2), plotH-8)
}

func (f frame) line(b *strings.Builder, l line, i int) {
	colour, dash := colours[i%len(colours)], ""
	if l.dashed {
		dash = ` stroke-dasharray="6 4"`
	}
	thin, thick := make([]string, len(l.rounds)), make([]string, len(l.rounds))
	for k, r := range l.rounds {
		around := l.rounds[max(0, k-Window/2+1):min(len(l.rounds), k+Window/2+1)]
		x := f.x(float64(r.Step))
		thin[k], thick[k] = fmt.Sprintf("%.1f,%.1f", x, f.y(l.of(r))), fmt.Sprintf("%.1f,%.1f", x, f.y(mean(around, l.of)))
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="0.7" opacity="0.45"/>`+"\n", strings.Join(thin, " "), colour)
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2.4"%s/>`+"\n", strings.Join(thick, " "), colour, dash)
	at := top + 16 + 20*i
	fmt.Fprintf(b, `<path d="M%d %dh24" stroke="%s" stroke-width="2.4"%s/><text x="%d" y="%d">%s</text>`+"\n", plotW-right+12, at-4, colour, dash, plotW-right+42, at, html.EscapeString(l.name))
}
