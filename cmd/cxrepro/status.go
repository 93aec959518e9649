package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
)

// statusAll lists what server and store know.
func (a *app) statusAll(ctx context.Context) (err error) {
	c, done, err := a.maybeJoin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	list, err := finished(ctx, store)
	if err != nil {
		return err
	}
	if c != nil {
		if list, err = underWay(ctx, c, list); err != nil {
			return serverError(err)
		}
	}
	if list, err = begun(ctx, store, list); err != nil {
		return err
	}
	slices.SortFunc(list, func(x, y known) int { return y.Started.Compare(x.Started) })
	if a.JSON() {
		if list == nil {
			list = []known{}
		}
		return json.NewEncoder(a.out).Encode(list)
	}
	if len(list) == 0 {
		a.say("nothing was run here yet; `cxrepro demo` runs a first experiment")
		return nil
	}
	t := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tNAME\tSTATE\tSTARTED\tTOOK")
	for _, k := range list {
		took := ""
		if k.Closed != nil {
			took = k.Closed.Sub(k.Started).Round(time.Second).String()
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", k.ID, k.Name, k.State, k.Started.Local().Format("2006-01-02 15:04:05"), took)
	}
	return t.Flush()
}

// finished lists reproductions by the receipts in the store.
func finished(ctx context.Context, store *artifacts.Repository) ([]known, error) {
	var list []known
	err := store.Keys(ctx, contract.StepReproduction, func(key artifacts.Key, _ artifacts.Info) error {
		rec, err := store.Lookup(ctx, key)
		if errors.Is(err, artifacts.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := store.Get(ctx, rec.Result)
		if err != nil {
			return err
		}
		var r contract.Receipt
		if err := json.Unmarshal(data, &r); err != nil {
			return fmt.Errorf("receipt %s: %w", rec.Result, err)
		}
		list = append(list, known{ID: r.Reproduction, Name: r.Name, State: contract.StateDone, Started: r.Launched, Closed: &r.Ended, Paper: r.Paper, DataUse: r.DataUse})
		return nil
	})
	if err != nil {
		return nil, storeError(err)
	}
	return list, nil
}

// stateUnfinished is a reproduction that was begun and has no receipt: it was paused, cancelled
// or killed, or ended with undetermined cases, and the same `run` goes on with it.
const stateUnfinished = "unfinished"

// begun adds the reproductions that the store knows by their open pins.
func begun(ctx context.Context, store *artifacts.Repository, list []known) ([]known, error) {
	pins, err := store.Pins(ctx)
	if err != nil {
		return nil, storeError(err)
	}
	for _, p := range pins {
		id, ok := strings.CutPrefix(p.Name, contract.PinPrefix)
		if !ok || !p.Open || slices.ContainsFunc(list, func(k known) bool { return k.ID == id }) {
			continue
		}
		spec, err := specOf(ctx, store, p)
		if err != nil {
			return nil, storeError(fmt.Errorf("reproduction %s: %w", id, err))
		}
		list = append(list, known{ID: id, Name: spec.Name, State: stateUnfinished, Started: p.Created, Paper: spec.Paper, DataUse: spec.Dataset.DataUse})
	}
	return list, nil
}

// specOf returns the spec of the plan that a reproduction's pin keeps; a zero one when the
// pin keeps none.
func specOf(ctx context.Context, store *artifacts.Repository, p artifacts.Pin) (experiments.Spec, error) {
	var plan experiments.Plan
	for _, root := range p.Roots {
		if root.MediaType != experiments.PlanMediaType {
			continue
		}
		data, err := store.Get(ctx, root)
		if err != nil {
			return plan.Spec, err
		}
		err = json.Unmarshal(data, &plan)
		return plan.Spec, err
	}
	return plan.Spec, nil
}

// underWay adds the launches and reproductions of the server that have no receipt.
func underWay(ctx context.Context, c client.Client, list []known) ([]known, error) {
	var page []byte
	var launches []string // seen already, newest first
	for {
		res, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: fmt.Sprintf("WorkflowType IN ('%s', '%s')", contract.Launch.Name, contract.Reproduction.Name), PageSize: 200, NextPageToken: page,
		})
		if err != nil {
			return nil, err
		}
		for _, e := range res.GetExecutions() {
			id := contract.ReproductionOf(e.GetExecution().GetWorkflowId())
			state := closedState(e.GetStatus())
			if id == "" {
				id = strings.TrimPrefix(e.GetExecution().GetWorkflowId(), "cxrepro/")
				older := slices.Contains(launches, id)
				launches = append(launches, id)
				if older || state == contract.StateDone {
					continue // a newer one, or the reproduction it started, is what counts
				}
				if state == contract.StateRunning {
					state = contract.StageIngest
				}
			}
			if slices.ContainsFunc(list, func(k known) bool { return k.ID == id }) {
				continue
			}
			if state == contract.StateDone {
				state = stateUnfinished // it ended without a recorded receipt: cases are undetermined
			}
			k := known{ID: id, State: state, Started: e.GetStartTime().AsTime()}
			if e.GetCloseTime() != nil {
				at := e.GetCloseTime().AsTime()
				k.Closed = &at
			}
			for name, to := range map[string]*string{contract.AttrPaper: &k.Paper, contract.AttrDataUse: &k.DataUse} {
				if p, ok := e.GetSearchAttributes().GetIndexedFields()[name]; ok {
					// An attribute that cannot be read stays empty.
					_ = converter.GetDefaultDataConverter().FromPayload(p, to)
				}
			}
			k.Name = k.Paper
			if v, err := lookReproduction(ctx, c, id); err == nil && state == contract.StateRunning {
				k.State = v.State
			}
			list = append(list, k)
		}
		if page = res.GetNextPageToken(); len(page) == 0 {
			return list, nil
		}
	}
}

