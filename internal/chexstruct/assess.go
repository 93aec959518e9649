package chexstruct

import (
	"fmt"
	"slices"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// Assess measures one picture: the given diagnostic tasks, and the global filter and the
// X-Ragent bundle where they are among tasks. No tasks at all means everything.
//
// Findings come in the order of [Tasks], whatever the order asked for. Pieces that tasks
// share are computed once per call.
// Errors: parts of the input that do not fit together, an invalid task, no rules.
func Assess(in Input, rules *Rules, tasks []Task) (*Result, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	if rules == nil {
		return nil, fmt.Errorf("chexstruct: assess without rules")
	}
	for _, t := range tasks {
		if !t.Valid() {
			return nil, fmt.Errorf("chexstruct: assess %s", t)
		}
	}
	if len(tasks) == 0 {
		tasks = Sections()
	}
	return newAssessment(&in, rules).run(tasks), nil
}

// steps are the diagnostic tasks' own parts. Each fills the finding and returns the
// reason why the task is not evaluable, or none.
var steps = map[Task]func(*assessment, *Finding) Reason{
	Inclusion:                  (*assessment).inclusion,
	Inspiration:                (*assessment).inspiration,
	Rotation:                   (*assessment).rotation,
	Projection:                 (*assessment).projection,
	Cardiomegaly:               (*assessment).cardiomegaly,
	MediastinalWidening:        (*assessment).mediastinalWidening,
	CarinaAngle:                (*assessment).carinaAngle,
	TracheaDeviation:           (*assessment).tracheaDeviation,
	AorticKnobEnlargement:      (*assessment).aorticKnob,
	AscendingAortaEnlargement:  (*assessment).ascendingAorta,
	DescendingAortaTortuous:    (*assessment).descendingTortuous,
	DescendingAortaEnlargement: (*assessment).descendingEnlargement,
}

func (c *assessment) run(tasks []Task) *Result {
	r := &Result{}
	if slices.Contains(tasks, Global) {
		r.Global = c.filter()
	}
	for _, t := range Tasks() {
		if slices.Contains(tasks, t) {
			r.Findings = append(r.Findings, c.finding(t))
		}
	}
	if slices.Contains(tasks, XRagent) {
		r.XRagent = c.bundle()
	}
	return r
}

// finding runs one task and settles its status.
func (c *assessment) finding(t Task) Finding {
	f := Finding{Task: t}
	if o, _ := c.orientation(); o == OrientationMirrored {
		f.Status, f.Reason = StatusNotEvaluable, ReasonOrientation
		return f
	}
	if reason := steps[t](c, &f); reason != "" {
		f.Status, f.Reason = StatusNotEvaluable, reason
		f.Index, f.Rounded, f.Label = None(), None(), ""
		return f
	}
	c.label(&f)
	f.settle()
	return f
}

// settle gives an evaluable finding its status. Only one that is ok keeps its label.
func (f *Finding) settle() {
	switch {
	case len(f.Failed()) > 0:
		f.Status = StatusQCFailed
	case f.Label == "":
		f.Status = StatusUndecided
	default:
		f.Status = StatusOK
	}
	if f.Status != StatusOK {
		f.Label = ""
	}
}

// assessment is one call of [Assess]: the input, the rules, and the pieces that several
// tasks share, each computed when first asked for.
type assessment struct {
	in    *Input
	rules *Rules
	seen  [rowCount + 1]bool // rows looked at, for checking the declaration of rowsOf

	lungs         [2]*mask.Mask // LA of the right and the left lung
	heart         *mask.Mask    // LW of the heart
	inclusionPart *inclusionPart
	tracheaPart   *tracheaPart
	vertebraeAt   *[vertebrae]geom.Vec
	orientedAs    *orientedAs
}

func newAssessment(in *Input, rules *Rules) *assessment { return &assessment{in: in, rules: rules} }

// value returns a row and remembers that it was read.
func (c *assessment) value(id row) rowValue {
	c.seen[id] = true
	return c.rules.values[id]
}

func (c *assessment) number(id row) float64 { return c.value(id).num }
func (c *assessment) choice(id row) string  { return c.value(id).text }

// holds reports whether v satisfies a limit or range row, by the row's own comparison.
func (c *assessment) holds(id row, v float64) bool {
	r := c.value(id)
	switch rowSpecs[id].op {
	case opAtLeast:
		return v >= r.num
	case opAbove:
		return v > r.num
	case opBelow:
		return v < r.num
	case opAtMost:
		return v <= r.num
	case opHalfOpen:
		return v >= r.list[0] && v < r.list[1]
	case opClosed:
		return v >= r.list[0] && v <= r.list[1]
	}
	panic("chexstruct: row " + rowSpecs[id].name + " is no limit")
}

// judge records a rule that consists of one value and one row.
func (c *assessment) judge(f *Finding, rule Rule, id row, v float64) {
	f.check(rule, c.holds(id, v), Number(v))
}

func (f *Finding) check(rule Rule, pass bool, v Value) {
	f.Checks = append(f.Checks, Check{Rule: rule, Pass: pass, Value: v})
}

func (f *Finding) measure(name string, v Value) {
	f.Measurements = append(f.Measurements, Measurement{Name: name, Value: v})
}

func (f *Finding) mark(name string, pts ...geom.Vec) {
	f.Landmarks = append(f.Landmarks, Landmark{Name: name, Points: pts})
}

// Sides index pairs: the patient's right comes first.
const (
	right = 0
	left  = 1
)

func (c *assessment) mask(s anatomy.Structure) mask.Mask { return c.in.Masks.Mask(s) }

// missing reports whether any of the structures is empty.
func (c *assessment) missing(list ...anatomy.Structure) bool {
	return slices.ContainsFunc(list, func(s anatomy.Structure) bool { return c.mask(s).IsEmpty() })
}

var lungOf = [2]anatomy.Structure{right: anatomy.RightLung, left: anatomy.LeftLung}

// lung returns the largest component of a lung.
func (c *assessment) lung(side int) mask.Mask {
	if c.lungs[side] == nil {
		m := c.mask(lungOf[side]).Largest()
		c.lungs[side] = &m
	}
	return *c.lungs[side]
}

// heartPart returns the widest component of the heart.
func (c *assessment) heartPart() mask.Mask {
	if c.heart == nil {
		m := c.mask(anatomy.Heart).Widest()
		c.heart = &m
	}
	return *c.heart
}

// w and h are the size of the grid as real numbers, for fractions of it.
func (c *assessment) w() float64 { return float64(c.in.Masks.GridW) }
func (c *assessment) h() float64 { return float64(c.in.Masks.GridH) }

// scale returns native pixels per mask pixel along x.
//
// DEVIATION D8: the released program measures native masks only; the scale refers its
// pixel limits to any grid and is 1 on native masks (TestScaleDeviation).
func (c *assessment) scale() float64 {
	fallback := c.number(rowNativeWidth)
	if c.in.NativeWidth > 0 {
		return float64(c.in.NativeWidth) / c.w()
	}
	return fallback / c.w()
}

// frontal returns the view when CTR and MCR have a limit for it.
func (c *assessment) frontal() (v cxr.ViewPosition, ok bool) { return c.in.View, c.in.View.Frontal() }
