package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"cxrepro/internal/contract"
)

// launchPrefix begins the id of an effort whose data set is still being read: it becomes a
// reproduction, with an id of its own, when the manifest is known.
const launchPrefix = "launch/"

// launchSpec returns the spec id behind a launch's id.
func launchSpec(id string) (spec string, ok bool) { return strings.CutPrefix(id, launchPrefix) }

// launchView looks at a launch: its ingest while it runs, else how it ended.
func launchView(ctx context.Context, c client.Client, spec string) (v view, launched contract.LaunchResult, err error) {
	d, err := c.DescribeWorkflow(ctx, contract.LaunchWorkflowID(spec), "")
	if gone(err) {
		return v, launched, usageError("`cxrepro status` lists what there is", "no launch %s is known to this server", launchPrefix+spec)
	}
	if err != nil {
		return v, launched, serverError(err)
	}
	if d.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		v, err = lookIngest(ctx, c, spec)
		v.Started = d.WorkflowStartTime
		if err != nil {
			return v, launched, &exitError{Code: exitUnreachable, Err: fmt.Errorf("no worker answered: %w", err), Hint: "start one with `cxrepro up` or `cxrepro worker`"}
		}
		return v, launched, nil
	}
	return v, launched, c.GetWorkflow(ctx, contract.LaunchWorkflowID(spec), "").Get(ctx, &launched)
}

// showLaunch prints a launch for `status`.
func (a *app) showLaunch(ctx context.Context, c client.Client, id, spec string) error {
	v, launched, err := launchView(ctx, c, spec)
	var ee *exitError
	switch {
	case errors.As(err, &ee):
		return err
	case err != nil:
		return workflowError(err)
	case launched.Reproduction != "":
		if a.JSON() {
			return a.printJSON(map[string]string{"launch": id, "reproduction": launched.Reproduction})
		}
		_, err := fmt.Fprintf(a.out, "%s became reproduction %s; see `cxrepro status %s`\n", id, launched.Reproduction, launched.Reproduction)
		return err
	case a.JSON():
		return a.printJSON(v)
	}
	fmt.Fprintf(a.out, "%s reads its data set since %s\n", id, v.Started.Local().Format("2006-01-02 15:04:05"))
	for _, s := range v.Stages {
		fmt.Fprintln(a.out, stageLine(s, &pace{}))
	}
	for _, t := range v.Trouble {
		fmt.Fprintln(a.out, "trying again: "+t)
	}
	return nil
}

// followLaunch waits until a launch has become a reproduction and returns that one's id.
func (a *app) followLaunch(ctx context.Context, c client.Client, d display, spec string) (string, error) {
	var launched contract.LaunchResult
	if _, _, err := launchView(ctx, c, spec); err != nil {
		var ee *exitError
		if errors.As(err, &ee) && ee.Code == exitUsage {
			return "", err
		}
	}
	run := c.GetWorkflow(ctx, contract.LaunchWorkflowID(spec), "")
	err := waitFor(ctx, d, func(ctx context.Context) (view, error) { return lookIngest(ctx, c, spec) }, result(ctx, run, &launched))
	if err == nil {
		d.note("reproduction " + launched.Reproduction)
	}
	return launched.Reproduction, err
}

// controlLaunch carries out a word of control on a launch: it can be cancelled, and knows
// no pause.
func (a *app) controlLaunch(ctx context.Context, c client.Client, id, spec, update string) error {
	if update != contract.UpdateCancel {
		return usageError("wait until it has become a reproduction (`cxrepro watch "+id+"`), or cancel it; nothing that was read is lost",
			"%s is still reading its data set and cannot be paused", id)
	}
	name := contract.LaunchWorkflowID(spec)
	if _, _, err := launchView(ctx, c, spec); err != nil {
		var ee *exitError
		if errors.As(err, &ee) && ee.Code == exitUsage {
			return err
		}
	}
	if err := c.CancelWorkflow(ctx, name, ""); err != nil {
		return serverError(err)
	}
	err := c.GetWorkflow(ctx, name, "").Get(ctx, nil)
	if err == nil {
		return &exitError{Code: exitFailed, Err: fmt.Errorf("%s had become a reproduction already", id), Hint: "see `cxrepro status`"}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &exitError{Code: exitUnreachable, Err: errors.New("no worker carried it out yet"), Hint: "it ends when a worker runs: `cxrepro up` or `cxrepro worker`"}
	}
	if a.JSON() {
		return a.printJSON(map[string]string{"launch": id, "state": contract.StateCancelled})
	}
	_, err = fmt.Fprintf(a.out, "%s is cancelled\n", id)
	return err
}
