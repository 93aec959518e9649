package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/overlap"
)

// State says whether figures of a model stand, as far as its training goes. The zero value is
// invalid.
type State string

// States.
const (
	// Clear: every image was compared with the whole recorded lineage, and nothing was found.
	Clear State = "clear"
	// Overlapping: something was found. Claims about the model are blocked.
	Overlapping State = "overlap"
	// Undetermined: nothing was found, and not everything could be compared, or there is
	// nothing to compare.
	Undetermined State = "undetermined"
	// Unchecked: the lineage is recorded, and was not compared with every image.
	Unchecked State = "unchecked"
	// Unknown: the store knows nothing of the model's training.
	Unknown State = "unknown"
)

// Standing is how one model of a reproduction stands.
type Standing struct {
	// Model is the name of its card; Weights is zero for a model without pinned weights.
	Model   string           `json:"model"`
	Weights artifacts.Digest `json:"weights,omitzero"`
	State   State            `json:"state"`
	// Images counts the evaluation's images that overlap, by kind (overlap.Kind).
	Images []contract.Count `json:"images,omitempty"`
	// Reports are the records that say so.
	Reports []artifacts.Ref `json:"reports,omitempty"`
	// Detail is a sentence for people.
	Detail string `json:"detail"`
}

// Blocks reports whether claims about the model are blocked.
func (s Standing) Blocks() bool { return s.State == Overlapping }

// Blocked returns the models of a reproduction about which no claim stands, because images
// they are judged on overlap with what they were trained on. Detail names which overlap. It
// reads records alone; `cxrepro overlap RUN` makes them.
func Blocked(ctx context.Context, store *artifacts.Repository, r *contract.Receipt) ([]Standing, error) {
	all, err := Standings(ctx, store, r)
	return slices.DeleteFunc(all, func(s Standing) bool { return !s.Blocks() }), err
}

// Standings returns how every model of a reproduction stands, in the order of its plan. A
// reproduction that asks no model has none.
func Standings(ctx context.Context, store *artifacts.Repository, r *contract.Receipt) ([]Standing, error) {
	plan, err := read[experiments.Plan](ctx, store, r.Plan)
	if err != nil || len(plan.Models) == 0 || JudgedOn(r).IsZero() {
		return nil, err
	}
	images, err := Judged(ctx, store, JudgedOn(r))
	if err != nil {
		return nil, err
	}
	k, err := known(ctx, store)
	if err != nil {
		return nil, err
	}
	var out []Standing
	for i, m := range plan.Models {
		s, err := k.standing(ctx, AnsweredBy(&plan, r, i), images)
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", m.Name, err)
		}
		s.Model = m.Name
		out = append(out, s)
	}
	return out, nil
}

// AnsweredBy returns the weights that answered for a model of a plan by its place: those of its
// card, or of the checkpoint that the reproduction trained in its place.
func AnsweredBy(plan *experiments.Plan, r *contract.Receipt, model int) artifacts.Digest {
	if a := plan.Spec.Agent; a != nil && model < len(a.Policies) {
		for _, c := range r.Checkpoints {
			if c.Name == a.Policies[model].Checkpoint {
				return c.Weights
			}
		}
	}
	return plan.Models[model].Identity.Weights
}

// StandingOf returns how weights stand before images, without a name.
func StandingOf(ctx context.Context, store *artifacts.Repository, weights artifacts.Digest, images []artifacts.Digest) (Standing, error) {
	k, err := known(ctx, store)
	if err != nil {
		return Standing{}, err
	}
	return k.standing(ctx, weights, images)
}

// JudgedOn is what models of a reproduction are judged on: a benchmark, or the question set of an
// agent. It is zero where no model is.
func JudgedOn(r *contract.Receipt) artifacts.Ref {
	if r.Benchmark.IsZero() {
		return r.Questions
	}
	return r.Benchmark
}

// Judged returns the digests of the radiographs that a benchmark or a question set asks about, each
// once, in ascending order.
func Judged(ctx context.Context, store *artifacts.Repository, benchmark artifacts.Ref) ([]artifacts.Digest, error) {
	refs, err := judged(ctx, store, benchmark)
	return sortedDigests(refs), err
}

// judged returns the radiographs of a benchmark, or the pictures of a question set; the size of one
// that is no blob is not known.
// A case of a release does not name its image: its radiographs are those of its pictures that
// are not drawn, which are named from the root of their folder.
func judged(ctx context.Context, store *artifacts.Repository, benchmark artifacts.Ref) (map[artifacts.Digest]artifacts.Ref, error) {
	out := map[artifacts.Digest]artifacts.Ref{}
	if benchmark.MediaType == contract.QuestionsMediaType {
		q, err := read[contract.Questions](ctx, store, benchmark)
		if err != nil {
			return nil, err
		}
		for _, picture := range q.Pictures() {
			out[picture.Digest] = picture
		}
		return out, nil
	}
	b, err := read[contract.Benchmark](ctx, store, benchmark)
	if err != nil {
		return nil, err
	}
	for _, c := range b.Cases {
		doc, err := read[contract.CaseDoc](ctx, store, c.Doc)
		if err != nil {
			return nil, err
		}
		if !doc.Image.IsZero() {
			out[doc.Image] = artifacts.Ref{Digest: doc.Image}
			continue
		}
		for path, ref := range doc.Pictures {
			if !strings.HasPrefix(path, "/") {
				out[ref.Digest] = ref
			}
		}
	}
	return out, nil
}

