package cxreasonbench

import (
	"math"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/geom"
)

// Marks are the measured positions that pictures show, by task, in pixels of the native
// radiograph. A task that was not measured leaves its part empty, and its pictures cannot be
// drawn.
type Marks struct {
	Cardiomegaly struct {
		Heart                geom.Box
		LungMinX, LungMaxX   int
		HeartMinX, HeartMaxX int
	}
	Mediastinum struct {
		Y                    int
		LungMinX, LungMaxX   int
		WidthMinX, WidthMaxX int
	}
	// Carina are the points A, B and C.
	Carina []geom.Vec
	// Deviation are the points on the line of the vertebrae beside the trachea.
	Deviation []geom.Vec
	Rotation  struct {
		// Ends are the medial ends of the right and the left clavicle.
		Ends []geom.Vec
		// Bands hold for each clavicle slope, lower and upper intercept of the strip of
		// columns that it fills.
		Bands [2]Band
		// Midline are the ends of the line x = Slope*y + Intercept.
		Midline          []geom.Vec
		Slope, Intercept float64
	}
	Projection struct {
		Overlap, Scapula [2]int // the patient's right side first
		Measured         bool
	}
	// Inclusion are apex, rib edge and costophrenic angle, right before left.
	Inclusion   []geom.Vec
	Inspiration struct {
		Rib, LineX        int
		FirstRow, LastRow int
	}
	Knob struct {
		MinX, MaxX float64
		// Upper is the box of the upper descending aorta, which the arch must reach.
		Upper geom.Box
	}
	// TracheaWidth are the ends of the trachea's median row.
	TracheaWidth []geom.Vec
	Descending   struct {
		// FirstRow and EndRow bound the measured rows, half open.
		FirstRow, EndRow int
		// Widest are the ends of the widest of the six rows.
		Widest []geom.Vec
	}
	// Tortuous are the six points of the aorta's edge.
	Tortuous []geom.Vec
	// Ascending are the ends of the line, at the heart and at the trachea.
	Ascending []geom.Vec
}

// Band is a strip between two parallel lines y = Slope*x + Low and y = Slope*x + High.
type Band struct{ Slope, Low, High float64 }

// MarksOf takes the marks from findings that were made on masks of native size. Findings that
// are not ok are passed over.
func MarksOf(r *chexstruct.Result) Marks {
	var m Marks
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Status == chexstruct.StatusOK {
			m.take(f)
		}
	}
	return m
}

func (m *Marks) take(f *chexstruct.Finding) {
	whole := func(name string) int {
		v, _ := f.Measurement(name)
		n, _ := v.Float()
		return int(n)
	}
	number := func(name string) float64 {
		v, _ := f.Measurement(name)
		n, _ := v.Float()
		return n
	}
	points := func(names ...string) (list []geom.Vec) {
		for _, n := range names {
			v, _ := f.Measurement(n)
			if p, ok := v.Vec(); ok {
				list = append(list, p)
				continue
			}
			for i := range v.Len() {
				if p, ok := v.At(i).Vec(); ok {
					list = append(list, p)
				}
			}
		}
		return list
	}
	landmark := func(name string) []geom.Vec {
		l, _ := f.Landmark(name)
		return l.Points
	}
	if w := landmark("trachea_width"); len(w) == 2 {
		m.TracheaWidth = w
	}
	if rows := landmark("aorta_rows"); len(rows) == 2 {
		m.Descending.FirstRow, m.Descending.EndRow = int(rows[0].Y), int(rows[1].Y)
	}
	switch f.Task {
	case chexstruct.Cardiomegaly:
		c := &m.Cardiomegaly
		c.HeartMinX, c.HeartMaxX = whole("heart_xmin"), whole("heart_xmax")
		c.LungMinX, c.LungMaxX = whole("lung_xmin"), whole("lung_xmax")
	case chexstruct.MediastinalWidening:
		w := &m.Mediastinum
		w.Y, w.LungMinX, w.LungMaxX = whole("y"), whole("lung_xmin"), whole("lung_xmax")
		w.WidthMinX, w.WidthMaxX = whole("mediastinum_xmin"), whole("mediastinum_xmax")
	case chexstruct.CarinaAngle:
		m.Carina = points("point_a", "point_b", "point_c")
	case chexstruct.TracheaDeviation:
		m.Deviation = points("points")
	case chexstruct.Rotation:
		m.takeRotation(points("medial_end_right", "medial_end_left"), landmark, number("slope"), number("intercept"))
	case chexstruct.Projection:
		p := &m.Projection
		p.Overlap = [2]int{whole("overlap_right"), whole("overlap_left")}
		p.Scapula = [2]int{whole("scapula_right"), whole("scapula_left")}
		p.Measured = true
	case chexstruct.Inclusion:
		m.Inclusion = points("apex_point_right", "apex_point_left", "side_point_right", "side_point_left", "cpa_point_right", "cpa_point_left")
	case chexstruct.Inspiration:
		m.Inspiration.Rib, m.Inspiration.LineX = whole("rib"), whole("line_x")
		if l := landmark("mid_clavicular_line"); len(l) == 2 {
			m.Inspiration.FirstRow, m.Inspiration.LastRow = int(l[0].Y), int(l[1].Y)
		}
	case chexstruct.AorticKnobEnlargement:
		m.Knob.MinX, m.Knob.MaxX = number("knob_xmin"), number("knob_xmax")
		if l := landmark("upper_descending"); len(l) == 2 {
			m.Knob.Upper = geom.Box{X0: int(l[0].X), Y0: int(l[0].Y), X1: int(l[1].X), Y1: int(l[1].Y)}
		}
	case chexstruct.DescendingAortaEnlargement:
		m.Descending.Widest = points("point_left", "point_right")
	case chexstruct.DescendingAortaTortuous:
		m.Tortuous = points("points")
	case chexstruct.AscendingAortaEnlargement:
		m.Ascending = points("heart_point", "trachea_point")
	}
}

func (m *Marks) takeRotation(ends []geom.Vec, landmark func(string) []geom.Vec, slope, intercept float64) {
	r := &m.Rotation
	r.Ends, r.Slope, r.Intercept, r.Midline = ends, slope, intercept, landmark("midline")
	for i, name := range []string{"clavicle_band_right", "clavicle_band_left"} {
		if l := landmark(name); len(l) == 4 {
			r.Bands[i] = Band{Slope: l[1].Y - l[0].Y, Low: l[0].Y, High: l[2].Y}
		}
	}
}

// thousandth rounds a slope or an intercept the way the pictures print it.
func thousandth(v float64) float64 { return math.Round(v*1000) / 1000 }
