package segment

import (
	"fmt"
	"math"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/mask"
)

// Evaluation collects overlaps of found masks with true ones, case by case. The zero
// value is ready.
type Evaluation struct {
	cases   int
	overlap [anatomy.Count + 1]overlap
}

type overlap struct {
	n, absent, missed, invented int
	both, found, truth          int // pixels over all counted cases
	iou, dice                   sum
}

// sum keeps what a mean and a minimum need.
type sum struct{ total, least float64 }

func (s *sum) add(v float64, first bool) {
	s.total += v
	if first || v < s.least {
		s.least = v
	}
}

// Row is one structure's overlap over all cases.
//
// F1 pools the pixels of all cases, 2TP/(2TP+FP+FN); IoU and Dice are means over cases,
// with the least case beside them. Cases counts those in which at least one of the two
// masks has a pixel; Absent counts those in which neither has, which say nothing about
// overlap. A mask where the other is empty gives 0: Missed counts empty found masks,
// Invented empty true ones. With Cases 0 the figures are 0 and mean nothing.
type Row struct {
	Structure string  `json:"structure"`
	Cases     int     `json:"cases"`
	Absent    int     `json:"absent"`
	Missed    int     `json:"missed"`
	Invented  int     `json:"invented"`
	F1        float64 `json:"f1"`
	IoU       float64 `json:"iou"`
	IoUMin    float64 `json:"iou_min"`
	Dice      float64 `json:"dice"`
	DiceMin   float64 `json:"dice_min"`
}

// Add counts one case; structures that either side does not declare are left out.
//
// Errors: masks of different grids.
func (e *Evaluation) Add(found, truth *anatomy.Masks) error {
	if found.GridW != truth.GridW || found.GridH != truth.GridH {
		return fmt.Errorf("found masks are %d x %d, true ones %d x %d (width x height); bring both onto one grid first",
			found.GridW, found.GridH, truth.GridW, truth.GridH)
	}
	e.cases++
	for _, s := range found.Declared.And(truth.Declared).List() {
		e.overlap[s].add(found.Mask(s), truth.Mask(s))
	}
	return nil
}

func (o *overlap) add(found, truth mask.Mask) {
	f, t := found.Area(), truth.Area()
	switch {
	case f == 0 && t == 0:
		o.absent++
		return
	case f == 0:
		o.missed++
	case t == 0:
		o.invented++
	}
	both := found.AndArea(truth)
	first := o.n == 0
	o.n++
	o.both, o.found, o.truth = o.both+both, o.found+f, o.truth+t
	o.iou.add(float64(both)/float64(f+t-both), first)
	o.dice.add(float64(2*both)/float64(f+t), first)
}

// Cases returns the number of cases added.
func (e *Evaluation) Cases() int { return e.cases }

// Row returns one structure's figures.
func (e *Evaluation) Row(s anatomy.Structure) Row {
	r := Row{Structure: s.Name()}
	if !s.Valid() {
		return r
	}
	o := e.overlap[s]
	r.Cases, r.Absent, r.Missed, r.Invented = o.n, o.absent, o.missed, o.invented
	if o.n == 0 {
		return r
	}
	n := float64(o.n)
	r.F1 = float64(2*o.both) / float64(o.found+o.truth)
	r.IoU, r.IoUMin = o.iou.total/n, o.iou.least
	r.Dice, r.DiceMin = o.dice.total/n, o.dice.least
	return r
}

// Rows returns the structures that some case has: those named first in their order, then the
// others in channel order.
func (e *Evaluation) Rows(first ...string) []Row {
	var rows []Row
	var seen anatomy.Set
	add := func(s anatomy.Structure) {
		if r := e.Row(s); r.Cases > 0 && !seen.Has(s) {
			seen = seen.With(s)
			rows = append(rows, r)
		}
	}
	for _, name := range first {
		if s, ok := anatomy.ByName(name); ok {
			add(s)
		}
	}
	for _, s := range anatomy.All() {
		add(s)
	}
	return rows
}

// MeanMin returns the mean and the least of the rows' mean Dice, for a one-line summary;
// NaN without rows.
func MeanMin(rows []Row) (mean, least float64) {
	if len(rows) == 0 {
		return math.NaN(), math.NaN()
	}
	least = rows[0].Dice
	for _, r := range rows {
		mean += r.Dice
		least = min(least, r.Dice)
	}
	return mean / float64(len(rows)), least
}
