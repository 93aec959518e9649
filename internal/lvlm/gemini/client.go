package gemini

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cloud.google.com/go/auth"
	"google.golang.org/genai"

	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/wire"
)

// Options says where and as what a model is asked.
type Options struct {
	// Endpoint is the endpoint card's name, for records.
	Endpoint string
	// URL is the service's base; empty means the location's own.
	URL               string
	Project, Location string
	// Model is the model id that is sent.
	Model string
	// APIVersion defaults to v1.
	APIVersion string
	// Credentials give access tokens; see Credentials.
	Credentials *auth.Credentials
	// Timeout bounds one request; Concurrency is how many are expected at a time.
	Timeout     time.Duration
	Concurrency int
}

// Client asks one model in one location.
type Client struct {
	o      Options
	models *genai.Models
}

var _ lvlm.Asker = (*Client)(nil)

// New returns a client. Nothing is sent yet.
func New(ctx context.Context, o Options) (*Client, error) {
	switch {
	case o.Project == "" || o.Location == "":
		return nil, errors.New("gemini: no project or location")
	case o.Model == "":
		return nil, errors.New("gemini: no model id to send")
	case o.Credentials == nil:
		return nil, errors.New("gemini: no credentials")
	case o.Timeout <= 0:
		return nil, errors.New("gemini: no timeout for one request")
	case o.Concurrency <= 0:
		return nil, errors.New("gemini: no number of requests at a time")
	}
	if o.APIVersion == "" {
		o.APIVersion = "v1"
	}
	if o.URL == "" {
		o.URL = serviceURL(o.Location)
	}
	client := wire.Client(o.Concurrency)
	client.Transport = &authorised{next: client.Transport, credentials: o.Credentials}
	c, err := genai.NewClient(ctx, &genai.ClientConfig{
		Backend: genai.BackendVertexAI, Project: o.Project, Location: o.Location, HTTPClient: client,
		HTTPOptions: genai.HTTPOptions{BaseURL: o.URL, APIVersion: o.APIVersion},
	})
	if err != nil {
		// The SDK's message may print its whole configuration.
		return nil, &lvlm.CallError{Class: lvlm.Configured, Detail: fmt.Sprintf("endpoint %s: the SDK takes neither project %s nor location %s as they are", o.Endpoint, o.Project, o.Location)}
	}
	return &Client{o: o, models: c.Models}, nil
}

// serviceURL is the address of Vertex AI for a location.
func serviceURL(location string) string {
	switch location {
	case "global":
		return "https://aiplatform.googleapis.com/"
	case "us", "eu":
		return "https://aiplatform." + location + ".rep.googleapis.com/"
	}
	return "https://" + location + "-aiplatform.googleapis.com/"
}

// String names the client without its credentials.
func (c *Client) String() string { return fmt.Sprintf("%s at %s", c.o.Model, c.o.Endpoint) }

// Prepare implements lvlm.Asker.
func (c *Client) Prepare(_ context.Context, r lvlm.Request, pictures lvlm.PictureFunc) (lvlm.Send, error) {
	if r.Adapter != lvlm.GeminiVersion {
		return nil, &lvlm.CallError{Class: lvlm.Configured, Detail: fmt.Sprintf("the request is for adapter %q, endpoint %s has %s", r.Adapter, c.o.Endpoint, lvlm.GeminiVersion)}
	}
	q, err := newQuery(r, pictures)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (lvlm.Reply, error) { return c.send(ctx, r, q) }, nil
}

// Ask sends a request once.
func (c *Client) Ask(ctx context.Context, r lvlm.Request, pictures lvlm.PictureFunc) (lvlm.Reply, error) {
	send, err := c.Prepare(ctx, r, pictures)
	if err != nil {
		return lvlm.Reply{}, err
	}
	return send(ctx)
}

func (c *Client) send(ctx context.Context, r lvlm.Request, q *query) (reply lvlm.Reply, err error) {
	t := &try{pictures: q.pictures}
	limited, cancel := context.WithTimeout(t.watch.Context(context.WithValue(ctx, tryKey{}, t)), c.o.Timeout)
	defer cancel()
	start := time.Now()
	got, err := c.models.GenerateContent(limited, c.o.Model, q.contents, q.config)
	latency := time.Since(start)
	unread := t.body.Failed()
	switch {
	case err == nil:
		reply, err = c.read(r, t, got)
	case unread != nil && limited.Err() == nil:
		// Nobody got a whole request. It is not the endpoint's doing.
		err = unread
	default:
		reply, err = c.failed(ctx, r, t, err)
	}
	if err != nil {
		return lvlm.Reply{}, err
	}
	s := &reply.Served
	s.Endpoint, s.Deployment, s.APIVersion, s.Region, s.SDK = c.o.Endpoint, c.o.Model, c.o.APIVersion, c.o.Location, sdkVersion()
	s.Latency = latency
	reply.Hide(t.token)
	return reply, nil
}

// sdkVersion is the SDK for records; it cannot change while the program runs.
var sdkVersion = sync.OnceValue(func() string { return wire.SDK("genai", "google.golang.org/genai") })
