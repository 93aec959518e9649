package chexstruct

import (
	"math"
	"slices"
	"strings"

	"cxrepro/internal/geom"
)

// Directions of the trachea against the spine, as the patient's sides.
const (
	sideLeft  = "left"
	sideRight = "right"
	sideFlat  = "flat"
)

// tracheaDeviation tells whether the trachea leaves the line of the vertebrae: rows vote
// left, right or flat.
//
// Source: [paper] nine points, [official code] for the rest.
func (c *assessment) tracheaDeviation(f *Finding) Reason {
	p := c.tracheaPiece()
	if p.reason != "" {
		return p.reason
	}
	c.checkTrachea(f, p)
	pts, ok := c.midlineWithin(p.top, p.end)
	f.markVertebrae(pts)
	if !ok {
		return ReasonMidlinePoints
	}
	line, reason := c.fitMidline(pts)
	if reason != "" {
		return reason
	}
	c.judge(f, RuleTrachealMidlineResidual, rowTracheaResidual, line.residual)
	c.judge(f, RuleTrachealMidlineXStd, rowTracheaXStd, line.xStd)

	n := int(c.number(rowTracheaPoints))
	points, votes := make([]Value, n), make([]string, n)
	marks := make([]geom.Vec, n)
	for i := range n {
		y := p.top + i*(p.end-p.top)/(n-1)
		x := line.At(float64(y))
		a, b, _ := p.trimmed.Span(y)
		votes[i] = sideFlat
		if float64(a) > x {
			votes[i] = sideLeft
		} else if float64(b) < x {
			votes[i] = sideRight
		}
		points[i] = List(Number(x), Int(y))
		marks[i] = geom.Vec{X: x, Y: float64(y)}
	}
	f.mark("midline", marks...)
	f.measure("points", List(points...))
	f.measure("sides", texts(votes))
	f.measure("slope", Number(line.Slope))
	f.measure("intercept", Number(line.Intercept))
	f.Index = Text(vote(votes))
	return ""
}

// midlineWithin returns the vertebra points on rows y0..y1; ok is false for too few, for a
// gap in their numbers, or unless they go strictly down.
func (c *assessment) midlineWithin(y0, y1 int) (pts []geom.Vec, ok bool) {
	last := -1
	consecutive := true
	for i, p := range c.vertebraPoints() {
		if math.IsInf(p.Y, 1) || p.Y < float64(y0) || p.Y > float64(y1) {
			continue
		}
		if last >= 0 && (i != last+1 || p.Y <= pts[len(pts)-1].Y) {
			consecutive = false
		}
		pts = append(pts, p)
		last = i
	}
	return pts, c.holds(rowTracheaMidline, float64(len(pts))) && consecutive
}

// vote returns the most frequent side. On a tie the flat entries are dropped and every
// side that reaches the average count joins in the order of reaching it.
func vote(votes []string) string {
	count := map[string]int{}
	for _, v := range votes {
		count[v]++
	}
	best, winner, tie := 0, "", false
	for _, v := range []string{sideFlat, sideLeft, sideRight} {
		switch {
		case count[v] > best:
			best, winner, tie = count[v], v, false
		case count[v] == best:
			tie = true
		}
	}
	if !tie {
		return winner
	}
	votes = slices.DeleteFunc(slices.Clone(votes), func(v string) bool { return v == sideFlat })
	delete(count, sideFlat)
	distinct := 0
	for _, v := range []string{sideLeft, sideRight} {
		if count[v] > 0 {
			distinct++
		}
	}
	k := len(votes) / distinct
	reached := map[string]int{}
	var order []string
	for _, v := range votes {
		if reached[v]++; reached[v] == k {
			order = append(order, v)
		}
	}
	return strings.Join(order, "&")
}

func texts(list []string) Value {
	v := make([]Value, len(list))
	for i, s := range list {
		v[i] = Text(s)
	}
	return List(v...)
}
