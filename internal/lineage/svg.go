package lineage

import (
	"fmt"
	"html"
	"io"
	"strings"
	"unicode/utf8"

	"cxrepro/internal/report"
)

// families are the colours of kinds: border, ground.
var families = familiesOf(map[[2]string][]Kind{
	{"#6b4fa0", "#f3effa"}: {KindCell, KindTable, KindEvaluation, KindReproduction},
	{"#2b6cb0", "#ebf4fc"}: {KindRollouts, KindDialogue, KindCall, KindQuestion, KindPrompt},
	{"#0f7b6c", "#e8f6f3"}: {KindModel, KindSettings},
	{"#b7571a", "#fdf2e8"}: {KindParameter, KindPlan},
	{"#3f7d2c", "#eef7ea"}: {KindBenchmark, KindCase, KindPicture, KindObservation, KindMeasurement, KindFinding, KindFindings, KindMasks, KindFacts, KindImage, KindDataset},
})

func familiesOf(all map[[2]string][]Kind) map[Kind][2]string {
	out := map[Kind][2]string{}
	for colours, kinds := range all {
		for _, k := range kinds {
			out[k] = colours
		}
	}
	return out
}

// plain is the colour of everything else.
var plain = [2]string{"#5f6b76", "#f3f5f7"}

func colours(k Kind) [2]string {
	if c, ok := families[k]; ok {
		return c
	}
	return plain
}

const (
	titleSize    = 15
	textSize     = 11.5
	lineHeight   = 17
	padding      = 11
	longestLine  = 46
	longestTitle = 64
	margin       = 28
	headHeight   = 58
)

// label is what a box says: a title, what kind it is, and examples.
type label struct {
	title, small string
	lines        []string
	width        float64
	height       float64
}

func (g *Group) label() label {
	l := label{title: cut(g.Title, longestTitle)}
	if g.N == 1 {
		l.small = string(g.Kind)
		if d := g.Examples[0].Digest; !d.IsZero() {
			l.small += "  " + d.Short()
		}
	} else {
		for _, n := range g.Examples {
			line := n.Title
			if d := n.Digest; !d.IsZero() && (n.Kind == KindImage || n.Kind == KindMasks || n.Kind == KindFacts || n.Kind == KindPicture || n.Kind == KindPrompt) {
				line += "  " + d.Short()
			}
			l.lines = append(l.lines, cut(line, longestLine))
		}
		if rest := g.N - len(g.Examples); rest > 0 {
			l.lines = append(l.lines, "and "+report.Number(rest)+" more")
		}
	}
	if g.Removed > 0 {
		l.lines = append(l.lines, report.Number(g.Removed)+" no longer in the store")
	}
	l.width = float64(utf8.RuneCountInString(l.title))*9.6 + 2*padding
	for _, s := range append([]string{l.small}, l.lines...) {
		l.width = max(l.width, float64(utf8.RuneCountInString(s))*7.0+2*padding)
	}
	l.height = 2*padding + titleSize + float64(len(l.lines))*lineHeight
	if l.small != "" {
		l.height += lineHeight
	}
	return l
}

// cut shortens a text to some letters.
func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "\u2026"
	}
	return s
}

