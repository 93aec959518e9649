package datause

import (
	"fmt"
	"strings"
	"time"
)

// DateLayout is the form of [Attestation.Date].
const DateLayout = "2006-01-02"

// maxAge is how long an attestation counts: terms of service change.
const maxAge = 366 * 24 * time.Hour

// Attestation is what the operator of a place vouches for. The zero value vouches for
// nothing.
type Attestation struct {
	// Local says that bytes stay on this machine or on storage of the same institution.
	Local bool `json:"local,omitempty"`
	// Class is the strictest class the place is cleared for; zero means none.
	Class Class `json:"class,omitzero"`
	// ZeroRetention says that nothing sent is kept after the answer.
	ZeroRetention bool `json:"zero_retention,omitempty"`
	// NoTraining says that nothing sent is used to train or improve anything.
	NoTraining bool `json:"no_training,omitempty"`
	// NoHumanReview says that no person of the operator looks at what is sent.
	NoHumanReview bool `json:"no_human_review,omitempty"`
	// Date is the day the terms were read, as 2006-01-02. It counts for a year.
	Date string `json:"date,omitempty"`
	// Reference says where the terms stand: a contract number or a page.
	Reference string `json:"reference,omitempty"`
}

// DeniedError reports bytes that may not go to a place, and what its attestation lacks.
type DeniedError struct {
	Class   Class
	Place   string   // "store" or "endpoint"
	Missing []string // each a promise or field, in a fixed order
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("data of class %s may not go to this %s: its attestation lacks %s", e.Class, e.Place, strings.Join(e.Missing, ", "))
}

// AllowStore reports whether bytes of class c may be kept in a store.
//
// Synthetic and public data may go anywhere. Credentialed data may stay on a local store;
// a remote one needs a dated attestation for the class, with no training and no human
// review by its operator. A store keeps by nature, so retention is not asked.
// today is the caller's date.
func AllowStore(c Class, a Attestation, today time.Time) error {
	return allow(c, a, today, "store", []promise{
		{a.NoTraining, "no_training"}, {a.NoHumanReview, "no_human_review"},
	})
}

// AllowEndpoint reports whether bytes of class c may be sent to a model endpoint. Beyond
// what a store needs it must keep nothing.
func AllowEndpoint(c Class, a Attestation, today time.Time) error {
	return allow(c, a, today, "endpoint", []promise{
		{a.ZeroRetention, "zero_retention"}, {a.NoTraining, "no_training"}, {a.NoHumanReview, "no_human_review"},
	})
}

type promise struct {
	kept bool
	name string
}

func allow(c Class, a Attestation, today time.Time, place string, promises []promise) error {
	deny := func(missing ...string) error { return &DeniedError{Class: c, Place: place, Missing: missing} }
	switch {
	case c.Free():
		return nil
	case !c.Valid():
		return deny("a known class of the data")
	}
	if a.Local {
		return nil
	}
	var missing []string
	if a.Class < c || !a.Class.Valid() {
		missing = append(missing, "class "+c.String())
	}
	for _, p := range promises {
		if !p.kept {
			missing = append(missing, p.name)
		}
	}
	if m := dateProblem(a.Date, today); m != "" {
		missing = append(missing, m)
	}
	if strings.TrimSpace(a.Reference) == "" {
		missing = append(missing, "reference")
	}
	if len(missing) > 0 {
		return deny(missing...)
	}
	return nil
}

// dateProblem says what is wrong with an attestation's date, empty when nothing is.
func dateProblem(date string, today time.Time) string {
	d, err := time.Parse(DateLayout, date)
	if err != nil {
		return "date (as 2006-01-02)"
	}
	if today.IsZero() {
		return "today's date to compare with"
	}
	switch age := today.Sub(d); {
	case age < -24*time.Hour: // a day of grace for time zones
		return "date that is not in the future"
	case age > maxAge:
		return "date within the last year"
	}
	return ""
}
