package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
	"cxrepro/internal/lineage"
	tables "cxrepro/internal/report"
	"cxrepro/internal/spelling"
)

// lineageSearch finds what a reference means.
type lineageSearch struct {
	cat  *catalog.Catalog
	list []*remembered
	x    *lineage.Explorer
	// runs are those that a walk goes through, the one that cells and cases are of first.
	runs []*lineage.Run
}

var (
	cellReference = regexp.MustCompile(`^t[0-9]+/`)
	caseReference = regexp.MustCompile(`^[0-9]{1,7}$`)
	digestPrefix  = regexp.MustCompile(`^(?:[a-z-]+/)?(?:sha256:)?([0-9a-f]{8,64})$`)
)

// choose takes the reproductions that the walk goes through: the named one, the last one that
// has such cells, or all.
func (s *lineageSearch) choose(ref, run string) error {
	if run != "" || cellReference.MatchString(ref) || caseReference.MatchString(ref) {
		which := run
		if which == "" {
			which = latest
		}
		suits := hasTables
		if strings.HasPrefix(ref, "t6/") {
			suits = func(r *remembered) bool { return r.receipt != nil && !r.receipt.Summary.IsZero() }
		}
		r, err := chooseReproduction(s.list, which, suits)
		if err != nil {
			return err
		}
		if r.receipt == nil {
			return notEnded(r)
		}
		s.runs = []*lineage.Run{lineage.NewRun(r.receipt)}
		return nil
	}
	for _, r := range s.list {
		if r.receipt != nil {
			s.runs = append(s.runs, lineage.NewRun(r.receipt))
		}
	}
	return nil
}

func notEnded(r *remembered) error {
	return usageError("the same `cxrepro run` goes on with it", "reproduction %s (%s) has not ended: it has no tables and no receipt", r.ID, r.Name)
}

// find returns the nodes that a reference means: of an answer each call that gave it, of a
// parameter each of its values.
func (s *lineageSearch) find(ctx context.Context, ref string) ([]lineage.Node, error) {
	switch {
	case cellReference.MatchString(ref):
		n, err := s.x.Cell(ctx, s.runs[0], ref)
		return []lineage.Node{n}, err
	case caseReference.MatchString(ref):
		number, err := strconv.Atoi(ref)
		if err != nil {
			return nil, err
		}
		n, err := s.x.Case(ctx, s.runs[0], number)
		if err != nil {
			return nil, usageError("give the reproduction whose benchmark has it", "%v", err)
		}
		return []lineage.Node{n}, nil
	}
	for _, by := range []func(context.Context, string) ([]lineage.Node, error){s.parameter, s.card, s.digest, s.reproduction} {
		if found, err := by(ctx, ref); len(found) > 0 || err != nil {
			return found, err
		}
	}
	return nil, s.unknown(ctx, ref)
}

// parameter finds the values of a name, or the one that is given.
func (s *lineageSearch) parameter(ctx context.Context, ref string) ([]lineage.Node, error) {
	name, value, one := strings.Cut(ref, "=")
	list, err := s.cat.Parameters(ctx, name)
	if err != nil {
		return nil, err
	}
	var ds []artifacts.Digest
	var have []string
	for _, p := range list {
		have = append(have, p.Value)
		if !one || p.Value == value || p.Value == strconv.Quote(value) {
			ds = append(ds, p.Digest)
		}
	}
	if one && len(list) > 0 && len(ds) == 0 {
		return nil, usageError("its values in this store are "+strings.Join(have, ", "), "no key has %s with the value %s", name, value)
	}
	return s.nodes(ctx, ds)
}

// card finds a model by the name of its card, as plans name it and as calls were made with it.
func (s *lineageSearch) card(ctx context.Context, ref string) ([]lineage.Node, error) {
	cards, err := s.cat.Cards(ctx)
	if err != nil {
		return nil, err
	}
	ds := cards[ref]
	for _, r := range s.runs {
		models, err := r.Models(ctx)
		if err != nil {
			return nil, err
		}
		if d, ok := models[ref]; ok && !slices.Contains(ds, d) {
			ds = append(ds, d)
		}
	}
	return s.nodes(ctx, ds)
}

// mostFound is how many digests with one beginning are told apart.
const mostFound = 64

