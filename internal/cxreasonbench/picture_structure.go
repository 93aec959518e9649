package cxreasonbench

import (
	"fmt"
	"slices"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
	"cxrepro/internal/overlay"
)

// DrawStructure returns the PNG of one structure on the whole radiograph: a mask with its
// contour, or a reference line, and no words.
//
// Errors: a structure that the task does not have; ErrNotShown.
func (s *Scene) DrawStructure(rules Rules, profile Profile, o Overlay) ([]byte, error) {
	side, _ := s.sides(profile)
	k, err := s.pen(profile, side)
	if err != nil {
		return nil, err
	}
	masks, lines, err := s.shape(rules, o)
	if err != nil {
		return nil, err
	}
	k.masks(masks...)
	for _, l := range lines {
		k.Segment(l[0], l[1], overlay.Stroke{Colour: k.style.red, Width: k.style.line})
	}
	if profile == ProfileOfficial {
		w, h := k.Bounds()
		framed := overlay.Blank(w+2*officialBorder, h+2*officialBorder, whitePaper)
		framed.Paste(officialBorder, officialBorder, w, h, k.Canvas)
		return framed.PNG()
	}
	return k.PNG()
}

// Shows reports whether a structure can be shown on this radiograph.
func (s *Scene) Shows(rules Rules, o Overlay) bool {
	_, _, err := s.shape(rules, o)
	return err == nil
}

// shape returns what is drawn for a structure. A pair of masks is shown only whole.
func (s *Scene) shape(rules Rules, o Overlay) (masks []mask.Mask, lines []line, err error) {
	of, ok := structureShapes[o.Structure]
	if !ok {
		return nil, nil, fmt.Errorf("cxreasonbench: draw: there is no structure %q", o.Structure)
	}
	masks, lines = of(s, rules, o.Task)
	if slices.ContainsFunc(masks, mask.Mask.IsEmpty) {
		masks = nil
	}
	if len(masks)+len(lines) == 0 {
		return nil, nil, fmt.Errorf("cxreasonbench: draw: %s of %s: %w", o.Structure, o.Task, ErrNotShown)
	}
	return masks, lines, nil
}

type line [2]geom.Vec

// structureShapes say what is drawn for a structure name. Where tasks draw the same name
// differently, the task decides.
//
// Source: [official code].
var structureShapes = map[string]func(s *Scene, rules Rules, t Task) ([]mask.Mask, []line){
	"heart": func(s *Scene, _ Rules, _ Task) ([]mask.Mask, []line) {
		return one(s.mask(anatomy.Heart).Widest()), nil
	},
	"thoracic_width_heart": func(s *Scene, _ Rules, _ Task) ([]mask.Mask, []line) { return nil, s.thoraxAtHeart() },
	"mediastinum": func(s *Scene, rules Rules, _ Task) ([]mask.Mask, []line) {
		if rules.is(BuildMediastinum, Cardiomediastinum) {
			return one(s.mask(anatomy.Cardiomediastinum)), nil
		}
		return one(s.mask(anatomy.UpperMediastinum)), nil
	},
	"thoracic_width_mw": func(s *Scene, _ Rules, _ Task) ([]mask.Mask, []line) { return nil, s.thoraxAtMediastinum() },
	"carina": func(s *Scene, _ Rules, _ Task) ([]mask.Mask, []line) {
		return one(s.mask(anatomy.TrachealBifurcation).Largest()), nil
	},
	"trachea":       func(s *Scene, _ Rules, _ Task) ([]mask.Mask, []line) { return one(s.lowerTrachea()), nil },
	"midline":       func(s *Scene, _ Rules, t Task) ([]mask.Mask, []line) { return nil, s.midline(t) },
	"clavicle_both": func(s *Scene, _ Rules, _ Task) ([]mask.Mask, []line) { return s.clavicles(), nil },
	"scapular_both": func(s *Scene, _ Rules, _ Task) ([]mask.Mask, []line) {
		return []mask.Mask{s.mask(anatomy.RightScapula).Largest(), s.mask(anatomy.LeftScapula).Largest()}, nil
	},
	"lung_both":   func(s *Scene, _ Rules, t Task) ([]mask.Mask, []line) { return s.lungs(t), nil },
	"aortic_knob": func(s *Scene, _ Rules, _ Task) ([]mask.Mask, []line) { return one(s.knob()), nil },
	"ascending_aorta": func(s *Scene, _ Rules, _ Task) ([]mask.Mask, []line) {
		return one(s.mask(anatomy.AscendingAorta).Largest()), nil
	},
	"borderline":       func(s *Scene, _ Rules, _ Task) ([]mask.Mask, []line) { return nil, between(s.Marks.Ascending) },
	"descending_aorta": func(s *Scene, _ Rules, _ Task) ([]mask.Mask, []line) { return one(s.descending()), nil },
	"diaphragm_right": func(s *Scene, _ Rules, _ Task) ([]mask.Mask, []line) {
		m := s.mask(anatomy.RightHemidiaphragm)
		if s.CheXmaskRightLung != nil {
			m = m.AndNot(*s.CheXmaskRightLung)
		}
		return one(m), nil
	},
	"right_posterior_rib": func(s *Scene, _ Rules, _ Task) ([]mask.Mask, []line) { return one(s.rib()), nil },
	"midclavicularline":   func(s *Scene, _ Rules, _ Task) ([]mask.Mask, []line) { return nil, s.midclavicular() },
}

