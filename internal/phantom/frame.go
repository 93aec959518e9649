package phantom

import "cxrepro/internal/cxr"

// frame places a patient on the film: size of the exposed picture in millimetres,
// position of the patient, rotation in the film plane, and the collimated field.
type frame struct {
	width, height float64 // film size, mm
	origin        pt      // film position of the patient's (0, 0), mm
	sin, cos      float64 // of the tilt
	pivotY        float64
	turn          float64 // sine of the rotation about the long axis
	scaleX        float64
	scaleY        float64
	field         [4]float64 // collimated field: left, top, right, bottom in mm
	cropped       string     // what a cut film loses, empty if nothing
}

// frameOf draws the film of a phantom.
func frameOf(seed uint64, index int, p *patient, o Options) *frame {
	s := newStream(seed, index, "film")
	f := &frame{
		sin: sine(float64(p.tilt * radians)), cos: cosine(float64(p.tilt * radians)),
		turn: sine(float64(p.turn * radians)), scaleX: p.scaleX, scaleY: p.scaleY,
	}
	if p.view == cxr.ViewAP { // shorter distance, larger shadow
		k := s.uniform(1.02, 1.1)
		f.scaleX, f.scaleY = float64(f.scaleX*k), float64(f.scaleY*k)
	}
	f.pivotY = float64(110 * f.scaleY)
	f.format(s, p, o.Aspect)
	if o.Wide { // other distances and formats
		f.width = float64(f.width * s.uniform(0.91, 1.07))
		f.height = float64(f.height * s.uniform(0.91, 1.07))
	}
	top := float64(-6 * f.scaleY) // above the apices
	bottom := float64((max(p.domeRight, p.domeLeft) + 58) * f.scaleY)
	slack := f.height - (bottom - top)
	share := s.clamped(0.46, 0.06, 0.3, 0.6)
	f.origin = pt{float64(f.width*0.5) + s.clamped(0, 5, -13, 13), float64(slack*share) - top}
	f.cut(s, p)
	f.field = [4]float64{0, 0, f.width, f.height}
	if s.chance(0.45) {
		for i := range f.field {
			m := max(0, s.uniform(-8, 10))
			if i >= 2 {
				m = -m
			}
			f.field[i] += m
		}
	}
	return f
}

// format picks the film size. Portrait 356 x 428 mm is 2544 x 3056 pixels at 0.14 mm.
func (f *frame) format(s *stream, p *patient, aspect float64) {
	pick := s.float()
	zoom := s.clamped(1, 0.02, 0.95, 1.05)
	switch {
	case aspect > 0:
		f.width = 356
		if aspect < 1.1 {
			f.width = 400
		}
		if aspect < 0.95 {
			f.width = 428
		}
		f.height = float64(f.width * aspect)
	case p.view == cxr.ViewAP && pick < 0.55, pick < 0.12:
		f.width, f.height = 428, 356
	case pick > 0.86:
		f.width, f.height = 400, 400
	default:
		f.width, f.height = 356, 428
	}
	f.width = float64(f.width * zoom)
	f.height = float64(f.height * zoom)
}

// cut moves the patient so that apex, side or base leaves the film.
func (f *frame) cut(s *stream, p *patient) {
	if !s.chance(0.14) {
		return
	}
	switch s.intn(4) {
	case 0:
		f.cropped = "apex"
		f.origin.y = s.uniform(-14, 2)
	case 1:
		f.cropped = "base"
		low := float64((p.domeRight + 30) * f.scaleY)
		f.origin.y += f.height - low - f.origin.y + s.uniform(-4, 12)
	case 2:
		f.cropped = "left side"
		f.origin.x = f.width - float64(p.chestHalf*f.scaleX) + s.uniform(2, 12)
	case 3:
		f.cropped = "right side"
		f.origin.x = float64(p.chestHalf*f.scaleX) - s.uniform(2, 12)
	}
}

// project maps a patient point with depth z (mm, positive to the front) to the film, mm.
func (f *frame) project(p pt, z float64) pt {
	x := float64(p.x*f.scaleX) + float64(z*f.turn)
	y := float64(p.y*f.scaleY) - f.pivotY
	return pt{
		f.origin.x + float64(x*f.cos) - float64(y*f.sin),
		f.origin.y + f.pivotY + float64(x*f.sin) + float64(y*f.cos),
	}
}