// records are the checkpoints and comparisons of a store.
type records struct {
	store       *artifacts.Repository
	checkpoints []Recorded[contract.Checkpoint]
	reports     []Recorded[contract.OverlapReport]
}

func known(ctx context.Context, store *artifacts.Repository) (k records, err error) {
	k.store = store
	if k.checkpoints, err = Checkpoints(ctx, store); err != nil || len(k.checkpoints) == 0 {
		return k, err
	}
	k.reports, err = Reports(ctx, store)
	return k, err
}

// standing compares the images with what the recorded comparisons cover. One that had a
// smaller limit, or was made before all training sets of the lineage were known, covers
// nothing, but what it found was found.
func (k records) standing(ctx context.Context, weights artifacts.Digest, images []artifacts.Digest) (Standing, error) {
	s := Standing{Weights: weights, State: Unknown, Detail: "the store knows nothing of the model's training"}
	if weights.IsZero() {
		s.Detail = "the model has no pinned weights, so nothing is known of its training"
		return s, nil
	}
	l, err := lineageIn(ctx, k.store, k.checkpoints, weights)
	if err != nil || len(l.Chain) == 0 {
		return s, err
	}
	judged := make(map[artifacts.Digest]bool, len(images))
	for _, d := range images {
		judged[d] = true
	}
	h := hits{first: map[overlap.Kind]overlap.Finding{}, images: map[overlap.Kind]map[artifacts.Digest]bool{}}
	covered := map[artifacts.Digest]bool{}
	var gaps []string
	for _, r := range k.reports {
		v := r.Value
		if v.Weights != weights {
			continue
		}
		touched := h.add(v, judged)
		if v.Limit >= overlap.Limit && v.Pairs == len(v.Findings) && slices.Equal(v.Training, l.refs()) {
			list, err := Images(ctx, k.store, v.Evaluation)
			if err != nil {
				return s, err
			}
			for _, m := range list.Images {
				if judged[m.Image] {
					touched, covered[m.Image] = true, true
				}
			}
		}
		if touched {
			s.Reports = append(s.Reports, r.Ref)
			for _, g := range v.Gaps {
				gaps = append(gaps, fmt.Sprintf("%s: %s", g.Kind, g.Detail))
			}
		}
	}
	hit := h.say(&s)
	open := len(judged) - len(covered)
	name := l.Chain[0].Value.Name
	switch {
	case len(hit) > 0:
		s.State = Overlapping
		s.Detail = fmt.Sprintf("checkpoint %s was trained on what it is judged on: %s", name, strings.Join(hit, "; "))
	case open > 0:
		s.State = Unchecked
		s.Detail = fmt.Sprintf("the training of checkpoint %s was not compared with %d of %d images", name, open, len(judged))
	case len(judged) == 0:
		s.State = Undetermined
		s.Detail = fmt.Sprintf("the evaluation names no radiograph that the training of checkpoint %s could be compared with", name)
	case len(gaps) > 0:
		s.State = Undetermined
		s.Detail = fmt.Sprintf("of checkpoint %s not everything could be compared: %s", name, strings.Join(gaps, "; "))
	default:
		s.State = Clear
		s.Detail = fmt.Sprintf("none of %d images overlaps with the training of checkpoint %s; of the training of its base, %s, nothing is known", len(judged), name, l.base())
	}
	return s, nil
}

// hits are findings about judged images.
type hits struct {
	first  map[overlap.Kind]overlap.Finding
	images map[overlap.Kind]map[artifacts.Digest]bool
}

// add adds those of a comparison and reports whether there are any.
func (h hits) add(v contract.OverlapReport, judged map[artifacts.Digest]bool) (any bool) {
	for _, f := range v.Findings {
		if !judged[f.Evaluation] {
			continue
		}
		any = true
		if h.images[f.Kind] == nil {
			h.first[f.Kind], h.images[f.Kind] = f, map[artifacts.Digest]bool{}
		}
		h.images[f.Kind][f.Evaluation] = true
	}
	return any
}

// say counts the images by kind and names the first pair of each.
func (h hits) say(s *Standing) (named []string) {
	for _, kind := range overlap.Kinds() {
		n := len(h.images[kind])
		if n == 0 {
			continue
		}
		s.Images = contract.AddCount(s.Images, string(kind), n)
		f := h.first[kind]
		text := fmt.Sprintf("%s: image %s and training image %s", kind, f.Evaluation.Short(), f.Training.Short())
		if kind == overlap.NearDuplicate {
			text += fmt.Sprintf(", %d bits apart", f.Distance)
		}
		if n > 1 {
			text += fmt.Sprintf(" (%d images)", n)
		}
		named = append(named, text)
	}
	return named
}
