package dense

import (
	"math"
	"slices"
)

// Tasks in the order of the specification.
var Tasks = []string{"inclusion", "inspiration", "rotation", "projection", "cardiomegaly", "mediastinal_widening", "carina_angle",
	"trachea_deviation", "aortic_knob_enlargement", "ascending_aorta_enlargement", "descending_aorta_enlargement", "descending_aorta_tortuous"}

// scene is a case under assessment with what several tasks share.
type scene struct {
	*Case
	Switches
	s        float64 // native pixels per mask pixel
	none     *Plane
	parts    map[string]*Plane
	trachea  *trachea
	inc      *inclusion
	vertebra []vertebra
}

// Assess measures one case.
func Assess(c *Case, sw Switches) *Result {
	sc := newScene(c, sw)
	global := sc.global()
	mirrored := slices.Contains(global.Failed, "global.orientation")
	return &Result{Case: c.Name, Global: global, Tasks: sc.tasks(mirrored), XRagent: sc.xragent(mirrored)}
}

// Measure runs the twelve tasks alone, without filter and X-Ragent values.
func Measure(c *Case, sw Switches) map[string]*Finding {
	sc := newScene(c, sw)
	return sc.tasks(sc.orientation(newFinding()) == "mirrored")
}

func (sc *scene) tasks(mirrored bool) map[string]*Finding {
	out := map[string]*Finding{}
	measures := []func(*Finding) (reason, string){sc.inclusionTask, sc.inspiration, sc.rotation, sc.projection, sc.cardiomegaly, sc.mediastinum,
		sc.carina, sc.deviation, sc.knob, sc.ascending, sc.enlarged, sc.tortuous}
	for i, name := range Tasks {
		f := newFinding()
		if mirrored {
			f.finish("orientation", "")
		} else {
			f.finish(measures[i](f))
		}
		out[name] = f
	}
	return out
}

func newScene(c *Case, sw Switches) *scene {
	native := float64(c.NativeWidth)
	if native == 0 {
		native = sw.n("global.scale.native_width_default")
	}
	return &scene{Case: c, Switches: sw, s: native / float64(c.W), none: NewPlane(c.W, c.H), parts: map[string]*Plane{}}
}

// mask is the structure as given; a missing one is empty.
func (sc *scene) mask(name string) *Plane {
	if p, ok := sc.Masks[name]; ok {
		return p
	}
	return sc.none
}

// missing tells whether any of the structures is empty.
func (sc *scene) missing(names ...string) bool {
	for _, n := range names {
		if sc.mask(n).Empty() {
			return true
		}
	}
	return false
}

func (sc *scene) part(kind, name string, pick func(*Plane) *Plane) *Plane {
	key := kind + " " + name
	if p, ok := sc.parts[key]; ok {
		return p
	}
	p := pick(sc.mask(name))
	sc.parts[key] = p
	return p
}

func (sc *scene) la(name string) *Plane { return sc.part("LA", name, (*Plane).largest) }
func (sc *scene) lw(name string) *Plane { return sc.part("LW", name, (*Plane).widest) }

// shareW and shareH are a length as a share of the grid.
func (sc *scene) shareW(v int) float64 { return float64(v) / float64(sc.W) }
func (sc *scene) shareH(v int) float64 { return float64(v) / float64(sc.H) }

// spread is the population standard deviation.
func spread(v []float64) float64 {
	var mean, sq float64
	for _, x := range v {
		mean += x
	}
	mean /= float64(len(v))
	for _, x := range v {
		d := x - mean
		sq += float64(d * d)
	}
	return math.Sqrt(sq / float64(len(v)))
}

func floats(v []int) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

func abs(v int) int {
	if v < 0 {
		return -v
	}
	return v
}
