package cxreasonbench

import (
	"math/rand/v2"
	"slices"
	"strings"

	"cxrepro/internal/chexstruct"
)

// coversTarget are the tasks whose targets the mediastinum covers, so that its picture is no
// fair wrong option.
//
// Source: [official code].
var coversTarget = []Task{
	chexstruct.Cardiomegaly, chexstruct.TracheaDeviation, chexstruct.CarinaAngle,
	chexstruct.AorticKnobEnlargement, chexstruct.AscendingAortaEnlargement,
	chexstruct.DescendingAortaEnlargement, chexstruct.DescendingAortaTortuous,
}

// criterionParts are structures that belong to a task's criterion, or look like a part of
// it, without being its targets: someone who chose them would not be wrong. Version 1.
//
// Source: [ours].
var criterionParts = []struct {
	task       Task
	structures []string
}{
	{chexstruct.Inclusion, []string{"diaphragm_right", "right_posterior_rib"}},
	{chexstruct.Inspiration, []string{"lung_both"}},
	{chexstruct.Cardiomegaly, []string{"lung_both", "thoracic_width_mw"}},
	{chexstruct.MediastinalWidening, []string{"lung_both", "thoracic_width_heart"}},
	{chexstruct.CarinaAngle, []string{"trachea"}},
	{chexstruct.AscendingAortaEnlargement, []string{"heart", "lung_both"}},
}

// Distractors returns the structure pictures that may be wrong options for a case in a path,
// sorted: what is drawn on this radiograph under other tasks, one picture for each
// structure name (of the first task in the order of names), without the names of the case's
// own targets and without what the rules leave out for the task.
//
// Source: [official code]; the exclusions of BuildDistractors=criterion_parts [ours].
func (s Source) Distractors(rules Rules, path Path) []Overlay {
	leftOut := slices.Clone(facts(s.Task).structures)
	if path != Path2 || rules.is(BuildGuidanceDistractors, SamePool) {
		if slices.Contains(coversTarget, s.Task) {
			leftOut = append(leftOut, "mediastinum")
		}
		if rules.is(BuildDistractors, CriterionParts) {
			for _, p := range criterionParts {
				if p.task == s.Task {
					leftOut = append(leftOut, p.structures...)
				}
			}
		}
	}
	list := slices.Clone(s.Overlays)
	slices.SortFunc(list, func(a, b Overlay) int { return strings.Compare(a.Path(""), b.Path("")) })
	var pool []Overlay
	for _, o := range list {
		known := slices.ContainsFunc(pool, func(p Overlay) bool { return p.Structure == o.Structure })
		if o.Task != s.Task && !known && !slices.Contains(leftOut, o.Structure) {
			pool = append(pool, o)
		}
	}
	return pool
}

// targets are the case's own structure pictures, in the order of names.
func (s Source) targets() []Overlay {
	names := Structures(s.Task)
	slices.Sort(names)
	list := make([]Overlay, len(names))
	for i, n := range names {
		list[i] = Overlay{s.Task, n}
	}
	return list
}

// draw takes n elements out of a pool at random and returns them with what is left, in the
// pool's order. The pool must hold n.
func draw[T any](r *rand.Rand, pool []T, n int) (drawn, left []T) {
	order := r.Perm(len(pool))
	for _, i := range order[:n] {
		drawn = append(drawn, pool[i])
	}
	rest := order[n:]
	slices.Sort(rest)
	for _, i := range rest {
		left = append(left, pool[i])
	}
	return drawn, left
}

func shuffle[T any](r *rand.Rand, list []T) []T {
	list = slices.Clone(list)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}
