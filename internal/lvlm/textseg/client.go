package textseg

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/datause"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/wire"
	"cxrepro/internal/mask"
)

// Version changes whenever the same reply may give another mask.
const Version = 1

// schema is the version of the contract.
const schema = 1

// mostSide bounds the sides of a mask.
const mostSide = 8192

// Options say where the service is. URL, Model, Class and Picture are required.
type Options struct {
	URL string
	// Model is the name and version of the model, for example "biomedparse-v2".
	Model      string
	Credential lvlm.Secret
	// Class is the data-use class of the pictures, Attestation what the operator vouches for.
	Class       datause.Class
	Attestation datause.Attestation
	// Timeout is what one request may take; 0 means two minutes.
	Timeout time.Duration
	// Picture reads a picture.
	Picture func(ctx context.Context, ref artifacts.Ref) ([]byte, error)
	// Now is the clock of the attestation; nil means the machine's.
	Now func() time.Time
}

// Client asks one service. It serves several goroutines.
type Client struct {
	o    Options
	http *http.Client
}

// New returns a client.
//
// Errors: a missing option, an address that is no http or https URL.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, fmt.Errorf("text-prompted segmenter: %q is no http or https address without credentials", o.URL)
	}
	if o.Model == "" || o.Picture == nil {
		return nil, errors.New("text-prompted segmenter: model and pictures are required")
	}
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Minute
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Client{o: o, http: wire.Client(4)}, nil
}

// Identity is everything that a mask depends on besides picture and prompt.
func Identity(model string) map[string]any {
	return map[string]any{"segmenter": Version, "model": model}
}

type request struct {
	Schema int    `json:"schema"`
	Model  string `json:"model"`
	Prompt string `json:"prompt"`
	Image  struct {
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"image"`
}

type reply struct {
	Model  string `json:"model"`
	Size   [2]int `json:"size"` // height, width, as COCO has it
	Counts string `json:"counts"`
	Error  struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// Find returns the pixels of what target names; empty where it is not there.
//
// Errors: *datause.DeniedError before anything is sent; *lvlm.CallError.
func (c *Client) Find(ctx context.Context, picture artifacts.Ref, target string) (mask.Mask, error) {
	if err := datause.AllowEndpoint(c.o.Class, c.o.Attestation, c.o.Now()); err != nil {
		return mask.Mask{}, fmt.Errorf("text-prompted segmenter: %w", err)
	}
	data, err := c.o.Picture(ctx, picture)
	if err != nil {
		return mask.Mask{}, err
	}
	r := request{Schema: schema, Model: c.o.Model, Prompt: target}
	r.Image.MediaType, r.Image.Data = picture.MediaType, base64.StdEncoding.EncodeToString(data)
	body, err := json.Marshal(r)
	if err != nil {
		return mask.Mask{}, err
	}
	answer, err := c.send(ctx, body, target)
	if err != nil {
		return mask.Mask{}, err
	}
	return c.read(answer)
}

// send posts a request and returns the body of its reply.
func (c *Client) send(ctx context.Context, body []byte, target string) ([]byte, error) {
	var watch wire.Watch
	timed, cancel := context.WithTimeout(watch.Context(ctx), c.o.Timeout)
	defer cancel()
	q, err := http.NewRequestWithContext(timed, http.MethodPost, c.o.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("text-prompted segmenter: the address is none")
	}
	q.Header.Set("Content-Type", "application/json")
	if !c.o.Credential.IsZero() {
		q.Header.Set("Authorization", "Bearer "+c.o.Credential.Reveal())
	}
	a, err := c.http.Do(q)
	if err != nil {
		return nil, wire.Failure(ctx, err, c.o.Timeout, watch.Sent())
	}
	defer a.Body.Close()
	text, err := io.ReadAll(io.LimitReader(a.Body, maxReply+1))
	if err != nil {
		return nil, wire.Failure(ctx, err, c.o.Timeout, true)
	}
	if len(text) > maxReply {
		return nil, &lvlm.CallError{Class: lvlm.Configured, Status: a.StatusCode, Code: "bad_reply", Detail: fmt.Sprintf("it has more than %d bytes", maxReply), Sent: true}
	}
	if a.StatusCode == http.StatusOK {
		return text, nil
	}
	e := &lvlm.CallError{Class: wire.StatusClass(a.StatusCode), Status: a.StatusCode, RetryAfter: wire.RetryAfter(a.Header, c.o.Now()), Sent: true}
	var said reply
	if json.Unmarshal(text, &said) == nil {
		e.Code, e.Detail = said.Error.Code, wire.Scrub(said.Error.Message, c.o.Credential, target)
	}
	return nil, e
}

// maxReply bounds a reply, in bytes: the runs of a mask of any size that is read fit many times.
const maxReply = 64 << 20

// read turns a reply into a mask.
func (c *Client) read(text []byte) (mask.Mask, error) {
	bad := func(format string, args ...any) (mask.Mask, error) {
		return mask.Mask{}, &lvlm.CallError{Class: lvlm.Configured, Status: http.StatusOK, Code: "bad_reply", Detail: fmt.Sprintf(format, args...), Sent: true}
	}
	var a reply
	if err := json.Unmarshal(text, &a); err != nil {
		return bad("the reply is no JSON object of the contract")
	}
	h, w := a.Size[0], a.Size[1]
	switch {
	case a.Model != c.o.Model:
		return bad("the reply is of another model than %s", c.o.Model)
	case h < 1 || w < 1 || h > mostSide || w > mostSide:
		return bad("the mask is %d x %d, want 1 to %d", w, h, mostSide)
	}
	m, err := mask.DecodeCOCO(w, h, a.Counts)
	if err != nil {
		return bad("the mask cannot be read: %v", err)
	}
	return m, nil
}
