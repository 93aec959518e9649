package main

import (
	"context"
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"cxrepro/internal/devserver"
	"cxrepro/internal/temporalconn"
)

// joinTemporal connects to a server that runs already; it never starts one.
func (a *app) joinTemporal(ctx context.Context) (*temporalconn.Conn, error) {
	o := a.temporalOptions(nil)
	o.Server.JoinOnly = true
	conn, err := temporalconn.Open(ctx, o)
	if errors.Is(err, devserver.ErrNotRunning) {
		return nil, &exitError{Code: exitUnreachable, Err: err, Hint: "start one with `cxrepro up`, or do everything in one process with `cxrepro run`"}
	}
	if err != nil {
		return nil, temporalError(err)
	}
	return conn, nil
}

// closeSoon ends a connection that no worker uses.
func closeSoon(conn *temporalconn.Conn) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	return conn.Close(ctx)
}

// pollers returns how many workers look for work on a queue.
func pollers(ctx context.Context, c client.Client, queue string) (int, error) {
	d, err := c.DescribeTaskQueue(ctx, queue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return 0, err
	}
	return len(d.GetPollers()), nil
}
