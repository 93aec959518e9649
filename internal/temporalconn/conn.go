package temporalconn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"cxrepro/internal/devserver"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// dialTimeout bounds the wait for a cluster: it is either there or it is not.
const dialTimeout = 15 * time.Second

// restartPatience is how long the embedded server may take to come back, restartPause the time
// between two looks.
const (
	restartPatience = 20 * time.Second
	restartPause    = 300 * time.Millisecond
)

// Conn is a usable namespace.
type Conn struct {
	Client    client.Client
	Config    Config
	Address   string
	Namespace string
	UIAddress string            // of the embedded server; empty when there is none
	Server    *devserver.Server // nil on a cluster
}

// Embedded reports whether the connection is to the embedded server.
func (c *Conn) Embedded() bool { return c.Server != nil }

// Close closes the client, and stops the embedded server if this process runs it. Workers
// are to be stopped before.
func (c *Conn) Close(ctx context.Context) error {
	c.Client.Close()
	if c.Server != nil {
		return c.Server.Stop(ctx)
	}
	return nil
}

// Open connects, starting or joining the embedded server where that is meant, and returns
// when the namespace answers and has the search attributes. ctx bounds the opening only.
//
// Errors: *Error.
func Open(ctx context.Context, o Options) (*Conn, error) {
	c, err := o.Resolve()
	if err != nil {
		return nil, err
	}
	if o.Attributes == nil {
		o.Attributes = SearchAttributes
	}
	if o.Server.Notify != nil {
		for _, s := range c.Ignored {
			o.Server.Notify("not used: " + s)
		}
	}
	if o.Identity == "" {
		host, _ := os.Hostname()
		o.Identity = fmt.Sprintf("cxrepro@%s:%d", host, os.Getpid())
	}
	if c.Embedded {
		return openEmbedded(ctx, o, c)
	}
	conn := &Conn{Config: c, Address: c.Address, Namespace: c.Namespace}
	if conn.Client, err = dial(ctx, o, c.client, c); err != nil {
		return nil, err
	}
	if err := checkAttributes(ctx, conn, o.Attributes); err != nil {
		conn.Client.Close()
		return nil, err
	}
	return conn, nil
}

func openEmbedded(ctx context.Context, o Options, c Config) (*Conn, error) {
	so := o.Server
	so.Namespace, so.SearchAttributes = c.Namespace, o.Attributes
	server, err := devserver.Start(ctx, so)
	if err != nil {
		e := &Error{Kind: KindEmbedded, Namespace: c.Namespace, Err: err}
		var hinted interface{ Hint() string }
		if errors.As(err, &hinted) {
			e.hint = hinted.Hint()
		}
		return nil, e
	}
	c.Address = server.Address()
	conn := &Conn{Config: c, Server: server, Address: c.Address, Namespace: c.Namespace, UIAddress: server.UIAddress()}
	// Compression costs both ends more than the loopback does.
	own := client.Options{HostPort: c.Address, Namespace: c.Namespace, ConnectionOptions: client.ConnectionOptions{GrpcCompression: &client.GrpcCompressionNone{}}}
	if conn.Client, err = dialOwn(ctx, o, own, c); err != nil {
		return nil, errors.Join(err, server.Stop(context.Background()))
	}
	return conn, nil
}

// dial connects and asks for the namespace.
func dial(parent context.Context, o Options, co client.Options, c Config) (client.Client, error) {
	ctx, cancel := context.WithTimeout(parent, dialTimeout)
	defer cancel()
	co.Logger = NewLogger(o.Logger)
	co.Identity = o.Identity
	fail := func(kind Kind, err error, hint string) (client.Client, error) {
		return nil, &Error{Kind: kind, Address: c.Address, Namespace: c.Namespace, Err: err, hint: hint}
	}
	cl, err := client.DialContext(ctx, co)
	if err == nil {
		_, err = cl.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: c.Namespace})
		if err == nil {
			return cl, nil
		}
		cl.Close()
	}
	var missing *serviceerror.NamespaceNotFound
	var notFound *serviceerror.NotFound
	switch {
	case parent.Err() != nil:
		return fail(KindUnreachable, parent.Err(), "")
	case errors.As(err, &missing), errors.As(err, &notFound):
		return fail(KindNamespace, errors.New("there is no such namespace"), "create it: temporal operator namespace create --namespace "+c.Namespace+", or set TEMPORAL_NAMESPACE")
	case refused(err):
		return fail(KindRefused, errors.New("the server refuses these credentials"), "check TEMPORAL_API_KEY or the client certificate, and that they may use this namespace")
	}
	kind, hint, why := diagnose(c.Address, co.ConnectionOptions.TLS, err)
	return fail(kind, why, hint)
}

// dialOwn dials the embedded server. One that was killed just now comes back by itself at the
// same address, which takes seconds.
func dialOwn(ctx context.Context, o Options, co client.Options, c Config) (client.Client, error) {
	until := time.Now().Add(restartPatience)
	for {
		cl, err := dial(ctx, o, co, c)
		var e *Error
		if err == nil || !errors.As(err, &e) || e.Kind != KindUnreachable || ctx.Err() != nil || time.Now().After(until) {
			return cl, err
		}
		select {
		case <-time.After(restartPause):
		case <-ctx.Done():
		}
	}
}

// checkAttributes demands that the namespace of a cluster has the search attributes. A
// cluster that does not let us look is trusted.
func checkAttributes(ctx context.Context, c *Conn, want []string) error {
	if len(want) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	have, err := c.Client.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: c.Namespace})
	if err != nil {
		return nil
	}
	var missing, create []string
	for _, a := range want {
		if have.CustomAttributes[a] != enums.INDEXED_VALUE_TYPE_KEYWORD {
			missing = append(missing, a)
			create = append(create, "--name "+a+" --type Keyword")
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return &Error{Kind: KindSearchAttributes, Address: c.Address, Namespace: c.Namespace,
		Err:  fmt.Errorf("the namespace lacks the Keyword search attributes %s", strings.Join(missing, ", ")),
		hint: "create them: temporal operator search-attribute create --namespace " + c.Namespace + " " + strings.Join(create, " ")}
}
