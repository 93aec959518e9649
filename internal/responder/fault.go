package responder

import (
	"encoding/hex"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/strictyaml"
)

// FaultFormat is Faults.Format.
const FaultFormat = "cxrepro-responder-faults-1"

// Faults is a fault script: what goes wrong with which requests.
type Faults struct {
	Format string `yaml:"format"`
	// Seed names the choice of requests by share.
	Seed uint64 `yaml:"seed"`
	// Limit, if given, is enforced: what is above it is answered with 429.
	Limit *Limit `yaml:"limit,omitempty"`
	// Rules are tried in order; the first that fits a request happens to it.
	Rules []Rule `yaml:"rules,omitempty"`
}

// Limit is what an endpoint allows. A zero field is no limit.
type Limit struct {
	RequestsPerMinute int `yaml:"requests_per_minute,omitempty"`
	TokensPerMinute   int `yaml:"tokens_per_minute,omitempty"`
	Concurrency       int `yaml:"concurrency,omitempty"`
}

// Fault is what goes wrong. The zero value is invalid.
type Fault string

// Faults of the endpoint.
const (
	// Throttle: 429, with Retry-After if the rule says so.
	Throttle Fault = "throttle"
	// ServerError: 500.
	ServerError Fault = "server_error"
	// OutOfQuota: 402, insufficient_quota.
	OutOfQuota Fault = "quota"
	// Denied: 401, invalid_api_key.
	Denied Fault = "denied"
	// TooLong: 400, context_length_exceeded.
	TooLong Fault = "too_long"
	// PromptFiltered: 400, content_filter.
	PromptFiltered Fault = "prompt_filtered"
	// Stall: nothing for the rule's time, then the reply; without a time until the client
	// leaves.
	Stall Fault = "stall"
	// Cut: the body ends before its length.
	Cut Fault = "cut"
	// Reset: the connection is reset before a reply.
	Reset Fault = "reset"
)

// Faults of the reply, all of status 200.
const (
	// Empty: no text.
	Empty Fault = "empty"
	// Truncated: the token limit ends the reply after the rule's number of bytes.
	Truncated Fault = "truncated"
	// Refusal: the model declines, in the field that the protocol has for it.
	Refusal Fault = "refusal"
	// RefusalText: the model declines in its text.
	RefusalText Fault = "refusal_text"
	// Filtered: the content filter withholds the reply.
	Filtered Fault = "filtered"
	// Garbage: a text that says nothing, of a judge no verdict.
	Garbage Fault = "garbage"
)

// AllFaults returns every fault.
func AllFaults() []Fault {
	return []Fault{Throttle, ServerError, OutOfQuota, Denied, TooLong, PromptFiltered, Stall, Cut, Reset,
		Empty, Truncated, Refusal, RefusalText, Filtered, Garbage}
}

// Rule says when a fault happens and how. Every condition given must hold.
type Rule struct {
	Do Fault `yaml:"do"`
	// Nth, From, To and Every go by the number of the request, from 1.
	Nth   []int `yaml:"nth,omitempty"`
	From  int   `yaml:"from,omitempty"`
	To    int   `yaml:"to,omitempty"`
	Every int   `yaml:"every,omitempty"`
	// Share of the requests, chosen by their content; 0 means all.
	Share float64 `yaml:"share,omitempty"`
	// Attempts: only the first so many times that the same request comes; 0 means always.
	Attempts int `yaml:"attempts,omitempty"`
	// Times: only so often in all; 0 means always.
	Times int `yaml:"times,omitempty"`
	// Kind is model, lookup, judge (any of its prompts) or extract.
	Kind  string `yaml:"kind,omitempty"`
	Model string `yaml:"model,omitempty"`
	// Task, Path and Stage hold for the questions of a model. Path is path1, path2 or
	// re_path1; stages are init, criteria, custom_criteria, bodypart, measurement, final.
	Task  string `yaml:"task,omitempty"`
	Path  string `yaml:"path,omitempty"`
	Stage string `yaml:"stage,omitempty"`

	// After is sent as Retry-After.
	After time.Duration `yaml:"after,omitempty"`
	// For is how long a stall lasts.
	For time.Duration `yaml:"for,omitempty"`
	// Status and Code replace the fault's own.
	Status int    `yaml:"status,omitempty"`
	Code   string `yaml:"code,omitempty"`
	// Keep is how many bytes of a reply a truncation or a filter leaves.
	Keep int `yaml:"keep,omitempty"`
	// Text replaces the text of garbage and of refusals.
	Text string `yaml:"text,omitempty"`
}