// digest finds what a digest or a key names, by its beginning.
func (s *lineageSearch) digest(ctx context.Context, ref string) ([]lineage.Node, error) {
	m := digestPrefix.FindStringSubmatch(ref)
	if m == nil {
		return nil, nil
	}
	found, err := s.cat.Find(ctx, m[1], mostFound)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return s.x.Pictures(ctx, m[1]) // of a training set, which no statement names one by one
	}
	if len(found) > 1 {
		var list []string
		for _, d := range found[:min(len(found), mostMatches)] {
			list = append(list, d.Hex()[:16])
		}
		return nil, usageError("give more digits", "%q may mean: %s", ref, strings.Join(list, ", "))
	}
	return s.computed(ctx, found)
}

// computed returns what a digest stands for: of a key its call or its result.
func (s *lineageSearch) computed(ctx context.Context, ds []artifacts.Digest) ([]lineage.Node, error) {
	calls, err := s.x.Calls(ctx, ds)
	if len(calls) > 0 || err != nil {
		return calls, err
	}
	steps, err := s.cat.StepsOf(ctx, ds)
	if err != nil {
		return nil, err
	}
	for _, step := range steps {
		ds = []artifacts.Digest{step.Result.Digest}
	}
	return s.nodes(ctx, ds)
}

func (s *lineageSearch) nodes(ctx context.Context, ds []artifacts.Digest) ([]lineage.Node, error) {
	var out []lineage.Node
	for _, d := range ds {
		found, err := s.x.Artifact(ctx, d)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// reproduction finds a run by what every verb takes.
func (s *lineageSearch) reproduction(_ context.Context, ref string) ([]lineage.Node, error) {
	r, err := chooseReproduction(s.list, ref, hasTables)
	if err != nil {
		return nil, nil // it is the last thing that a reference may be: unknown says what there is
	}
	if r.receipt == nil {
		return nil, notEnded(r)
	}
	for _, run := range s.runs {
		if run.Receipt.Reproduction == r.ID {
			return []lineage.Node{s.x.Reproduction(run)}, nil
		}
	}
	return nil, nil
}

// unknown says what a reference may have meant.
func (s *lineageSearch) unknown(ctx context.Context, ref string) error {
	if digestPrefix.MatchString(ref) {
		return &exitError{Code: exitFailed, Err: fmt.Errorf("no statement in the store names %q", ref), Hint: "see `cxrepro artifacts ls` and `cxrepro catalog ls materials --name image`"}
	}
	names, err := s.cat.ParameterNames(ctx)
	if err != nil {
		return err
	}
	cards, err := s.cat.Cards(ctx)
	if err != nil {
		return err
	}
	for name := range cards {
		names = append(names, name)
	}
	for _, r := range s.list {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	name, _, _ := strings.Cut(ref, "=")
	return usageError("see `cxrepro lineage --help` for what a reference is; nearest are "+strings.Join(spelling.Nearest(name, slices.Compact(names), 3), ", "),
		"%q names no cell, case, digest, parameter, model card or reproduction", ref)
}

// lineageError turns what the package says into exit codes.
func lineageError(err error) error {
	var cell *tables.UnknownRefError
	if errors.As(err, &cell) {
		return usageError("`cxrepro report --cells` lists them", "%v", cell)
	}
	return artifactsError(err)
}

// trainedIn is what a store knows of trained weights.
func trainedIn(ctx context.Context, store *artifacts.Repository) (t lineage.Training, err error) {
	checkpoints, err := checkpoint.Checkpoints(ctx, store)
	if err != nil || len(checkpoints) == 0 {
		return t, err
	}
	sets, err := checkpoint.TrainingSets(ctx, store)
	if err != nil {
		return t, err
	}
	batches, err := checkpoint.Batches(ctx, store)
	if err != nil {
		return t, err
	}
	for _, c := range checkpoints {
		t.Checkpoints = append(t.Checkpoints, lineage.Entry[contract.Checkpoint](c))
	}
	for _, s := range sets {
		t.Sets = append(t.Sets, lineage.Entry[contract.TrainingSet](s))
	}
	for _, b := range batches {
		t.Batches = append(t.Batches, lineage.Entry[contract.Batch](b))
	}
	return t, nil
}
