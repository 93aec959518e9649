package review

import (
	"fmt"
	"math"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/geom"
	"cxrepro/internal/overlay"
)

// drawInclusion shows the six points of the lungs and how far each lies inside the
// picture's content.
func drawInclusion(k *sketch, f *chexstruct.Finding) {
	k.faint(anatomy.RightLung, anatomy.LeftLung)
	k.outline(anatomy.RightLung, anatomy.LeftLung)
	k.Outline(k.mask(anatomy.RightHemidiaphragm), overlay.Stroke{Colour: yardstick, Width: 2})
	k.Outline(k.mask(anatomy.LeftHemidiaphragm), overlay.Stroke{Colour: yardstick, Width: 2})
	for _, part := range []string{"apex", "side", "bottom"} {
		for _, side := range []string{"right", "left"} {
			p, ok := at(f, part+"_point_"+side)
			if !ok {
				continue
			}
			if ends := marks(f, part+"_border_"+side); len(ends) == 2 {
				to := ends[1]
				if part == "apex" || part == "side" && side == "right" {
					to = ends[0]
				}
				k.Segment(p, to, overlay.Stroke{Colour: measured, Width: 4})
				k.border(to, part == "side")
			}
			k.dot(p, measured)
		}
	}
	for _, side := range []string{"right", "left"} {
		if p, ok := at(f, "cpa_point_"+side); ok {
			k.Cross(p, 8, overlay.Stroke{Colour: white, Width: 3})
		}
	}
}

// border draws a piece of the content border across a measured line.
func (k *sketch) border(p geom.Vec, upright bool) {
	d := geom.Vec{X: k.share(0.05)}
	if upright {
		d = geom.Vec{Y: k.share(0.05)}
	}
	k.Segment(p.Sub(d), geom.Vec{X: p.X + d.X, Y: p.Y + d.Y}, overlay.Stroke{Colour: reference, Width: 4})
}

// drawInspiration shows the line, the diaphragm, the ribs, and the rib that answers.
func drawInspiration(k *sketch, f *chexstruct.Finding) {
	k.outline(anatomy.RightLung)
	k.Tint(k.mask(anatomy.RightHemidiaphragm), yardstick, 0.25)
	k.Outline(k.mask(anatomy.RightHemidiaphragm), overlay.Stroke{Colour: yardstick, Width: 2})
	answer, _ := num(f, "rib")
	line := marks(f, "mid_clavicular_line")
	for n := 1; n <= 11; n++ {
		m := k.mask(anatomy.RightPosteriorRib(n)).Widest()
		if m.IsEmpty() {
			continue
		}
		col := contour
		if n == int(answer) {
			col = measured
			k.Tint(m, col, 0.35)
		}
		k.Outline(m, overlay.Stroke{Colour: col, Width: 2})
	}
	if x, ok := num(f, "line_x"); ok {
		y0, y1 := 0.0, float64(k.in.Masks.GridH-1)
		if len(line) == 2 {
			y0, y1 = line[0].Y, line[1].Y
		}
		k.rule(geom.Vec{X: x, Y: y0}, geom.Vec{X: x, Y: y1})
	}
	for n := 1; n <= 11; n++ {
		box, ok := k.mask(anatomy.RightPosteriorRib(n)).Widest().Box()
		if !ok {
			continue
		}
		at := geom.Vec{X: float64(box.X1), Y: float64(box.Y0+box.Y1) / 2}
		if y, ok := k.mask(anatomy.RightPosteriorRib(n)).Widest().MiddleOfColumn(box.X1); ok {
			at.Y = float64(y)
		}
		if n == int(answer) {
			k.tag(at, overlay.Right, fmt.Sprintf("rib %d", n), measured)
		} else {
			k.Tag(at, overlay.Right, fmt.Sprint(n), overlay.Text{Size: 20, Colour: lighten(contour)})
		}
	}
	for _, p := range marks(f, "diaphragm_top") {
		k.dot(p, yardstick)
	}
}

