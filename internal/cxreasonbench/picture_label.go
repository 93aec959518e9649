package cxreasonbench

import (
	"image"
	"image/color"
	"math"

	"cxrepro/internal/geom"
	"cxrepro/internal/overlay"
)

var (
	whitePaper  = color.RGBA{255, 255, 255, 255}
	leaderColor = color.RGBA{200, 204, 210, 255}
)

// label is a piece of the canvas that further labels keep off.
type label = image.Rectangle

// keepOff lets labels stay away from a dot or a point of a line.
func (k *pen) keepOff(p geom.Vec, radius float64) {
	q := k.Place(p)
	k.taken = append(k.taken, image.Rect(int(q.X-radius), int(q.Y-radius), int(q.X+radius)+1, int(q.Y+radius)+1))
}

// dot draws a dot.
func (k *pen) dot(p geom.Vec, col color.RGBA) {
	k.Dot(p, k.style.dot, col)
	k.keepOff(p, k.style.dot+2)
}

// stroke draws a line of an annotation.
func (k *pen) stroke(a, b geom.Vec, col color.RGBA) {
	k.Segment(a, b, overlay.Stroke{Colour: col, Width: k.style.annotation})
	p, q := k.Place(a), k.Place(b)
	n := int(math.Hypot(q.X-p.X, q.Y-p.Y)/(2*k.style.annotation)) + 1
	for i := range n + 1 {
		t := float64(i) / float64(n)
		k.keepOff(geom.Vec{X: a.X + float64(t*(b.X-a.X)), Y: a.Y + float64(t*(b.Y-a.Y))}, k.style.annotation/2+1)
	}
}

func (k *pen) strokes(list []line, col color.RGBA) {
	for _, l := range list {
		k.stroke(l[0], l[1], col)
	}
}

// steps is how far from its point a label may move, in letter heights.
const steps = 6

// say sets words beside a point, on the first of the sides that is free; farther away, with
// a thin line to the point, where no side is.
func (k *pen) say(p geom.Vec, words string, col color.RGBA, sides ...overlay.Side) {
	if k.s.mute {
		return
	}
	if !k.style.paper {
		col = pale(col)
	}
	text := overlay.Text{Size: k.style.letters, Colour: col, Bold: true}
	type place struct {
		at   geom.Vec
		side overlay.Side
		step int
	}
	best, bestCost := place{at: p, side: sides[0]}, math.Inf(1)
	for step := range steps {
		for _, side := range sides {
			at := k.away(p, side, float64(step)*k.style.letters)
			box := k.TagBox(at, side, words, text)
			cost := float64(step) + float64(k.covered(box))
			if cost < bestCost {
				best, bestCost = place{at, side, step}, cost
			}
		}
	}
	box := k.TagBox(best.at, best.side, words, text)
	if best.step > 0 {
		k.Segment(p, k.source(box), overlay.Stroke{Colour: leaderColor, Width: 1.5})
	}
	if k.style.paper {
		// Letters of pure colour on paper, as released.
		k.Fill(box.Min.X, box.Min.Y, box.Dx(), box.Dy(), whitePaper)
		inset := float64(box.Dx()) - k.Width(words, text)
		k.Words(float64(box.Min.X)+inset/2, float64(box.Min.Y)+math.Round(text.Size*1.08), words, text)
	} else {
		k.Tag(best.at, best.side, words, text)
	}
	k.taken = append(k.taken, box.Inset(-3))
}

// away moves a source position by a distance in canvas pixels.
func (k *pen) away(p geom.Vec, side overlay.Side, distance float64) geom.Vec {
	w, h := k.Bounds()
	dx, dy := distance*float64(k.s.Image.Width)/float64(w), distance*float64(k.s.Image.Height)/float64(h)
	switch side {
	case overlay.Left:
		p.X -= dx
	case overlay.Right:
		p.X += dx
	case overlay.Above:
		p.Y -= dy
	case overlay.Below:
		p.Y += dy
	}
	return p
}

// source is the source position of a box's middle.
func (k *pen) source(box image.Rectangle) geom.Vec {
	w, h := k.Bounds()
	x, y := float64(box.Min.X+box.Max.X)/2, float64(box.Min.Y+box.Max.Y)/2
	return geom.Vec{X: (x+0.5)*float64(k.s.Image.Width)/float64(w) - 0.5, Y: (y+0.5)*float64(k.s.Image.Height)/float64(h) - 0.5}
}

// covered is how many pixels of a box are taken, each taker counted.
func (k *pen) covered(box image.Rectangle) (n int) {
	for _, t := range k.taken {
		c := t.Intersect(box)
		n += c.Dx() * c.Dy()
	}
	return n
}
