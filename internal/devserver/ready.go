package devserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const pollEvery = 40 * time.Millisecond

// waitReady returns once the namespace answers and takes the search attributes in queries
// and workflow starts. It gives up when ctx ends or ended closes.
func waitReady(ctx context.Context, r record, attributes []string, ended <-chan struct{}) error {
	conn, err := grpc.NewClient(r.Address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: time.Second}), grpc.WithNoProxy())
	if err != nil {
		return err
	}
	defer conn.Close()
	frontend := workflowservice.NewWorkflowServiceClient(conn)
	err = poll(ctx, ended, func(ctx context.Context) error {
		conn.ResetConnectBackoff()
		_, err := frontend.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: r.Namespace})
		return err
	})
	if err != nil {
		return fmt.Errorf("wait for namespace %s on %s: %w", r.Namespace, r.Address, err)
	}
	if err := addAttributes(ctx, operatorservice.NewOperatorServiceClient(conn), r.Namespace, attributes); err != nil {
		return err
	}
	if len(attributes) == 0 {
		return nil
	}
	query := strings.Join(attributes, " = 'x' OR ") + " = 'x'"
	err = poll(ctx, ended, func(ctx context.Context) error {
		_, err := frontend.CountWorkflowExecutions(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: r.Namespace, Query: query})
		return err
	})
	if err != nil {
		return fmt.Errorf("wait for search attributes %s: %w", strings.Join(attributes, ", "), err)
	}
	return nil
}

// addAttributes registers the attributes that the namespace lacks: the server's own flag
// does so only when it makes the namespace.
func addAttributes(ctx context.Context, op operatorservice.OperatorServiceClient, namespace string, attributes []string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if len(attributes) == 0 {
		return nil
	}
	have, err := op.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return fmt.Errorf("list search attributes: %w", err)
	}
	missing := map[string]enums.IndexedValueType{}
	for _, a := range attributes {
		if _, ok := have.CustomAttributes[a]; !ok {
			missing[a] = enums.INDEXED_VALUE_TYPE_KEYWORD
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = op.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: namespace, SearchAttributes: missing})
	var exists *serviceerror.AlreadyExists
	if err != nil && !errors.As(err, &exists) {
		names := make([]string, 0, len(missing))
		for a := range missing {
			names = append(names, a)
		}
		slices.Sort(names)
		return fmt.Errorf("register search attributes %s: %w", strings.Join(names, ", "), err)
	}
	return nil
}

// poll calls try until it succeeds, ctx ends or ended closes. The last error of try is
// part of what it returns.
func poll(ctx context.Context, ended <-chan struct{}, try func(context.Context) error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var last error
	for {
		one, cancel := context.WithTimeout(ctx, time.Second)
		err := try(one)
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (last answer: %v)", ctx.Err(), last)
		case <-ended:
			return errExited
		case <-tick.C:
		}
	}
}

// answers reports whether the server of r is there now.
func answers(ctx context.Context, r record) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return waitReady(ctx, r, nil, nil)
}
