package cxreasonbench

import (
	"fmt"
	"image/color"
	"strconv"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/geom"
	"cxrepro/internal/overlay"
)

// DrawAnnotated returns the PNG that Path 2 shows with the measurement of a task: the
// positions that the measurement needs, with coordinates in pixels of the native radiograph.
//
// The printed numbers are enough to arrive at the range that holds the value.
//
// Errors: a section that is no diagnostic task; ErrNotShown for a task that was not measured
// on this radiograph.
func (s *Scene) DrawAnnotated(profile Profile, t Task) ([]byte, error) {
	_, side := s.sides(profile)
	k, err := s.pen(profile, side)
	if err != nil {
		return nil, err
	}
	draw, ok := annotations[t]
	if !ok {
		return nil, fmt.Errorf("cxreasonbench: draw: %s is no diagnostic task", t)
	}
	if !draw(k, &s.Marks) {
		return nil, fmt.Errorf("cxreasonbench: draw: the annotated picture of %s: %w", t, ErrNotShown)
	}
	return k.PNG()
}

// annotations draw one task each and report whether there was something to draw.
//
// Source: [official code] for what is shown and printed; layout [ours].
var annotations = map[Task]func(k *pen, m *Marks) bool{
	chexstruct.Inclusion:                  annotateInclusion,
	chexstruct.Inspiration:                annotateInspiration,
	chexstruct.Rotation:                   annotateRotation,
	chexstruct.Projection:                 annotateProjection,
	chexstruct.Cardiomegaly:               annotateHeart,
	chexstruct.MediastinalWidening:        annotateMediastinum,
	chexstruct.CarinaAngle:                annotateCarina,
	chexstruct.TracheaDeviation:           annotateTrachea,
	chexstruct.AorticKnobEnlargement:      annotateKnob,
	chexstruct.AscendingAortaEnlargement:  annotateAscending,
	chexstruct.DescendingAortaTortuous:    annotateTortuous,
	chexstruct.DescendingAortaEnlargement: annotateDescending,
}

// coordinate prints an x.
func coordinate(v float64) string { return "x=" + strconv.FormatFloat(v, 'f', 0, 64) }

func pointText(open string, p geom.Vec, shut string) string {
	return fmt.Sprintf("%s%.0f, %.0f%s", open, p.X, p.Y, shut)
}

// width draws a measured width with its name and the x of both ends.
type width struct {
	x0, x1   float64
	y        int
	up, down int
	name     string
	col      color.RGBA
	// below: the name stands below the line.
	below bool
}

func (k *pen) width(w width) {
	y := float64(w.y)
	k.stroke(geom.Vec{X: w.x0, Y: y}, geom.Vec{X: w.x1, Y: y}, w.col)
	for _, x := range []float64{w.x0, w.x1} {
		k.stroke(geom.Vec{X: x, Y: y - float64(w.up)}, geom.Vec{X: x, Y: y + float64(w.down)}, w.col)
	}
}

// words sets a width's name and ends. All lines must be drawn before.
func (k *pen) words(w width) {
	y := float64(w.y)
	col := w.col
	sides := []overlay.Side{overlay.Above, overlay.Below}
	if w.below {
		sides = []overlay.Side{overlay.Below, overlay.Above}
	}
	k.say(geom.Vec{X: w.x0, Y: y}, coordinate(w.x0), col, overlay.Left, sides[0], sides[1])
	k.say(geom.Vec{X: w.x1, Y: y}, coordinate(w.x1), col, overlay.Right, sides[0], sides[1])
	k.say(geom.Vec{X: (w.x0 + w.x1) / 2, Y: y}, w.name, col, sides...)
}

// pale mixes a colour halfway to white, so that letters read on their plate.
func pale(c color.RGBA) color.RGBA {
	mix := func(v uint8) uint8 { return uint8((int(v) + 255) / 2) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), 255}
}

func (k *pen) widths(list ...width) {
	for _, w := range list {
		k.width(w)
	}
	for _, w := range list {
		k.words(w)
	}
}