// drawRotation shows the medial ends of the clavicles, the line of the spine, and the two
// distances: the shorter is measured against the longer.
func drawRotation(k *sketch, f *chexstruct.Finding) {
	k.faint(anatomy.RightClavicle, anatomy.LeftClavicle)
	k.outline(anatomy.RightClavicle, anatomy.LeftClavicle)
	for _, p := range marks(f, "vertebrae") {
		k.Cross(p, 7, overlay.Stroke{Colour: reference, Width: 3})
	}
	slope, okSlope := num(f, "slope")
	intercept, okIntercept := num(f, "intercept")
	ends := [2]geom.Vec{}
	found := [2]bool{}
	for i, side := range []string{"right", "left"} {
		ends[i], found[i] = at(f, "medial_end_"+side)
	}
	if okSlope && okIntercept {
		y0, y1 := float64(k.in.Masks.GridH), 0.0
		for _, p := range append(marks(f, "midline"), ends[:]...) {
			y0, y1 = math.Min(y0, p.Y), math.Max(y1, p.Y)
		}
		y0, y1 = y0-k.share(0.06), y1+k.share(0.06)
		k.rule(geom.Vec{X: slope*y0 + intercept, Y: y0}, geom.Vec{X: slope*y1 + intercept, Y: y1})
		dR, _ := num(f, "distance_right")
		dL, _ := num(f, "distance_left")
		for i, d := range []float64{dR, dL} {
			col := measured
			if other := []float64{dL, dR}[i]; d > other {
				col = yardstick
			}
			on := geom.Vec{X: slope*ends[i].Y + intercept, Y: ends[i].Y}
			k.bar(ends[i], on, col, "", 0)
			k.tag(ends[i], overlay.Below, fmt.Sprintf("%.0f px", d), col)
		}
	}
	for i := range ends {
		if found[i] {
			k.dot(ends[i], white)
			k.Tag(ends[i], overlay.Above, []string{"right end", "left end"}[i], overlay.Text{Size: 20, Colour: white})
		}
	}
}

// drawProjection shows the shoulder blades and their parts inside the lungs.
func drawProjection(k *sketch, f *chexstruct.Finding) {
	k.outline(anatomy.RightLung, anatomy.LeftLung)
	for i, side := range []struct {
		scapula, lung anatomy.Structure
	}{{anatomy.RightScapula, anatomy.RightLung}, {anatomy.LeftScapula, anatomy.LeftLung}} {
		s := k.mask(side.scapula).Largest()
		over := s.And(k.mask(side.lung))
		k.Tint(s, yardstick, 0.22)
		k.Tint(over, measured, 0.6)
		k.Outline(s, overlay.Stroke{Colour: yardstick, Width: 3})
		name := []string{"right", "left"}[i]
		o, okO := num(f, "overlap_"+name)
		a, okA := num(f, "scapula_"+name)
		if box, ok := s.Box(); ok && okO && okA && a > 0 {
			p := geom.Vec{X: float64(box.X0+box.X1) / 2, Y: float64(box.Y1)}
			k.tag(p, overlay.Below, fmt.Sprintf("%.0f %% inside", 100*o/a), measured)
		}
	}
}

// drawCardiomegaly shows the widest extent of the heart and of the thorax.
func drawCardiomegaly(k *sketch, f *chexstruct.Finding) {
	k.outline(anatomy.RightLung, anatomy.LeftLung, anatomy.Heart)
	k.Tint(k.mask(anatomy.Heart), measured, 0.12)
	k.box(chexstruct.BoxCardiacSilhouette)
	heart, thorax := marks(f, "heart_width"), marks(f, "thoracic_width")
	if len(heart) != 2 || len(thorax) != 2 {
		return
	}
	yh := middle(heart[0], heart[1]).Y
	yt := middle(thorax[0], thorax[1]).Y
	if gap := k.share(0.07); math.Abs(yt-yh) < gap {
		yt = yh + gap
	}
	yt = math.Min(yt, float64(k.in.Masks.GridH)-k.share(0.05))
	level := func(pts []geom.Vec, y float64) (a, b geom.Vec) {
		return geom.Vec{X: pts[0].X, Y: y}, geom.Vec{X: pts[1].X, Y: y}
	}
	a, b := level(thorax, yt)
	k.drop(a, thorax[0], yardstick)
	k.drop(b, thorax[1], yardstick)
	k.bar(a, b, yardstick, fmt.Sprintf("thorax %.0f px", b.X-a.X), overlay.Below)
	a, b = level(heart, yh)
	k.drop(a, heart[0], measured)
	k.drop(b, heart[1], measured)
	k.bar(a, b, measured, fmt.Sprintf("heart %.0f px", b.X-a.X), overlay.Above)
}

// drawMediastinum shows the widest row of the upper mediastinum and the thorax on it.
func drawMediastinum(k *sketch, f *chexstruct.Finding) {
	k.outline(anatomy.RightLung, anatomy.LeftLung, anatomy.UpperMediastinum)
	k.faint(anatomy.UpperMediastinum)
	k.box(chexstruct.BoxUpperMediastinum)
	y, ok := num(f, "y")
	if !ok {
		return
	}
	x := func(name string) geom.Vec {
		v, _ := num(f, name)
		return geom.Vec{X: v, Y: y}
	}
	a, b := x("lung_xmin"), x("lung_xmax")
	k.bar(a, b, yardstick, "", 0)
	k.tag(geom.Vec{X: b.X - (b.X-a.X)*0.2, Y: y}, overlay.Below, fmt.Sprintf("thorax %.0f px", b.X-a.X), yardstick)
	a, b = x("mediastinum_xmin"), x("mediastinum_xmax")
	k.bar(a, b, measured, fmt.Sprintf("mediastinum %.0f px", b.X-a.X), overlay.Above)
}