func one(m mask.Mask) []mask.Mask { return []mask.Mask{m} }

func between(ends []geom.Vec) []line {
	if len(ends) < 2 {
		return nil
	}
	return []line{{ends[0], ends[len(ends)-1]}}
}

func at(x, y int) geom.Vec { return geom.Vec{X: float64(x), Y: float64(y)} }

// span is a horizontal line with upright strokes at both ends.
func span(x0, x1, y, up, down int) []line {
	return []line{{at(x0, y), at(x1, y)}, {at(x0, y-up), at(x0, y+down)}, {at(x1, y-up), at(x1, y+down)}}
}

// strokeReach is how far the strokes of the thoracic width reach at the mediastinum.
const strokeReach = 100

// clipped is a stroke's reach inside the picture.
func (s *Scene) reach(y, n int) (up, down int) { return min(n, y), min(n, s.Image.Height-1-y) }

// thoraxAtHeart spans the lungs' outermost columns below the heart's top, on the middle of the
// rows where a lung touches one of them.
func (s *Scene) thoraxAtHeart() []line {
	c := s.Marks.Cardiomegaly
	heart, ok := s.mask(anatomy.Heart).Widest().Box()
	if !ok || c.LungMaxX == 0 {
		return nil
	}
	first, last := s.Image.Height, -1
	for _, l := range []anatomy.Structure{anatomy.RightLung, anatomy.LeftLung} {
		lung := s.mask(l).Largest().Rows(heart.Y0, s.Image.Height-1)
		for _, x := range []int{c.LungMinX, c.LungMaxX} {
			if y0, y1, ok := lung.ColumnBounds(x); ok {
				first, last = min(first, y0), max(last, y1)
			}
		}
	}
	if last < first {
		return nil
	}
	y := (first + last) / 2
	return span(c.LungMinX, c.LungMaxX, y, y-first, last-y)
}

func (s *Scene) thoraxAtMediastinum() []line {
	m := s.Marks.Mediastinum
	if m.LungMaxX == 0 {
		return nil
	}
	up, down := s.reach(m.Y, strokeReach)
	return span(m.LungMinX, m.LungMaxX, m.Y, up, down)
}

// wholeTrachea is the trachea above its bifurcation.
func (s *Scene) wholeTrachea() mask.Mask {
	fork, _, ok := s.mask(anatomy.TrachealBifurcation).RowBounds()
	if !ok {
		return mask.Empty(s.Image.Width, s.Image.Height)
	}
	return s.mask(anatomy.Trachea).Rows(0, fork-1).Largest()
}

