package lvlm

import (
	"context"
	"io"
	"slices"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/dialogue"
)

// Identity names a model by content: the digest of its weights, or the provider with the
// snapshot it promises. Exactly one of both is set, unless the model is not pinned.
type Identity struct {
	Weights  artifacts.Digest `json:"weights,omitzero" yaml:"weights,omitempty"`
	Provider string           `json:"provider,omitempty" yaml:"provider,omitempty"`
	Snapshot string           `json:"snapshot,omitempty" yaml:"snapshot,omitempty"`
	// Unpinned says that nobody knows the weights; results say so.
	Unpinned string `json:"unpinned,omitempty" yaml:"unpinned,omitempty"`
}

// Decoding holds everything that is sent about decoding. Nil means: not sent.
type Decoding struct {
	Temperature    *float64       `json:"temperature,omitempty" yaml:"temperature,omitempty"`
	TopP           *float64       `json:"top_p,omitempty" yaml:"top_p,omitempty"`
	MaxTokens      int            `json:"max_tokens,omitempty" yaml:"max_tokens,omitempty"`
	ThinkingBudget *int           `json:"thinking_budget,omitempty" yaml:"thinking_budget,omitempty"`
	Seed           *int64         `json:"seed,omitempty" yaml:"seed,omitempty"`
	Stop           []string       `json:"stop,omitempty" yaml:"stop,omitempty"`
	Extra          map[string]any `json:"extra,omitempty" yaml:"extra,omitempty"`
}

// Request is one call. The transcript's pictures are references to the bytes that are sent.
type Request struct {
	Model Identity
	// Adapter names our own code between request and endpoint with its version, Pictures
	// the rule that prepared the pictures, with its version.
	Adapter  string
	Pictures string
	Decoding Decoding
	// Draw tells repeated replies to one question apart. The adapter adds it to the seed.
	Draw       int
	Transcript dialogue.Transcript
	// Serve, if set, is the name under which the model is asked for in place of the endpoint
	// card's. Where a model runs is no part of a call's identity, nor is this.
	Serve string
}

// Texts returns the texts of every message: what must not show in errors and logs.
func (r Request) Texts() []string {
	out := make([]string, 0, len(r.Transcript.Messages))
	for _, m := range r.Transcript.Messages {
		out = append(out, m.Text())
	}
	return out
}

// Outcome says what came of a call. The zero value is invalid.
type Outcome string

// Outcomes. All but Answered leave nothing to judge.
const (
	// Answered: there is text.
	Answered Outcome = "answered"
	// Refusal: the model declined, by the endpoint's own mark.
	Refusal Outcome = "refusal"
	// SafetyBlock: the endpoint withheld prompt or reply.
	SafetyBlock Outcome = "safety_block"
	// Empty: no text, and the token limit is not why.
	Empty Outcome = "empty"
	// Truncated: the token limit, or the endpoint for a reason of its own, ended the reply;
	// there may be text.
	Truncated Outcome = "truncated"
	// Invalid: the endpoint rejects this request as it is: too long, a picture it cannot
	// read.
	Invalid Outcome = "request_invalid"
)

// Outcomes returns every outcome, Answered first.
func Outcomes() []Outcome {
	return []Outcome{Answered, Refusal, SafetyBlock, Empty, Truncated, Invalid}
}

// Valid reports whether o is one of the outcomes.
func (o Outcome) Valid() bool { return slices.Contains(Outcomes(), o) }

// Answer is what is recorded as the result of a call: no times, no ids.
type Answer struct {
	Format  string  `json:"format"`
	Outcome Outcome `json:"outcome"`
	Text    string  `json:"text"`
	// Finish is the endpoint's own word for why the reply ended.
	Finish string `json:"finish,omitempty"`
	// Detail says more about an outcome without text, in the endpoint's words, shortened.
	Detail string `json:"detail,omitempty"`
}

// AnswerFormat is Answer.Format; AnswerMediaType its media type.
const (
	AnswerFormat    = "cxrepro-answer-1"
	AnswerMediaType = "application/vnd.cxrepro.answer+json"
)

// Served is what the endpoint told about a reply: provenance.
type Served struct {
	Model       string `json:"model,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
	ID          string `json:"id,omitempty"`
	// RequestID is the endpoint's name for the request, for its operator.
	RequestID string         `json:"request_id,omitempty"`
	Usage     dialogue.Usage `json:"usage"`
	Latency   time.Duration  `json:"latency_ns"`
	// Unfiltered says that the endpoint's content filter was out of order.
	Unfiltered bool `json:"unfiltered,omitempty"`
	// What we used to get there: endpoint card, deployment or model name as sent, API
	// version, region and software.
	Endpoint   string `json:"endpoint,omitempty"`
	Deployment string `json:"deployment,omitempty"`
	APIVersion string `json:"api_version,omitempty"`
	Region     string `json:"region,omitempty"`
	SDK        string `json:"sdk,omitempty"`
}

// Reply is an answer with what the endpoint told about it.
type Reply struct {
	Answer Answer
	Served Served
}

// PictureFunc opens a picture of a request. Its reader ends with an error instead of io.EOF where
// the bytes are not those of the reference.
type PictureFunc func(ctx context.Context, ref artifacts.Ref) (io.ReadCloser, error)

// Asker asks one model at one endpoint. Implementations serve several goroutines.
type Asker interface {
	// Prepare makes what is sent, but for the pictures, which are read and encoded while they are
	// sent, and hardly held in memory. Nothing is sent.
	//
	// Errors: *CallError for a request that this endpoint cannot be sent.
	Prepare(ctx context.Context, r Request, picture PictureFunc) (Send, error)
}

// Send sends a prepared request once: it never tries again by itself. It may be called again.
//
// Errors: *CallError for every failure of the endpoint or the way to it; others where a picture
// could not be read, so that no whole request was sent.
type Send func(ctx context.Context) (Reply, error)
