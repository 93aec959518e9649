package radcot

import (
	"errors"
	"fmt"
	"slices"

	"cxrepro/internal/datause"
)

// Role is what an endpoint does in the construction, in training or in evaluation.
type Role string

// The roles.
const (
	Teacher Role = "teacher"
	Lookup  Role = "lookup"
	Policy  Role = "policy"
)

// Endpoint is a place that a model card is asked at.
type Endpoint struct {
	Role        Role
	Card        string
	Attestation datause.Attestation
}

// RefusedError reports an endpoint that may not take part where items come from MIMIC-CXR.
type RefusedError struct {
	Endpoint Endpoint
	Items    int
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s %s: its endpoint is not local, and %d candidates derive from credentialed data, which never leave the machine whatever an operator attests; "+
		"hint: serve the card locally (attestation local: true), or draw 0 of report, mcq and mcq_rl", e.Endpoint.Role, e.Endpoint.Card, e.Items)
}

// CheckPlan refuses, before anything is asked, every endpoint that is not local while a
// candidate derives from credentialed data; the lookup too, although it sees no picture.
//
// Errors: a *RefusedError for each, joined.
func CheckPlan(list []Candidate, endpoints ...Endpoint) error {
	n := 0
	for i := range list {
		if c := list[i].DataUse; !c.Free() {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	var refused []error
	for _, e := range endpoints {
		if !slices.Contains([]Role{Teacher, Lookup, Policy}, e.Role) {
			return fmt.Errorf("endpoint of card %s: role %q is not one of teacher, lookup, policy", e.Card, e.Role)
		}
		if !e.Attestation.Local {
			refused = append(refused, &RefusedError{e, n})
		}
	}
	return errors.Join(refused...)
}
