package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// remembered is a reproduction as the store knows it.
type remembered struct {
	known
	// receipt is there when it has ended by itself: finished, or with undetermined cases.
	receipt *contract.Receipt
	// ref names the receipt in the store.
	ref artifacts.Ref
	// asks: its spec asks models.
	asks bool
}

// finished reports whether nothing of it is missing.
func (r *remembered) finished() bool { return r.State == contract.StateDone }

// ended is when it ended, or was begun where that is all that is known.
func (r *remembered) ended() time.Time {
	if r.Closed != nil {
		return *r.Closed
	}
	return r.Started
}

// remembers opens the store and lists the reproductions that it knows.
func (a *app) remembers(ctx context.Context) (*artifacts.Repository, []*remembered, error) {
	store, err := a.openStore(ctx)
	if err != nil {
		return nil, nil, err
	}
	list, err := reproductions(ctx, store)
	return store, list, err
}

// reproductions lists what the store knows, finished or not, the one that was begun last
// first.
func reproductions(ctx context.Context, store *artifacts.Repository) ([]*remembered, error) {
	var list []*remembered
	err := store.Keys(ctx, contract.StepReproduction, func(key artifacts.Key, _ artifacts.Info) error {
		rec, err := store.Lookup(ctx, key)
		if errors.Is(err, artifacts.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		r, err := rememberedReceipt(ctx, store, rec.Result)
		if err == nil {
			r.State = contract.StateDone
			list = append(list, r)
		}
		return err
	})
	if err != nil {
		return nil, storeError(err)
	}
	pins, err := store.Pins(ctx)
	if err != nil {
		return nil, storeError(err)
	}
	for _, p := range pins {
		id, ok := strings.CutPrefix(p.Name, contract.PinPrefix)
		if !ok || !p.Open || slices.ContainsFunc(list, func(r *remembered) bool { return r.ID == id }) {
			continue
		}
		r, err := rememberedPin(ctx, store, id, p)
		if err != nil {
			return nil, storeError(fmt.Errorf("reproduction %s: %w", id, err))
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(x, y *remembered) int { return y.Started.Compare(x.Started) })
	return list, nil
}

func rememberedReceipt(ctx context.Context, store *artifacts.Repository, ref artifacts.Ref) (*remembered, error) {
	data, err := store.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	var r contract.Receipt
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("receipt %s: %w", ref, err)
	}
	k := known{ID: r.Reproduction, Name: r.Name, State: stateUnfinished, Started: r.Launched, Closed: &r.Ended, Paper: r.Paper, DataUse: r.DataUse}
	return &remembered{known: k, receipt: &r, ref: ref, asks: !r.Tables.IsZero() || !r.AgentTables.IsZero()}, nil
}

// rememberedPin reads what an open pin keeps: the receipt of a reproduction with
// undetermined cases, or the plan alone.
func rememberedPin(ctx context.Context, store *artifacts.Repository, id string, p artifacts.Pin) (*remembered, error) {
	for _, root := range p.Roots {
		if root.MediaType == contract.ReceiptMediaType {
			return rememberedReceipt(ctx, store, root)
		}
	}
	spec, err := specOf(ctx, store, p)
	if err != nil {
		return nil, err
	}
	k := known{ID: id, Name: spec.Name, State: stateUnfinished, Started: p.Created, Paper: spec.Paper, DataUse: spec.Dataset.DataUse}
	return &remembered{known: k, asks: spec.Evaluation != nil || spec.Agent != nil}, nil
}

var (
	reproductionID = regexp.MustCompile(`^[0-9a-f]{16}$`)
	idBeginning    = regexp.MustCompile(`^[0-9a-f]{1,15}$`)
)

// fewestDigits is how many digits of the beginning name a reproduction.
const fewestDigits = 6

// chooseReproduction finds a reproduction by what every verb takes: its id, at least six digits of its
// beginning, the name of its experiment, or latest. Of several under one name, and for
// latest, it is the one that ended last of those that fit, or of all when none fits.
//
// Errors: usage errors that name what there is.
func chooseReproduction(list []*remembered, which string, fits func(*remembered) bool) (*remembered, error) {
	if len(list) == 0 {
		return nil, usageError("run one with `cxrepro demo` or `cxrepro run SPEC`", "no reproduction is known here")
	}
	best := func(named func(*remembered) bool) (found *remembered) {
		for _, r := range list {
			if named(r) && (found == nil || fits(r) && !fits(found) || fits(r) == fits(found) && r.ended().After(found.ended())) {
				found = r
			}
		}
		return found
	}
	if which == latest {
		return best(func(*remembered) bool { return true }), nil
	}
	if r := best(func(r *remembered) bool { return r.ID == which }); r != nil {
		return r, nil
	}
	if r := best(func(r *remembered) bool { return r.Name == which }); r != nil {
		return r, nil
	}
	var begin []*remembered
	if idBeginning.MatchString(which) {
		if len(which) < fewestDigits {
			return nil, usageError("`cxrepro status` lists ids", "%q is too short for the beginning of an id: %d digits are needed", which, fewestDigits)
		}
		for _, r := range list {
			if strings.HasPrefix(r.ID, which) {
				begin = append(begin, r)
			}
		}
	}
	switch len(begin) {
	case 1:
		return begin[0], nil
	case 0:
		return nil, usageError("there are: "+nameList(list), "no reproduction %s is known here", which)
	}
	return nil, usageError("there are: "+nameList(begin), "%d reproductions begin with %s", len(begin), which)
}

// mostNamed is how many reproductions a message names.
const mostNamed = 8

func nameList(list []*remembered) string {
	var names []string
	for i, r := range list {
		if i == mostNamed {
			names = append(names, fmt.Sprintf("and %d more (`cxrepro status`)", len(list)-i))
			break
		}
		names = append(names, r.Name+" "+r.ID)
	}
	return strings.Join(names, ", ")
}

// anyOne fits every reproduction.
func anyOne(*remembered) bool { return true }

// unfinished fits those that a word of control can reach.
func unfinished(r *remembered) bool { return !r.finished() }

// named makes an id of what a verb was given, for the server. An id in full, and that of a
// launch, is for the server to know and needs no store.
func (a *app) named(ctx context.Context, which string, fits func(*remembered) bool) (string, error) {
	if _, ok := launchSpec(which); ok || reproductionID.MatchString(which) {
		return which, nil
	}
	_, list, err := a.remembers(ctx)
	if err != nil {
		return "", err
	}
	r, err := chooseReproduction(list, which, fits)
	if err != nil {
		return "", err
	}
	return r.ID, nil
}
