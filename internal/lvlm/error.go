package lvlm

import (
	"fmt"
	"time"
)

// Class is a closed class of endpoint failures. None of them is ever an answer.
type Class string

// Classes of failures.
const (
	// Throttled: too many requests; RetryAfter says how long to wait, where known.
	Throttled Class = "throttled"
	// Transient: time-out, broken connection, cut body, 408, 409, 5xx.
	Transient Class = "transient"
	// Denied: credentials are missing, wrong or not allowed (401, 403). A person must act.
	Denied Class = "denied"
	// Quota: nothing left to spend (402, insufficient quota). A person must act.
	Quota Class = "quota"
	// Configured: the endpoint knows no such model, route or parameter (404 and the like). A
	// person must act.
	Configured Class = "configuration"
)

// Classes returns every class.
func Classes() []Class { return []Class{Throttled, Transient, Denied, Quota, Configured} }

// CallError is a failure of an endpoint. Its text holds neither prompt nor credential.
type CallError struct {
	Class Class
	// Status is the HTTP status, 0 without one; Code the endpoint's own code.
	Status int
	Code   string
	// RetryAfter is what the endpoint asks for; 0 when it says nothing.
	RetryAfter time.Duration
	Detail     string
	// Sent says that the request may have reached the endpoint, so it may be billed.
	Sent bool
	// Cause is the context's error where the call ended because of it; nothing else is kept,
	// since errors of clients may quote requests.
	Cause error
}

func (e *CallError) Error() string {
	s := "model endpoint: " + string(e.Class)
	if e.Status != 0 {
		s += fmt.Sprintf(", status %d", e.Status)
	}
	if e.Code != "" {
		s += ", " + e.Code
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns the context's error, if that is why the call ended.
func (e *CallError) Unwrap() error { return e.Cause }

// Pauses reports whether a person must act before trying again can help.
func (e *CallError) Pauses() bool {
	return e.Class == Denied || e.Class == Quota || e.Class == Configured
}
