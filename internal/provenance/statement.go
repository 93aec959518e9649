package provenance

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cxrepro/artifacts"
)

// Types that the JSON form names.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "urn:cxrepro:step:1"
)

// DigestSet is in-toto's form of a digest.
type DigestSet struct {
	SHA256 string `json:"sha256"`
}

// Descriptor names something by digest: a subject or a material.
type Descriptor struct {
	Name      string    `json:"name"`
	Digest    DigestSet `json:"digest"`
	Size      int64     `json:"size,omitempty"`
	MediaType string    `json:"mediaType,omitempty"`
}

// Describe names a blob.
func Describe(name string, ref artifacts.Ref) Descriptor {
	return Descriptor{Name: name, Digest: DigestSet{ref.Digest.Hex()}, Size: ref.Size, MediaType: ref.MediaType}
}

// DescribeDigest names something of which only the digest is known, such as an input
// image that is referenced and not copied.
func DescribeDigest(name string, d artifacts.Digest) Descriptor {
	return Descriptor{Name: name, Digest: DigestSet{d.Hex()}}
}

// Statement is one in-toto statement about one step result.
type Statement struct {
	Type          string       `json:"_type"`
	Subject       []Descriptor `json:"subject"`
	PredicateType string       `json:"predicateType"`
	Predicate     Predicate    `json:"predicate"`
}

// Predicate says how the subject was made.
type Predicate struct {
	Builder     Builder         `json:"builder"`
	Invocation  Invocation      `json:"invocation"`
	KeyDocument json.RawMessage `json:"key_document"`
	Materials   []Descriptor    `json:"materials"`
	// Parameters are settings of the execution that do not enter the key: threads,
	// chunk sizes, time limits, addresses.
	Parameters  map[string]any `json:"parameters,omitempty"`
	Code        Code           `json:"code"`
	Environment Environment    `json:"environment"`
}

// Builder names the program that made the result.
type Builder struct {
	ID string `json:"id"`
}

// Invocation says who made the result and when. Fence is the number of executions of
// the key that were begun, this one included; Takeover is the cause of the last repeat.
// Times are UTC.
type Invocation struct {
	Reproduction string    `json:"reproduction"`
	Worker       string    `json:"worker"`
	Host         string    `json:"host,omitempty"`
	PID          int       `json:"pid,omitempty"`
	Workflow     string    `json:"workflow,omitempty"`
	Activity     string    `json:"activity,omitempty"`
	Attempt      int       `json:"attempt,omitempty"`
	Fence        int       `json:"fence"`
	Takeover     string    `json:"takeover,omitempty"`
	Started      time.Time `json:"started"`
	Finished     time.Time `json:"finished"`
}

// InvocationOf copies what a claim knows. The caller adds the times.
func InvocationOf(c *artifacts.Claim) Invocation {
	o := c.Owner
	return Invocation{Reproduction: o.Reproduction, Worker: o.Worker, Host: o.Host, PID: o.PID, Workflow: o.Workflow,
		Activity: o.Activity, Attempt: o.Attempt, Fence: c.Fence, Takeover: c.Takeover.String()}
}

// Code names the program. Commit and Dirty name the source where the build knew it: a
// `go run` does not, and uncommitted changes have no name. Binary is the digest of the
// executable file, so that every statement names the exact program.
type Code struct {
	Version string           `json:"version"`
	Commit  string           `json:"commit"`
	Dirty   bool             `json:"dirty"`
	Binary  artifacts.Digest `json:"binary,omitzero"`
}

// Environment names what the result ran on. Fields that do not apply stay empty.
type Environment struct {
	Go          string `json:"go"`
	OS          string `json:"os"`
	Arch        string `json:"arch"`
	CPU         string `json:"cpu,omitempty"`
	ONNXRuntime string `json:"onnxruntime,omitempty"`
	Provider    string `json:"provider,omitempty"`
}

// Facts are what a step knows about its result. Materials nil means the key's inputs.
type Facts struct {
	Key         artifacts.KeyDoc
	Subject     []Descriptor
	Builder     string
	Invocation  Invocation
	Materials   []Descriptor
	Parameters  map[string]any
	Code        Code
	Environment Environment
}

// New returns the statement of one step result. Errors: a bad key document, no subject,
// a fence below 1.
func New(f Facts) (Statement, error) {
	doc, err := f.Key.Canonical()
	if err != nil {
		return Statement{}, fmt.Errorf("statement of %s: %w", f.Key.Step, err)
	}
	if len(f.Subject) == 0 {
		return Statement{}, fmt.Errorf("statement of %s: no subject", f.Key.Step)
	}
	if f.Invocation.Fence < 1 {
		return Statement{}, fmt.Errorf("statement of %s: fence %d, want 1 or more", f.Key.Step, f.Invocation.Fence)
	}
	if f.Materials == nil {
		f.Materials = []Descriptor{}
		for _, in := range f.Key.Inputs {
			f.Materials = append(f.Materials, DescribeDigest(in.Name, in.Digest))
		}
	}
	f.Invocation.Started = f.Invocation.Started.UTC()
	f.Invocation.Finished = f.Invocation.Finished.UTC()
	return Statement{
		Type: StatementType, Subject: f.Subject, PredicateType: PredicateType,
		Predicate: Predicate{
			Builder: Builder{f.Builder}, Invocation: f.Invocation, KeyDocument: doc,
			Materials: f.Materials, Parameters: f.Parameters, Code: f.Code, Environment: f.Environment,
		},
	}, nil
}

// Encode returns the statement's canonical JSON.
func (s Statement) Encode() ([]byte, error) { return artifacts.Canonical(s) }

// Decode reads a statement and refuses other types.
func Decode(data []byte) (Statement, error) {
	var s Statement
	if err := json.Unmarshal(data, &s); err != nil {
		return Statement{}, fmt.Errorf("statement: %w", err)
	}
	if s.Type != StatementType || s.PredicateType != PredicateType {
		return Statement{}, fmt.Errorf("statement: type %q with predicate %q, want %q with %q", s.Type, s.PredicateType, StatementType, PredicateType)
	}
	if len(s.Predicate.KeyDocument) == 0 {
		return Statement{}, errors.New("statement: no key document")
	}
	return s, nil
}

// Key recomputes the key from the stored key document.
func (s Statement) Key() (artifacts.Key, error) {
	var head struct {
		Step string `json:"step"`
	}
	if err := json.Unmarshal(s.Predicate.KeyDocument, &head); err != nil {
		return artifacts.Key{}, fmt.Errorf("statement: key document: %w", err)
	}
	canonical, err := artifacts.Canonical(s.Predicate.KeyDocument)
	if err != nil {
		return artifacts.Key{}, fmt.Errorf("statement: key document: %w", err)
	}
	return artifacts.Key{Step: head.Step, Digest: artifacts.Sum(canonical)}, nil
}
