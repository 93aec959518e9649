package overlap

import (
	"cmp"
	"fmt"
	"slices"

	"cxrepro/artifacts"
)

// Kind says how two images overlap. The zero value is invalid.
type Kind string

// Kinds, the strongest first.
const (
	// SameBytes: the same file.
	SameBytes Kind = "same_bytes"
	// NearDuplicate: other bytes, a perceptual hash within the limit.
	NearDuplicate Kind = "near_duplicate"
	// SameStudy: another image of the study.
	SameStudy Kind = "same_study"
	// SamePatient: an image of another study of the patient.
	SamePatient Kind = "same_patient"
)

// Kinds returns every kind, the strongest first.
func Kinds() []Kind { return []Kind{SameBytes, NearDuplicate, SameStudy, SamePatient} }

// Image is an image as far as an overlap is looked for.
type Image struct {
	Image artifacts.Digest `json:"image"`
	// Perceptual is nil when the pixels were not read.
	Perceptual *Hash `json:"perceptual,omitempty"`
	// Study and Patient are groups of a Grouping; empty when the data set names none.
	Study   string `json:"study,omitempty"`
	Patient string `json:"patient,omitempty"`
}

// List is the images of one side. Perceptual and Grouping name what they were hashed with;
// empty where no image has such a hash.
type List struct {
	Perceptual string
	Grouping   string
	Images     []Image
}

// Finding is one pair that overlaps, by the strongest kind.
type Finding struct {
	Kind       Kind             `json:"kind"`
	Training   artifacts.Digest `json:"training"`
	Evaluation artifacts.Digest `json:"evaluation"`
	// Distance is that of the hashes of a near-duplicate, in bits.
	Distance int `json:"distance,omitempty"`
}

// Gap says what could not be compared and why.
type Gap struct {
	Kind   Kind   `json:"kind"`
	Detail string `json:"detail"`
}

// Result is what a comparison found: every pair, ordered by kind, evaluation image and
// training image.
type Result struct {
	Findings []Finding `json:"findings"`
	Gaps     []Gap     `json:"gaps,omitempty"`
}

// Find compares the images of a training lineage with those of an evaluation. limit is the
// largest distance of a near-duplicate in bits; a negative one looks for none.
//
// Every pair has its strongest kind alone. Hashes are compared pair by pair, some
// nanoseconds each: 10^5 training and 10^3 evaluation images take about a second.
func Find(training, evaluation List, limit int) Result {
	training.Images, evaluation.Images = Distinct(training.Images), Distinct(evaluation.Images)
	r := Result{Findings: []Finding{}}
	hashes := limit >= 0 && r.comparable(NearDuplicate, training, evaluation, training.Perceptual, evaluation.Perceptual, func(m Image) bool { return m.Perceptual != nil })
	studies := r.comparable(SameStudy, training, evaluation, training.Grouping, evaluation.Grouping, func(m Image) bool { return m.Study != "" })
	patients := r.comparable(SamePatient, training, evaluation, training.Grouping, evaluation.Grouping, func(m Image) bool { return m.Patient != "" })
	seen := newIndex(training.Images)
	for _, e := range evaluation.Images {
		taken := map[artifacts.Digest]bool{}
		add := func(k Kind, t artifacts.Digest, distance int) {
			if !taken[t] {
				taken[t] = true
				r.Findings = append(r.Findings, Finding{Kind: k, Training: t, Evaluation: e.Image, Distance: distance})
			}
		}
		if seen.images[e.Image] {
			add(SameBytes, e.Image, 0)
		}
		if hashes && e.Perceptual != nil {
			for i := range seen.hashed {
				if d := e.Perceptual.Distance(&seen.hashed[i].hash); d <= limit {
					add(NearDuplicate, seen.hashed[i].image, d)
				}
			}
		}
		if studies && e.Study != "" {
			for _, t := range seen.studies[e.Study] {
				add(SameStudy, t, 0)
			}
		}
		if patients && e.Patient != "" {
			for _, t := range seen.patients[e.Patient] {
				add(SamePatient, t, 0)
			}
		}
	}
	order := map[Kind]int{}
	for i, k := range Kinds() {
		order[k] = i
	}
	slices.SortFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(order[a.Kind]-order[b.Kind], slices.Compare(a.Evaluation[:], b.Evaluation[:]), slices.Compare(a.Training[:], b.Training[:]))
	})
	return r
}

// comparable reports whether a kind can be looked for, and notes for what it cannot.
func (r *Result) comparable(k Kind, training, evaluation List, tname, ename string, has func(Image) bool) bool {
	t, e := lacking(training.Images, has), lacking(evaluation.Images, has)
	switch {
	case len(training.Images) == 0 || len(evaluation.Images) == 0:
		return false
	case t < len(training.Images) && e < len(evaluation.Images) && tname != ename:
		r.Gaps = append(r.Gaps, Gap{k, fmt.Sprintf("training images are hashed with %s, evaluation images with %s", tname, ename)})
		return false
	case t+e > 0:
		r.Gaps = append(r.Gaps, Gap{k, fmt.Sprintf("not known of %d of %d training images and %d of %d evaluation images", t, len(training.Images), e, len(evaluation.Images))})
	}
	return true
}

func lacking(images []Image, has func(Image) bool) (n int) {
	for _, m := range images {
		if !has(m) {
			n++
		}
	}
	return n
}

// index is the training images by what they are looked up by.
type index struct {
	images   map[artifacts.Digest]bool
	hashed   []hashed
	studies  map[string][]artifacts.Digest
	patients map[string][]artifacts.Digest
}

type hashed struct {
	hash  Hash
	image artifacts.Digest
}

// newIndex indexes distinct images.
func newIndex(images []Image) index {
	x := index{images: map[artifacts.Digest]bool{}, studies: map[string][]artifacts.Digest{}, patients: map[string][]artifacts.Digest{}}
	for _, m := range images {
		x.images[m.Image] = true
		if m.Perceptual != nil {
			x.hashed = append(x.hashed, hashed{*m.Perceptual, m.Image})
		}
		if m.Study != "" {
			x.studies[m.Study] = append(x.studies[m.Study], m.Image)
		}
		if m.Patient != "" {
			x.patients[m.Patient] = append(x.patients[m.Patient], m.Image)
		}
	}
	return x
}

// Distinct returns every image once, where it stands first, with all that is known of it.
func Distinct(images []Image) []Image {
	place := make(map[artifacts.Digest]int, len(images))
	out := make([]Image, 0, len(images))
	for _, m := range images {
		at, known := place[m.Image]
		if !known {
			place[m.Image] = len(out)
			out = append(out, m)
			continue
		}
		o := &out[at]
		if o.Perceptual == nil {
			o.Perceptual = m.Perceptual
		}
		o.Study, o.Patient = cmp.Or(o.Study, m.Study), cmp.Or(o.Patient, m.Patient)
	}
	return out
}