func annotateHeart(k *pen, m *Marks) bool {
	c := m.Cardiomegaly
	heart, ok := k.s.mask(anatomy.Heart).Widest().Box()
	lines := k.s.thoraxAtHeart()
	if !ok || c.HeartMaxX == 0 || len(lines) == 0 {
		return false
	}
	y := (heart.Y0 + heart.Y1) / 2
	thorax := int(lines[0][0].Y)
	up, down := thorax-int(lines[1][0].Y), int(lines[1][1].Y)-thorax
	reachUp, reachDown := k.s.reach(thorax, k.native(14))
	k.widths(
		width{float64(c.LungMinX), float64(c.LungMaxX), thorax, max(up, reachUp), max(down, reachDown), "Thoracic Width", k.style.blue, thorax > y},
		width{float64(c.HeartMinX), float64(c.HeartMaxX), y, y - heart.Y0, heart.Y1 - y, "Heart Width", k.style.red, thorax <= y},
	)
	return true
}

// native is a length in pixels of the radiograph for one in pixels of the picture.
func (k *pen) native(n float64) int {
	w, _ := k.Bounds()
	return int(n * float64(k.s.Image.Width) / float64(w))
}

func annotateMediastinum(k *pen, m *Marks) bool {
	w := m.Mediastinum
	if w.LungMaxX == 0 {
		return false
	}
	up, down := k.s.reach(w.Y, strokeReach)
	k.widths(
		width{float64(w.LungMinX), float64(w.LungMaxX), w.Y, up, down, "Thoracic Width", k.style.blue, true},
		width{float64(w.WidthMinX), float64(w.WidthMaxX), w.Y, up, down, "Mediastinal Width", k.style.red, false},
	)
	return true
}

// aortaReach is how far the strokes of the vessels' widths reach.
const aortaReach = 50

func (k *pen) tracheaWidth(m *Marks) (width, bool) {
	if len(m.TracheaWidth) != 2 {
		return width{}, false
	}
	a, b := m.TracheaWidth[0], m.TracheaWidth[1]
	up, down := k.s.reach(int(a.Y), aortaReach)
	return width{a.X, b.X, int(a.Y), up, down, "Trachea Width", k.style.blue, false}, true
}

func annotateKnob(k *pen, m *Marks) bool {
	t, ok := k.tracheaWidth(m)
	arch, okArch := k.s.knobRows()
	if !ok || !okArch || m.Knob.MaxX == 0 {
		return false
	}
	y := (arch.Y0 + arch.Y1) / 2
	up, down := k.s.reach(y, aortaReach)
	k.widths(t, width{RoundNumpy(m.Knob.MinX, 0), m.Knob.MaxX, y, up, down, "Aortic Knob Width", k.style.red, true})
	return true
}

// knobRows is the box of the arch that the knob is measured on.
func (s *Scene) knobRows() (geom.Box, bool) {
	k := s.Marks.Knob
	return s.mask(anatomy.AorticArch).Rows(0, k.Upper.Y1-1).Touching(k.Upper.X0, k.Upper.X1).Box()
}

func annotateDescending(k *pen, m *Marks) bool {
	t, ok := k.tracheaWidth(m)
	if !ok || len(m.Descending.Widest) != 2 {
		return false
	}
	a, b := m.Descending.Widest[0], m.Descending.Widest[1]
	up, down := k.s.reach(int(a.Y), aortaReach)
	k.widths(t, width{a.X, b.X, int(a.Y), up, down, "Descending Aorta Width", k.style.red, true})
	return true
}

func annotateTortuous(k *pen, m *Marks) bool {
	for _, p := range m.Tortuous {
		k.dot(p, k.style.red)
	}
	for _, p := range m.Tortuous {
		k.say(p, pointText("(", p, ")"), k.style.red, overlay.Right, overlay.Left)
	}
	return len(m.Tortuous) > 0
}

