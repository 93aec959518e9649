package review

import (
	"fmt"
	"math"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
	"cxrepro/internal/overlay"
)

// drawCarina shows the angle A-B-C with B the carina.
func drawCarina(k *sketch, f *chexstruct.Finding) {
	k.faint(anatomy.TrachealBifurcation)
	k.outline(anatomy.TrachealBifurcation)
	a, okA := at(f, "point_a")
	b, okB := at(f, "point_b")
	c, okC := at(f, "point_c")
	if !okA || !okB || !okC {
		return
	}
	for _, p := range []geom.Vec{a, c} {
		// The legs are drawn on beyond A and C, so that the eye can follow them.
		on := geom.Vec{X: b.X + 2.2*(p.X-b.X), Y: b.Y + 2.2*(p.Y-b.Y)}
		k.Segment(p, on, overlay.Stroke{Colour: measured, Width: 2, Dash: 8})
		k.Segment(b, p, overlay.Stroke{Colour: measured, Width: 5})
	}
	for _, p := range []struct {
		at   geom.Vec
		name string
		side overlay.Side
	}{{a, "A", overlay.Left}, {b, "B", overlay.Above}, {c, "C", overlay.Right}} {
		k.dot(p.at, white)
		k.tag(p.at, p.side, p.name, measured)
	}
	if degrees, ok := f.Index.Float(); ok {
		k.tag(geom.Vec{X: b.X, Y: (a.Y+c.Y)/2 + (a.Y+c.Y-2*b.Y)/2}, overlay.Below, fmt.Sprintf("%.0f°", degrees), measured)
	}
}

// drawTrachea shows the nine points on the line of the vertebrae, and which way the
// trachea leaves it at each.
func drawTrachea(k *sketch, f *chexstruct.Finding) {
	k.faint(anatomy.Trachea)
	k.outline(anatomy.Trachea)
	for _, p := range marks(f, "vertebrae") {
		k.Cross(p, 8, overlay.Stroke{Colour: reference, Width: 3})
	}
	points := positions(f, "points")
	if len(points) == 0 {
		return
	}
	first, last := points[0], points[len(points)-1]
	slope, _ := num(f, "slope")
	more := k.share(0.05)
	k.rule(geom.Vec{X: first.X - slope*more, Y: first.Y - more}, geom.Vec{X: last.X + slope*more, Y: last.Y + more})
	sides, _ := f.Measurement("sides")
	for i, p := range points {
		side := ""
		if i < sides.Len() {
			side, _ = sides.At(i).Text()
		}
		switch side {
		case "left":
			k.dot(p, measured)
			k.Tag(p, overlay.Left, fmt.Sprintf("%d to the left", i+1), overlay.Text{Size: 20, Colour: lighten(measured)})
		case "right":
			k.dot(p, measured)
			k.Tag(p, overlay.Right, fmt.Sprintf("%d to the right", i+1), overlay.Text{Size: 20, Colour: lighten(measured)})
		default:
			k.dot(p, white)
			k.Tag(p, overlay.Right, fmt.Sprint(i+1), overlay.Text{Size: 20, Colour: white})
		}
	}
}

// tracheaBar shows the width that aortic widths are compared with.
func (k *sketch) tracheaBar(f *chexstruct.Finding) {
	k.outline(anatomy.Trachea)
	if w := marks(f, "trachea_width"); len(w) == 2 {
		k.bar(w[0], w[1], yardstick, "", 0)
		k.tag(w[0], overlay.Left, fmt.Sprintf("trachea %.0f px", w[1].X-w[0].X), yardstick)
	}
}

// drawKnob shows the aortic knob's width from the trachea's edge outwards.
func drawKnob(k *sketch, f *chexstruct.Finding) {
	k.faint(anatomy.AorticArch, anatomy.DescendingAorta)
	k.outline(anatomy.AorticArch, anatomy.DescendingAorta)
	k.tracheaBar(f)
	if w := marks(f, "knob_width"); len(w) == 2 {
		k.bar(w[0], w[1], measured, fmt.Sprintf("knob %.0f px", w[1].X-w[0].X), overlay.Above)
	}
}

// drawAscending shows the line from heart to trachea and the part of the ascending aorta
// beyond it.
func drawAscending(k *sketch, f *chexstruct.Finding) {
	k.outline(anatomy.Heart, anatomy.Trachea)
	aorta := k.mask(anatomy.AscendingAorta).Largest()
	k.Tint(aorta, yardstick, 0.25)
	k.Outline(aorta, overlay.Stroke{Colour: yardstick, Width: 3})
	heart, okH := at(f, "heart_point")
	trachea, okT := at(f, "trachea_point")
	if !okH || !okT {
		return
	}
	if ratio, ok := f.Index.Float(); ok && ratio > 0 && trachea.X > heart.X {
		k.Tint(beyond(aorta, heart, trachea), measured, 0.6)
	}
	k.rule(heart, trachea)
	k.dot(heart, white)
	k.Tag(heart, overlay.Left, "heart", overlay.Text{Size: 20, Colour: white})
	k.dot(trachea, white)
	k.Tag(trachea, overlay.Above, "trachea", overlay.Text{Size: 20, Colour: white})
}

// beyond returns the part of a mask on the patient's right of the line through two points
// that do not lie on one row.
func beyond(m mask.Mask, a, b geom.Vec) mask.Mask {
	out := mask.NewBuilder(m.W, m.H)
	y0, y1, ok := m.RowBounds()
	for y := y0; ok && y <= y1; y++ {
		x := a.X + (float64(y)-a.Y)*(b.X-a.X)/(b.Y-a.Y)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		end := int(math.Floor(x)) + 1
		for _, r := range m.Row(y) {
			if x0, x1 := int(r.X0), min(int(r.X1), end); x0 < x1 {
				out.Add(y, x0, x1)
			}
		}
	}
	return out.Mask()
}

// drawTortuous shows the six points along the edge of the descending aorta.
func drawTortuous(k *sketch, f *chexstruct.Finding) {
	k.outline(anatomy.DescendingAorta, anatomy.Heart)
	k.faint(anatomy.DescendingAorta)
	points := positions(f, "points")
	if len(points) > 1 {
		first, last := points[0], points[len(points)-1]
		k.rule(first, last)
	}
	k.Path(points, overlay.Stroke{Colour: measured, Width: 4})
	for i, p := range points {
		k.dot(p, measured)
		k.Tag(p, overlay.Right, fmt.Sprint(i+1), overlay.Text{Size: 20, Colour: lighten(measured)})
	}
}

// drawDescending shows the widest of the six rows of the descending aorta against the
// trachea.
func drawDescending(k *sketch, f *chexstruct.Finding) {
	k.outline(anatomy.DescendingAorta)
	k.faint(anatomy.DescendingAorta)
	k.tracheaBar(f)
	a, okA := at(f, "point_left")
	b, okB := at(f, "point_right")
	if okA && okB {
		k.bar(a, b, measured, "", 0)
		k.tag(b, overlay.Right, fmt.Sprintf("aorta %.0f px", b.X-a.X), measured)
	}
}
