package phantom

import (
	"fmt"
	"math"

	"cxrepro/internal/cxr"
)

// Lateral renders a side view of the phantom's patient at w x h pixels, the front on the
// picture's left. It has no masks: it stands for the pictures that a view filter removes.
//
// Errors: a side outside MinSide..MaxSide.
func (p *Phantom) Lateral(w, h int) (*cxr.Image, error) { return p.lateral(w, h, Options{}) }

func (p *Phantom) lateral(w, h int, o Options) (*cxr.Image, error) {
	if w < MinSide || h < MinSide || w > MaxSide || h > MaxSide {
		return nil, fmt.Errorf("phantom %d of seed %d: lateral size %dx%d: give sides of %d to %d pixels", p.Index, p.Seed, w, h, MinSide, MaxSide)
	}
	f := &frame{width: 356, height: 428, cos: 1, scaleX: p.patient.scaleX, scaleY: p.patient.scaleY, origin: pt{182, 62}}
	f.field = [4]float64{0, 0, f.width, f.height}
	c := newCanvas(w, h, f)
	l := &side{p: p.patient, f: f, c: c}
	l.trunk()
	l.chest()
	l.bones()
	e := exposureOf(p.Seed, p.Index, cxr.ViewLateral, o.Wide)
	s := newStream(p.Seed, p.Index, "lateral")
	field := [4]int{0, 0, w, h}
	im := &cxr.Image{Width: w, Height: h, Pix: c.develop(c.attenuation(e, s), e, field, s)}
	c.stamp(im.Pix, e, field)
	return im, nil
}

// side draws a patient from the side. Frame as for the frontal view, but x is the depth,
// 0 in the middle of the chest and growing to the back.
type side struct {
	p *patient
	f *frame
	c *canvas
}

func (l *side) put(knots []pt, n int) polygon {
	return closed(knots, n).each(func(q pt) pt { return l.f.project(q, 0) })
}

// trunk draws skin and arms; the shoulders are the thickest part.
func (l *side) trunk() {
	fat := float64(0.6 * l.p.fat)
	front := spline{{-140, -66}, {-70, -58}, {-30, -60}, {10, -82}, {60, -100 - fat}, {130, -112 - fat}, {220, -114 - fat}, {320, -116 - fat}, {540, -120 - fat}}
	back := spline{{-140, 40}, {-70, 56}, {-30, 84}, {20, 112}, {80, 118}, {160, 112}, {240, 104}, {320, 100}, {540, 112}}
	width := table{{-140, 11}, {-40, 13}, {0, 30}, {50, 34}, {110, 27}, {200, 26}, {420, 27}}
	g := columnOf(-200, 540, 100, front.at, back.at).each(func(q pt) pt { return l.f.project(q, 0) })
	l.c.rowsOf(g, func(off, a, b int, v interval) {
		y := (float64(off/l.c.w)+0.5)/l.c.sy - l.f.origin.y
		d := float32(width.at(y / l.f.scaleY))
		q := chordOf(v)
		for x := a; x < b; x++ {
			k := 1 - q.at(x)
			l.c.body[off+x] += float32(d * root(1-float32(k*k)))
		}
	})
}

// chest draws lungs, heart, great vessels and airway.
func (l *side) chest() {
	p, d := l.p, l.p.domeRight-221
	for i := range 2 {
		dome := d + float64(float64(i)*(p.domeLeft-p.domeRight))
		l.lung(dome)
	}
	heart := []pt{{-20, 112}, {-60, 130}, {-86, 170}, {-88, 206 + d}, {-50, 216 + d}, {-6, 208 + d}, {18, 176}, {12, 136}}
	l.c.tube(l.put(heart, 6), 0.9, 9, l.c.solid)
	arch := []pt{{-36, 132}, {-32, 100}, {-14, 74}, {14, 66}, {42, 84}, {58, 120}, {66, 180}, {66, 236 + d}}
	line := open(arch, 8)
	for i := range line {
		line[i] = l.f.project(line[i], 0)
	}
	l.c.tube(ribbon(line, func(float64) float64 { return 13 }), 0.7, 1.7, l.c.solid)
	air := open([]pt{{-14, -44}, {-2, 0}, {14, 60}, {22, p.carinaY + 6}}, 8)
	for i := range air {
		air[i] = l.f.project(air[i], 0)
	}
	l.c.tubeMax(ribbon(air, func(float64) float64 { return 8 }), 0.7, 1.1, l.c.airway)
}

// lung draws one lung, thinned below its dome (height d against the usual one).
func (l *side) lung(d float64) {
	outline := []pt{{8, 4}, {-30, 22}, {-66, 62}, {-88, 120}, {-95, 180 + d}, {-93, 222 + d}, {-60, 240 + d}, {0, 256 + d},
		{56, 268 + d}, {84, 276 + d}, {94, 268 + d}, {99, 210}, {101, 140}, {88, 70}, {56, 20}, {30, 6}}
	dome := spline{{-96, 216}, {-76, 203}, {-40, 194}, {0, 196}, {40, 214}, {70, 242}, {92, 274}}
	c := l.c
	c.rowsOf(l.put(outline, 6), func(off, a, b int, v interval) {
		y := (float64(off/c.w)+0.5)/c.sy - l.f.origin.y
		q := chordOf(v)
		w := min(9.5, float64(0.06*(v.hi-v.lo))/c.sx)
		for x := a; x < b; x++ {
			t := float32(w * math.Sqrt(math.Sqrt(float64(q.at(x)))))
			px := ((float64(x)+0.5)/c.sx - l.f.origin.x) / l.f.scaleX
			if under := y - float64((dome.at(px)+d)*l.f.scaleY); under > 0 {
				t = max(t-float32(0.2*math.Sqrt(float64(150*under))), float32(0.06*t))
			}
			c.air[off+x] += t
		}
	})
}

// bones draws the spine, the sternum, the blades and faint ribs.
func (l *side) bones() {
	k := l.p.boneStrength
	for i, y := range vertebraY {
		pitch := 22.0
		if i+1 < len(vertebraY) {
			pitch = vertebraY[i+1] - y
		}
		x := table{{-80, 40}, {0, 62}, {110, 86}, {230, 70}, {360, 52}}.at(y)
		body := vertebralBody(15, float64(0.5*pitch)-2).each(func(q pt) pt { return l.f.project(pt{x + q.x, y + q.y}, 0) })
		l.c.boneRows(body, float64(0.5*k), 0.9, 0.7)
		l.c.line([]pt{l.f.project(pt{x + 18, y}, 0), l.f.project(pt{x + 34, y + 12}, 0)}, 3, float64(0.3*k))
	}
	sternum := open([]pt{{-66, 34}, {-84, 80}, {-98, 150}, {-100, 186}}, 8)
	for i := range sternum {
		sternum[i] = l.f.project(sternum[i], 0)
	}
	l.c.boneRows(ribbon(sternum, func(float64) float64 { return 5 }), float64(0.5*k), 0.8, 0.6)
	for i := range 8 {
		y := 26 + float64(22*float64(i))
		r := open([]pt{{80, y - 6}, {99, y + 12}, {84, y + 40}, {46, y + 62}, {6, y + 78}}, 6)
		for j := range r {
			r[j] = l.f.project(r[j], 0)
		}
		l.c.boneColumns(ribbon(r, func(float64) float64 { return 5 }), float64(0.09*k), 0.8, 0.5)
	}
}
