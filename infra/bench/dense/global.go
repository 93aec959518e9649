package dense

import (
	"fmt"
	"math"
)

// counted are the 97 structures of the mask count.
var counted = countedNames()

func countedNames() []string {
	names := []string{"thoracic spine", "clavicles", "clavicle left", "clavicle right", "scapulas", "scapula left", "scapula right",
		"posterior 12th rib right", "posterior 12th rib left", "diaphragm", "left hemidiaphragm", "right hemidiaphragm",
		"cardiomediastinum", "upper mediastinum", "lower mediastinum", "heart", "heart atrium left", "heart atrium right",
		"heart ventricle left", "heart ventricle right", "trachea", "tracheal bifurcation", "ascending aorta", "descending aorta",
		"aortic arch", "pulmonary artery", "lung lower lobe left", "lung upper lobe left", "lung lower lobe right",
		"lung middle lobe right", "lung upper lobe right", "right lung", "left lung"}
	for i := 1; i <= 12; i++ {
		names = append(names, fmt.Sprintf("vertebrae T%d", i))
	}
	for _, nth := range []string{"1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th", "11th"} {
		for _, side := range []string{"right", "left"} {
			names = append(names, "anterior "+nth+" rib "+side, "posterior "+nth+" rib "+side)
		}
	}
	for _, side := range []string{"right", "left"} {
		for _, zone := range []string{"upper zone lung", "mid zone lung", "lung base", "apical zone lung"} {
			names = append(names, side+" "+zone)
		}
	}
	return names
}

// global is the filter.
func (sc *scene) global() Global {
	f := newFinding()
	n := 0
	for _, name := range counted {
		n += count(!sc.mask(name).Empty())
	}
	f.check("global.mask_count", float64(n) >= sc.n("global.mask_count.mask_num_min"), n)
	sc.heartPosition(f)
	mean := GradientMean(sc.Picture)
	f.check("global.gradient", !(sc.GradientMax && mean >= sc.n("global.gradient.gradient_mean_max")) && !(sc.GradientMin && mean < sc.n("global.gradient.gradient_mean_min")), mean)
	orientation := sc.orientation(f)
	return Global{QC: f.QC, Failed: f.Failed, Orientation: orientation}
}

// orientation compares the lungs' centroids.
func (sc *scene) orientation(f *Finding) string {
	xr, _, ok1 := sc.la("right lung").centroid()
	xl, _, ok2 := sc.la("left lung").centroid()
	switch {
	case !sc.Orientation:
		return "off"
	case !ok1 || !ok2:
		f.check("global.orientation", true, nil)
		return "unknown"
	}
	if f.check("global.orientation", xr < xl, xl-xr); xr >= xl {
		return "mirrored"
	}
	return "ok"
}

func (sc *scene) heartPosition(f *Finding) {
	if sc.missing("heart") {
		f.check("global.heart_position", true, nil)
		return
	}
	e, _ := sc.la("heart").box()
	a, b := -1, -1
	for y := range sc.Picture.H {
		lit := true
		for x := max(sc.W/2-1, 0); x <= min(sc.W/2+1, sc.W-1); x++ {
			lit = lit && sc.Picture.Grey[y*sc.W+x] != 0
		}
		if lit {
			if a < 0 {
				a = y
			}
			b = y
		}
	}
	if a < 0 || e.y1 == a {
		f.check("global.heart_position", false, nil)
		return
	}
	v := float64(abs(b-e.y1)) / float64(abs(e.y1-a))
	f.check("global.heart_position", v < sc.n("global.heart_position.abdominal_ratio_max"), v)
}

// GradientMean is the mean length of the 5x5 Sobel gradient over all pixels.
func GradientMean(p *Picture) float64 {
	smooth, slope := [5]float64{1, 4, 6, 4, 1}, [5]float64{-1, -2, 0, 2, 1}
	sum := 0.0
	var sm, sl [5][]float64 // five rows filtered along x: smoothed, differentiated
	for i := range sm {
		sm[i], sl[i] = make([]float64, p.W), make([]float64, p.W)
	}
	fill := func(y int) {
		row := p.Grey[mirror(y, p.H)*p.W:][:p.W]
		s, d := sm[(y+5)%5], sl[(y+5)%5]
		for x := range p.W {
			s[x], d[x] = 0, 0
			for k := -2; k <= 2; k++ {
				v := float64(row[mirror(x+k, p.W)])
				s[x] += smooth[k+2] * v
				d[x] += slope[k+2] * v
			}
		}
	}
	for y := -2; y < 2; y++ {
		fill(y)
	}
	for y := range p.H {
		fill(y + 2)
		for x := range p.W {
			var gx, gy float64
			for k := -2; k <= 2; k++ {
				gx += smooth[k+2] * sl[(y+k+5)%5][x]
				gy += slope[k+2] * sm[(y+k+5)%5][x]
			}
			sum += math.Sqrt(gx*gx + gy*gy)
		}
	}
	return sum / float64(p.W*p.H)
}

// mirror reflects an index at the borders without repeating the edge pixel.
func mirror(i, n int) int {
	if n == 1 {
		return 0
	}
	for i < 0 || i >= n {
		if i < 0 {
			i = -i
		} else {
			i = 2*(n-1) - i
		}
	}
	return i
}
