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

	enumspb "go.temporal.io/api/enums/v1"
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
	_, there, err := a.remembers(ctx)
	if err != nil {
		return err
	}
	var list []known
	for _, r := range there {
		if r.finished() {
			list = append(list, r.known)
		}
	}
	if c != nil {
		if list, err = underWay(ctx, c, list); err != nil {
			return serverError(err)
		}
	}
	for _, r := range there { // what the server does not know any more
		if !slices.ContainsFunc(list, func(k known) bool { return k.ID == r.ID }) {
			list = append(list, r.known)
		}
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

// stateUnfinished is a reproduction that was begun and has no receipt: it was paused, cancelled
// or killed, or ended with undetermined cases, and the same `run` goes on with it.
const stateUnfinished = "unfinished"

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

// statusOne describes one reproduction: its receipt if it is finished, its progress while the
// server knows it, else what the store remembers.
func (a *app) statusOne(ctx context.Context, which string) (err error) {
	store, list, err := a.remembers(ctx)
	if err != nil {
		return err
	}
	spec, launched := launchSpec(which)
	var r *remembered
	var unknown error
	if !launched {
		if r, unknown = chooseReproduction(list, which, anyOne); unknown != nil && !reproductionID.MatchString(which) {
			return unknown
		}
	}
	if r != nil {
		which = r.ID
		if r.finished() {
			return a.showRemembered(ctx, store, r)
		}
	}
	c, done, err := a.maybeJoin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if launched {
		if c == nil {
			return usageError("`cxrepro status` lists what there is", "no server runs here that could know %s", which)
		}
		return a.showLaunch(ctx, c, which, spec)
	}
	if c != nil {
		if running, err := underServer(ctx, c, which); err != nil {
			return err
		} else if running {
			return a.showProgress(ctx, c, which)
		}
	}
	if r == nil {
		return unknown
	}
	return a.showRemembered(ctx, store, r)
}

// underServer reports whether the server has the reproduction and it is not closed. A server
// that does not answer is an error.
func underServer(ctx context.Context, c client.Client, id string) (bool, error) {
	d, err := c.DescribeWorkflow(ctx, contract.ReproductionWorkflowID(id), "")
	switch {
	case gone(err):
		return false, nil
	case err != nil:
		return false, serverError(err)
	}
	return d.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil
}

// showProgress prints how far a reproduction is that the server runs.
func (a *app) showProgress(ctx context.Context, c client.Client, id string) error {
	v, err := lookReproduction(ctx, c, id)
	if err != nil {
		return &exitError{Code: exitUnreachable, Err: fmt.Errorf("no worker answered: %w", err), Hint: "start one with `cxrepro up` or `cxrepro worker`, or go on with `cxrepro run`"}
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

// halfDone is what `status ID` prints with --json of a reproduction that only the store
// remembers and that has not come to its end.
type halfDone struct {
	known
	// Steps and Calls are those that it recorded itself.
	Steps int64 `json:"steps_recorded"`
	Calls int64 `json:"calls_recorded"`
}

// showRemembered prints what the store knows of a reproduction: tables and receipt where it
// has one, else what it recorded before it was stopped, and how it goes on.
func (a *app) showRemembered(ctx context.Context, store *artifacts.Repository, r *remembered) (err error) {
	if r.receipt != nil {
		s, err := loadFindings(ctx, store, r.receipt)
		if err != nil {
			return err
		}
		if !r.finished() && !a.JSON() {
			fmt.Fprintf(a.out, "reproduction %s (%s) is unfinished: it ended %s with undetermined cases\n\n", r.ID, r.Name, r.ended().Local().Format("2006-01-02 15:04:05"))
		}
		return a.printOutcome(ctx, store, r.receipt, s)
	}
	h := halfDone{known: r.known}
	x := a.index(store)
	defer func() { err = errors.Join(err, x.Close()) }()
	cat, err := x.catalog(ctx)
	if err != nil {
		return err
	}
	own, err := cat.Reproductions(ctx)
	if err != nil {
		return err
	}
	for _, o := range own {
		if o.Name == r.ID {
			h.Steps, h.Calls = o.Steps, o.Calls
		}
	}
	if a.JSON() {
		return json.NewEncoder(a.out).Encode(h)
	}
	fmt.Fprintf(a.out, "reproduction %s (%s) is unfinished: begun %s, then paused, cancelled or stopped\nrecorded so far: %d steps and %d calls\n", r.ID, r.Name, r.Started.Local().Format("2006-01-02 15:04:05"), h.Steps, h.Calls)
	fmt.Fprintln(a.out, "the same `cxrepro run` goes on with it and does nothing of this again")
	return nil
}