func annotateCarina(k *pen, m *Marks) bool {
	if len(m.Carina) != 3 {
		return false
	}
	colours := []color.RGBA{k.style.red, k.style.green, k.style.blue}
	for i, p := range m.Carina {
		k.dot(p, colours[i])
	}
	sides := [][]overlay.Side{{overlay.Left, overlay.Below}, {overlay.Above}, {overlay.Right, overlay.Below}}
	for i, p := range m.Carina {
		k.say(p, string(rune('A'+i))+": "+pointText("[", p, "]"), colours[i], sides[i]...)
	}
	return true
}

func annotateRotation(k *pen, m *Marks) bool {
	r := m.Rotation
	if len(r.Ends) != 2 || len(r.Midline) < 2 {
		return false
	}
	first, last := r.Midline[0], r.Midline[len(r.Midline)-1]
	k.stroke(first, last, k.style.green)
	k.dot(r.Ends[0], k.style.red)
	k.dot(r.Ends[1], k.style.blue)
	k.say(r.Ends[0], pointText("(", r.Ends[0], ")"), k.style.red, overlay.Left, overlay.Below)
	k.say(r.Ends[1], pointText("(", r.Ends[1], ")"), k.style.blue, overlay.Right, overlay.Below)
	text := fmt.Sprintf("slope: %v, intercept: %v", thousandth(r.Slope), thousandth(r.Intercept))
	k.say(last, text, k.style.green, overlay.Below, overlay.Above)
	return true
}

func annotateProjection(k *pen, m *Marks) bool {
	if !m.Projection.Measured {
		return false
	}
	type number struct {
		at  geom.Vec
		n   int
		col color.RGBA
	}
	var numbers []number
	pairs := [2][2]anatomy.Structure{{anatomy.RightScapula, anatomy.RightLung}, {anatomy.LeftScapula, anatomy.LeftLung}}
	for i, p := range pairs {
		scapula := k.s.mask(p[0]).Largest()
		if scapula.IsEmpty() {
			return false
		}
		over := scapula.And(k.s.mask(p[1]))
		k.masks(scapula)
		k.Tint(over, overlapBlue, 0.5)
		if c, ok := scapula.AndNot(over).Centroid(); ok {
			numbers = append(numbers, number{c, m.Projection.Scapula[i], k.style.red})
		}
		if c, ok := over.Centroid(); ok && m.Projection.Overlap[i] > 0 {
			numbers = append(numbers, number{c, m.Projection.Overlap[i], k.style.blue})
		}
	}
	for _, n := range numbers {
		k.say(n.at, strconv.Itoa(n.n), n.col, overlay.Centre, overlay.Above, overlay.Below)
	}
	return true
}

// overlapBlue over the red of the scapula gives purple.
var overlapBlue = color.RGBA{0, 0, 128, 255}

func annotateInclusion(k *pen, m *Marks) bool {
	if len(m.Inclusion) != 6 {
		return false
	}
	for i, p := range m.Inclusion {
		k.dot(p, []color.RGBA{k.style.red, k.style.green, k.style.blue}[i/2])
	}
	return true
}

func annotateInspiration(k *pen, m *Marks) bool {
	lines := k.s.midclavicular()
	rib := k.s.rib()
	if len(lines) == 0 || rib.IsEmpty() {
		return false
	}
	k.masks(rib)
	k.strokes(lines, k.style.red)
	return true
}

func annotateTrachea(k *pen, m *Marks) bool {
	trachea := k.s.wholeTrachea()
	if trachea.IsEmpty() || len(m.Deviation) == 0 {
		return false
	}
	k.masks(trachea)
	for _, p := range m.Deviation {
		k.Dot(p, 3.5, k.style.blue)
	}
	return true
}

func annotateAscending(k *pen, m *Marks) bool {
	aorta := k.s.mask(anatomy.AscendingAorta).Largest()
	lines := between(m.Ascending)
	if aorta.IsEmpty() || len(lines) == 0 {
		return false
	}
	k.masks(aorta)
	k.strokes(lines, k.style.blue)
	return true
}