// lowerTrachea is the same without its upper quarter.
func (s *Scene) lowerTrachea() mask.Mask {
	full := s.wholeTrachea()
	y0, y1, ok := full.RowBounds()
	if !ok {
		return full
	}
	return full.Rows(y0+(y1-y0)/4, y1)
}

func (s *Scene) midline(t Task) []line {
	if t == chexstruct.TracheaDeviation {
		return between(s.Marks.Deviation)
	}
	return between(s.Marks.Rotation.Midline)
}

// clavicles are both clavicles inside their bands.
func (s *Scene) clavicles() []mask.Mask {
	var list []mask.Mask
	for i, x := range []anatomy.Structure{anatomy.RightClavicle, anatomy.LeftClavicle} {
		band := s.Marks.Rotation.Bands[i]
		m := s.mask(x)
		if band == (Band{}) {
			return nil
		}
		list = append(list, s.inBand(m, band))
	}
	return list
}

// inBand keeps the pixels between the band's lines.
func (s *Scene) inBand(m mask.Mask, b Band) mask.Mask {
	out := mask.NewBuilder(m.W, m.H)
	y0, y1, ok := m.RowBounds()
	for y := y0; ok && y <= y1; y++ {
		for _, r := range m.Row(y) {
			from := -1
			for x := int(r.X0); x <= int(r.X1); x++ {
				slope := float64(b.Slope * float64(x))
				in := x < int(r.X1) && float64(y) >= slope+b.Low-bandSlack && float64(y) <= slope+b.High+bandSlack
				switch {
				case in && from < 0:
					from = x
				case !in && from >= 0:
					out.Add(y, from, x)
					from = -1
				}
			}
		}
	}
	return out.Mask()
}

// bandSlack lets rounding not cut the pixels that define the band's edges.
const bandSlack = 1e-6

// lungs are both lungs: for inclusion without diaphragm and black pixels, for projection as
// they are.
func (s *Scene) lungs(t Task) []mask.Mask {
	lungs := []mask.Mask{s.mask(anatomy.RightLung), s.mask(anatomy.LeftLung)}
	if t == chexstruct.Projection {
		return lungs
	}
	for i, d := range []anatomy.Structure{anatomy.RightHemidiaphragm, anatomy.LeftHemidiaphragm} {
		lungs[i] = lungs[i].AndNot(s.mask(d)).And(s.NonZero).Largest()
	}
	return lungs
}

// knob is the part of the aortic arch outside the trachea that reaches the columns of the
// upper descending aorta.
func (s *Scene) knob() mask.Mask {
	k := s.Marks.Knob
	if k.MaxX == 0 {
		return mask.Empty(s.Image.Width, s.Image.Height)
	}
	arch := s.mask(anatomy.AorticArch).Rows(0, k.Upper.Y1-1).Touching(k.Upper.X0, k.Upper.X1)
	return arch.Columns(int(k.MinX), s.Image.Width-1)
}

// descending is the measured part of the descending aorta.
func (s *Scene) descending() mask.Mask {
	d := s.Marks.Descending
	aorta := s.mask(anatomy.DescendingAorta)
	_, end, ok := aorta.And(s.mask(anatomy.Heart)).Tallest().RowBounds()
	if !ok || d.EndRow == 0 {
		return mask.Empty(s.Image.Width, s.Image.Height)
	}
	return aorta.Rows(0, end-1).Tallest().Rows(d.FirstRow, d.EndRow-1)
}

func (s *Scene) rib() mask.Mask {
	if s.Marks.Inspiration.Rib == 0 {
		return mask.Empty(s.Image.Width, s.Image.Height)
	}
	return s.mask(anatomy.RightPosteriorRib(s.Marks.Inspiration.Rib)).Widest()
}

func (s *Scene) midclavicular() []line {
	i := s.Marks.Inspiration
	if i.LastRow == 0 {
		return nil
	}
	return []line{{at(i.LineX, i.FirstRow), at(i.LineX, i.LastRow)}}
}