// statusOne describes one reproduction: its receipt if there is one, else its progress.
func (a *app) statusOne(ctx context.Context, id string) (err error) {
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	r, s, err := receiptOf(ctx, store, id)
	if err != nil {
		return err
	}
	if r != nil {
		return a.printOutcome(ctx, store, r, s)
	}
	c, done, err := a.maybeJoin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	unknown := usageError("`cxrepro status` lists what there is", "no reproduction %s is known here", id)
	if c == nil {
		return unknown
	}
	if spec, ok := launchSpec(id); ok {
		return a.showLaunch(ctx, c, id, spec)
	}
	v, err := lookReproduction(ctx, c, id)
	if gone(err) {
		return unknown
	}
	if err != nil {
		return &exitError{Code: exitUnreachable, Err: fmt.Errorf("no worker answered: %w", err), Hint: "start one with `cxrepro up` or `cxrepro worker`, or go on with `cxrepro run`"}
	}
	if v.State == contract.StateDone {
		v.State = stateUnfinished // no receipt is recorded: cases are undetermined
	}
	if a.JSON() {
		return json.NewEncoder(a.out).Encode(v)
	}
	fmt.Fprintf(a.out, "reproduction %s is %s since %s\n", id, v.State, v.Started.Local().Format("2006-01-02 15:04:05"))
	if v.Gate.Paused {
		fmt.Fprintf(a.out, "paused: %s\n", v.Gate.Reason)
	}
	for _, st := range v.Stages {
		fmt.Fprintln(a.out, stageLine(st, &pace{}))
	}
	for _, t := range v.Trouble {
		fmt.Fprintln(a.out, "trying again: "+t)
	}
	return nil
}

// receiptOf returns the receipt of a reproduction that is finished, else nil.
func receiptOf(ctx context.Context, store *artifacts.Repository, id string) (*contract.Receipt, *contract.Summary, error) {
	var found *artifacts.Ref
	err := store.Keys(ctx, contract.StepReproduction, func(key artifacts.Key, _ artifacts.Info) error {
		rec, err := store.Lookup(ctx, key)
		if errors.Is(err, artifacts.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := store.Get(ctx, rec.Result)
		if err != nil {
			return err
		}
		var r contract.Receipt
		if json.Unmarshal(data, &r) == nil && r.Reproduction == id {
			found = &rec.Result
		}
		return nil
	})
	if err != nil {
		return nil, nil, storeError(err)
	}
	if found == nil {
		return nil, nil, nil
	}
	return loadReceipt(ctx, store, *found)
}