// WriteSVG draws a graph with equal nodes put together: what depends stands above what it
// depends on. title and note stand on top.
func WriteSVG(w io.Writer, g *Graph, title, note string) error {
	groups, edges := GroupUp(g)
	labels := make([]label, len(groups))
	sizes := make([][2]float64, len(groups))
	for i := range groups {
		labels[i] = groups[i].label()
		sizes[i] = [2]float64{labels[i].width, labels[i].height}
	}
	d := layOut(sizes, edges)
	width := max(d.width, float64(utf8.RuneCountInString(title))*11.2, float64(utf8.RuneCountInString(note))*7.4) + 2*margin
	height := d.height + 2*margin + headHeight
	left := (width - d.width) / 2
	b := &strings.Builder{}
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif">`+"\n", width, height, width, height)
	fmt.Fprintf(b, "<title>%s</title>\n", html.EscapeString(title))
	b.WriteString(`<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.8 L7.4 4 L0 7.2 z" fill="#8a96a3"/></marker></defs>` + "\n")
	fmt.Fprintf(b, `<rect width="%.0f" height="%.0f" fill="#ffffff"/>`+"\n", width, height)
	fmt.Fprintf(b, `<text x="%d" y="%d" font-size="18" font-weight="600" fill="#1c2733">%s</text>`+"\n", margin, margin+12, html.EscapeString(title))
	fmt.Fprintf(b, `<text x="%d" y="%d" font-size="12.5" fill="#52606d">%s</text>`+"\n", margin, margin+33, html.EscapeString(note))
	fmt.Fprintf(b, `<g transform="translate(%.1f %d)">`+"\n", left, margin+headHeight)
	for i, path := range d.paths {
		d.writeEdge(b, path, &d.edges[i])
	}
	for i := range groups {
		writeBox(b, &d.boxes[i], &groups[i], &labels[i])
	}
	b.WriteString("</g>\n</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// writeEdge draws a smooth line from the lower side of a box to the upper side of another one.
func (d *drawing) writeEdge(b *strings.Builder, path []int, e *GroupEdge) {
	first, last := &d.boxes[path[0]], &d.boxes[path[len(path)-1]]
	x0, y0 := port(first, d.boxes[path[1]].x), first.y+first.h/2
	fmt.Fprintf(b, `<path fill="none" stroke="#a9b4c0" stroke-width="%.1f" marker-end="url(#tip)" d="M%.1f %.1f`, stroke(e.N), x0, y0)
	for i := 1; i < len(path); i++ {
		to := &d.boxes[path[i]]
		x1, y1 := to.x, to.y-to.h/2
		if to == last {
			x1, y1 = port(last, d.boxes[path[i-1]].x), y1-2
		}
		half := (y1 - y0) / 2
		fmt.Fprintf(b, " C%.1f %.1f %.1f %.1f %.1f %.1f", x0, y0+half, x1, y1-half, x1, y1)
		x0, y0 = x1, to.y+to.h/2
		if to != last {
			fmt.Fprintf(b, " L%.1f %.1f", x0, y0)
		}
	}
	fmt.Fprintf(b, `"><title>%s</title></path>`+"\n", html.EscapeString(report.Number(e.N)+" links: "+strings.Join(e.Names, ", ")))
}

// port is where an edge meets a box: below or above the other end, but on the box.
func port(b *box, toward float64) float64 {
	room := b.w/2 - 18
	return b.x + min(max((toward-b.x)*0.35, -room), room)
}

// stroke is wider for more links.
func stroke(n int) float64 {
	switch {
	case n >= 100:
		return 2.6
	case n >= 10:
		return 1.9
	}
	return 1.2
}

func writeBox(b *strings.Builder, at *box, g *Group, l *label) {
	c := colours(g.Kind)
	x, y := at.x-at.w/2, at.y-at.h/2
	b.WriteString("<g>")
	full := []string{g.Title}
	for _, n := range g.Examples {
		full = append(full, strings.TrimSpace(n.Title+" "+n.Digest.String()))
	}
	fmt.Fprintf(b, "<title>%s</title>", html.EscapeString(strings.Join(full, "\n")))
	if g.N > 1 {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="7" fill="%s" stroke="%s" stroke-opacity="0.45"/>`, x+4, y+4, at.w, at.h, c[1], c[0])
	}
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="7" fill="%s" stroke="%s" stroke-width="1.4"/>`, x, y, at.w, at.h, c[1], c[0])
	line := y + padding + titleSize - 2
	text := func(size, weight, fill, s string) {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-size="%s" font-weight="%s" fill="%s">%s</text>`, x+padding, line, size, weight, fill, html.EscapeString(s))
	}
	text(fmt.Sprint(titleSize), "600", c[0], l.title)
	if l.small != "" {
		line += lineHeight
		text(fmt.Sprint(textSize), "400", "#52606d", l.small)
	}
	for _, s := range l.lines {
		line += lineHeight
		text(fmt.Sprint(textSize), "400", "#2d3a47", s)
	}
	b.WriteString("</g>\n")
}
