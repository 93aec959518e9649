package ledger

import (
	"encoding/json"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/provenance"
)

// Kinds of calls in accounts: a model under evaluation, a judge, a reference book that an agent
// looks things up in, a teacher that writes training data.
const (
	KindModel   = "model"
	KindJudge   = "judge"
	KindLookup  = "lookup"
	KindTeacher = "teacher"
)

// Kinds lists them in the order of accounts.
func Kinds() []string { return []string{KindModel, KindJudge, KindLookup, KindTeacher} }

// Facts are what a call's statement tells beside its key document: nothing of it is identity,
// and nothing of it is a credential or a text of the conversation.
type Facts struct {
	// Kind is one of the kinds: who asked first. A key is the same for all.
	Kind    string       `json:"kind"`
	Outcome lvlm.Outcome `json:"outcome"`
	// Card and Endpoint are the names of the cards that were used.
	Card     string `json:"card"`
	Endpoint string `json:"endpoint,omitempty"`
	// Served is what the endpoint told with the reply; zero for an outcome that needed none.
	Served   lvlm.Served `json:"served"`
	Attempts Attempts    `json:"attempts"`
}

// parameter is the name of Facts among a statement's parameters.
const parameter = "call"

// Entry is a record of a call with its statement.
type Entry struct {
	Record     artifacts.Record
	Invocation provenance.Invocation
	Facts      Facts
}

// Statement encodes the statement of a call. materials are what of its inputs lies in the store:
// pictures and earlier answers.
func Statement(doc artifacts.KeyDoc, result artifacts.Ref, f Facts, inv provenance.Invocation, materials []provenance.Descriptor, code provenance.Code, env provenance.Environment) ([]byte, error) {
	if materials == nil {
		materials = []provenance.Descriptor{}
	}
	s, err := provenance.New(provenance.Facts{
		Key: doc, Subject: []provenance.Descriptor{provenance.Describe("answer", result)}, Builder: "cxrepro",
		Invocation: inv, Materials: materials, Parameters: map[string]any{parameter: f}, Code: code, Environment: env,
	})
	if err != nil {
		return nil, err
	}
	return s.Encode()
}

// ReadEntry returns a record with what its statement, given as bytes, says.
//
// Errors: a statement that is not of a call.
func ReadEntry(rec artifacts.Record, statement []byte) (Entry, error) {
	var s struct {
		Type          string `json:"_type"`
		PredicateType string `json:"predicateType"`
		Predicate     struct {
			Invocation provenance.Invocation `json:"invocation"`
			Parameters struct {
				Call *Facts `json:"call"`
			} `json:"parameters"`
		} `json:"predicate"`
	}
	err := json.Unmarshal(statement, &s)
	switch {
	case err != nil:
		return Entry{}, fmt.Errorf("statement of %s: %w", rec.Key.Short(), err)
	case s.Type != provenance.StatementType || s.PredicateType != provenance.PredicateType || s.Predicate.Parameters.Call == nil:
		return Entry{}, fmt.Errorf("statement of %s: it is not the statement of a call", rec.Key.Short())
	}
	return Entry{Record: rec, Invocation: s.Predicate.Invocation, Facts: *s.Predicate.Parameters.Call}, nil
}

// Count is the account of one call as a reproduction sees it. A record that the reproduction
// made counts as run, with every attempt that led to it; any other as reused, which costs
// nothing. Repeated are requests that were sent again because nobody saw their end.
func (e *Entry) Count(reproduction string) contract.CallCount {
	c := contract.CallCount{Kind: e.Facts.Kind, Needed: 1}
	if reproduction == "" || e.Invocation.Reproduction != reproduction {
		c.Reused = 1
		return c
	}
	c.Run = 1
	e.Facts.Attempts.into(&c)
	last := string(e.Facts.Outcome)
	for _, end := range e.Facts.Attempts.Ends {
		n := end.N
		if end.Name == last {
			n-- // the one that was recorded
		}
		if end.Name == Unseen {
			c.Repeated = n
		}
		c.Failures = contract.AddCount(c.Failures, end.Name, max(n, 0))
	}
	return c
}
