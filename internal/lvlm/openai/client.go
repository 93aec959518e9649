package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/azure"
	"github.com/openai/openai-go/v3/option"

	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/wire"
)

// Options says where and as what a model is asked.
type Options struct {
	// Endpoint is the endpoint card's name, for records.
	Endpoint string
	// URL is the base of the API, for example http://127.0.0.1:8000/v1/; for Azure that of
	// the resource.
	URL string
	// Model is the name that is sent; for Azure the deployment.
	Model string
	// Key is the credential; none sends none.
	Key lvlm.Secret
	// APIVersion is Azure's; empty means plain chat completions.
	APIVersion string
	// LimitField carries the token limit: max_tokens or max_completion_tokens. Default
	// max_tokens, for Azure max_completion_tokens.
	LimitField string
	// Timeout bounds one request; Concurrency is how many are expected at a time.
	Timeout     time.Duration
	Concurrency int
}

// Client asks one model at one endpoint.
type Client struct {
	o    Options
	chat sdk.ChatCompletionService
}

var _ lvlm.Asker = (*Client)(nil)

// New returns a client. Nothing is sent yet.
func New(o Options) (*Client, error) {
	switch {
	case o.URL == "":
		return nil, errors.New("openai: no url")
	case o.Model == "":
		return nil, errors.New("openai: no model name to send")
	case o.Timeout <= 0:
		return nil, errors.New("openai: no timeout for one request")
	case o.Concurrency <= 0:
		return nil, errors.New("openai: no number of requests at a time")
	}
	if o.LimitField == "" {
		o.LimitField = "max_tokens"
		if o.APIVersion != "" {
			o.LimitField = "max_completion_tokens"
		}
	}
	opts := []option.RequestOption{option.WithHTTPClient(wire.Client(o.Concurrency)), option.WithMaxRetries(0)}
	if o.APIVersion != "" {
		opts = append(opts, azure.WithEndpoint(o.URL, o.APIVersion), azure.WithAPIKey(o.Key.Reveal()))
		if strings.HasPrefix(o.URL, "http://") {
			opts = append(opts, azure.WithUnsafeAllowHTTP()) // the SDK takes it for loopback only
		}
	} else {
		opts = append(opts, option.WithBaseURL(strings.TrimRight(o.URL, "/")+"/"))
		if !o.Key.IsZero() {
			opts = append(opts, option.WithAPIKey(o.Key.Reveal()))
		}
	}
	// The service without its client: a client would read OPENAI_* variables.
	return &Client{o: o, chat: sdk.NewChatCompletionService(opts...)}, nil
}

// String names the client without its credential.
func (c *Client) String() string { return fmt.Sprintf("%s at %s", c.o.Model, c.o.Endpoint) }

// Prepare implements lvlm.Asker.
func (c *Client) Prepare(_ context.Context, r lvlm.Request, pictures lvlm.PictureFunc) (lvlm.Send, error) {
	if r.Adapter != lvlm.ChatVersion {
		return nil, &lvlm.CallError{Class: lvlm.Configured, Detail: fmt.Sprintf("the request is for adapter %q, endpoint %s has %s", r.Adapter, c.o.Endpoint, lvlm.ChatVersion)}
	}
	b, err := c.body(r, pictures)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (lvlm.Reply, error) { return c.send(ctx, r, b) }, nil
}

// Ask sends a request once.
func (c *Client) Ask(ctx context.Context, r lvlm.Request, pictures lvlm.PictureFunc) (lvlm.Reply, error) {
	send, err := c.Prepare(ctx, r, pictures)
	if err != nil {
		return lvlm.Reply{}, err
	}
	return send(ctx)
}

func (c *Client) send(ctx context.Context, r lvlm.Request, b *body) (reply lvlm.Reply, err error) {
	var watch wire.Watch
	try, cancel := context.WithTimeout(watch.Context(ctx), c.o.Timeout)
	defer cancel()
	var res *http.Response
	start := time.Now()
	// The SDK is given the model alone, which is all that its Azure option reads.
	completion, err := c.chat.New(try, sdk.ChatCompletionNewParams{Model: c.o.Model}, option.WithMiddleware(b.send), option.WithResponseInto(&res))
	latency := time.Since(start)
	unread := b.Failed()
	switch {
	case err != nil && unread != nil && try.Err() == nil:
		// Nobody got a whole request. It is not the endpoint's doing.
		err = unread
	case res != nil && (res.StatusCode < 200 || res.StatusCode > 299):
		reply, err = c.rejected(r, res)
	case err != nil:
		e := wire.Failure(ctx, err, c.o.Timeout, watch.Sent())
		if res != nil {
			e.Status = res.StatusCode
			if try.Err() == nil && !isJSON(res.Header) {
				e.Class, e.Detail = lvlm.Configured, "the reply is no JSON; is the card's url the base of the API?"
			}
		}
		err = e
	default:
		reply, err = c.read(r, completion)
	}
	if err != nil {
		return lvlm.Reply{}, err
	}
	c.provenance(&reply.Served, res.Header)
	reply.Served.Latency = latency
	reply.Hide(c.o.Key)
	return reply, nil
}

func (c *Client) provenance(s *lvlm.Served, h http.Header) {
	s.Endpoint, s.Deployment, s.APIVersion, s.SDK = c.o.Endpoint, c.o.Model, c.o.APIVersion, sdkVersion()
	s.Region = h.Get("X-Ms-Region")
	for _, name := range []string{"Apim-Request-Id", "X-Request-Id"} {
		if id := h.Get(name); id != "" && s.RequestID == "" {
			s.RequestID = wire.Scrub(id, c.o.Key)
		}
	}
}

func isJSON(h http.Header) bool {
	t, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	t = strings.ToLower(strings.TrimSpace(t))
	return t == "application/json" || strings.HasSuffix(t, "+json")
}

// sdkVersion is the SDK for records; it cannot change while the program runs.
var sdkVersion = sync.OnceValue(func() string { return wire.SDK("openai-go", "github.com/openai/openai-go/v3") })