// ParseFaults reads a fault script strictly. file is for messages.
//
// Errors: everything wrong with it, with file and line.
func ParseFaults(file string, data []byte) (*Faults, error) {
	var f Faults
	origin, err := strictyaml.Decode(file, data, "fault script", &f)
	if err != nil {
		return nil, err
	}
	c := &checker{strictyaml.Findings{File: file, Origin: origin}}
	if f.Format != FaultFormat {
		c.Add("format", "is %q, want %q", f.Format, FaultFormat)
	}
	for i := range f.Rules {
		f.Rules[i].check(c, fmt.Sprintf("rules[%d]", i))
	}
	return &f, c.Err()
}

func (r *Rule) check(c *checker, at string) {
	if !slices.Contains(AllFaults(), r.Do) {
		c.Add(at+".do", "is %q, want one of %v", r.Do, AllFaults())
	}
	c.share(at+".share", r.Share)
	for _, x := range []struct {
		name, got string
		allowed   []string
	}{{"kind", r.Kind, []string{"model", "lookup", "judge", "extract"}}, {"path", r.Path, []string{"path1", "path2", "re_path1"}}, {"stage", r.Stage, stageNames()}} {
		if x.got != "" && !slices.Contains(x.allowed, x.got) {
			c.Add(at+"."+x.name, "is %q, want one of %v", x.got, x.allowed)
		}
	}
	if r.Task != "" && !taskName(r.Task) {
		c.Add(at+".task", "no task is called %q", r.Task)
	}
	if r.Status != 0 && (r.Status < 400 || r.Status > 599) {
		c.Add(at+".status", "is %d, want an error's status, 400 to 599", r.Status)
	}
	for _, x := range []struct {
		name string
		n    int
	}{{"from", r.From}, {"to", r.To}, {"every", r.Every}, {"attempts", r.Attempts}, {"times", r.Times}, {"keep", r.Keep}} {
		if x.n < 0 {
			c.Add(at+"."+x.name, "is %d, want 0 or more", x.n)
		}
	}
	if r.After > 0 && r.Do != Throttle && r.Do != ServerError && r.Do != OutOfQuota {
		c.Add(at+".after", "belongs to throttle, server_error and quota")
	}
	if r.For > 0 && r.Do != Stall {
		c.Add(at+".for", "belongs to stall")
	}
}

func stageNames() []string {
	var names []string
	for _, s := range cxreasonbench.Stages() {
		names = append(names, s.String())
	}
	return names
}

// about is what is known of a request when its fault is chosen.
type about struct {
	number  int64
	attempt int
	print   [32]byte
	model   string
	// prompt is set for a judge, place for a model's question, agent for a request of the agent.
	prompt cxreasonbench.JudgePrompt
	place  place
	agent  *agentRequest
	// teacher is what a teacher is asked; empty for everybody else.
	teacher dialogue.Transcript
}

// kind is model, lookup, judge or extract.
func (a *about) kind() string {
	switch {
	case a.agent != nil && a.agent.item == nil:
		return "lookup"
	case !a.prompt.Valid():
		return "model"
	case len(a.prompt.Words()) == 0:
		return "extract"
	}
	return "judge"
}

// armed is a rule with how often it happened.
type armed struct {
	Rule
	happened atomic.Int64
}

// fault returns the rule that happens to a request; nil for none.
func (s *Responder) fault(a *about) *armed {
	for i := range s.rules {
		r := s.rules[i]
		if !r.fits(a, s.faultSeed, i) {
			continue
		}
		if n := r.happened.Add(1); r.Times > 0 && n > int64(r.Times) {
			r.happened.Add(-1)
			continue
		}
		return r
	}
	return nil
}

func (r *Rule) fits(a *about, seed uint64, index int) bool {
	n := int(a.number)
	switch {
	case len(r.Nth) > 0 && !slices.Contains(r.Nth, n),
		r.From > 0 && n < r.From, r.To > 0 && n > r.To, r.Every > 0 && n%r.Every != 0,
		r.Attempts > 0 && a.attempt > r.Attempts,
		r.Model != "" && r.Model != a.model:
		return false
	}
	if kind := a.kind(); r.Kind != "" && r.Kind != kind && !(r.Kind == "judge" && kind == "extract") {
		return false
	}
	if r.Task != "" || r.Path != "" || r.Stage != "" {
		if a.place.q == nil {
			return false
		}
		k := a.place.q.Key
		if (r.Task != "" && r.Task != a.place.at.task.String()) || (r.Path != "" && r.Path != k.Path.String()) || (r.Stage != "" && r.Stage != k.Stage.String()) {
			return false
		}
	}
	return r.Share == 0 || named(seed, "share", itoa(int64(index)), hex.EncodeToString(a.print[:])).share() < r.Share
}
