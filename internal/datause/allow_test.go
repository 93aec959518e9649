package datause

import (
	"errors"
	"slices"
	"testing"
	"time"
)

var today = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func full() Attestation {
	return Attestation{Class: Credentialed, ZeroRetention: true, NoTraining: true, NoHumanReview: true, Date: "2026-01-15", Reference: "contract 12"}
}

func TestAllow(t *testing.T) {
	cases := []struct {
		name     string
		class    Class
		change   func(*Attestation)
		store    []string // what the store lacks; nil is allowed
		endpoint []string
	}{
		{"synthetic goes anywhere", Synthetic, func(a *Attestation) { *a = Attestation{} }, nil, nil},
		{"public goes anywhere", Public, func(a *Attestation) { *a = Attestation{} }, nil, nil},
		{"attribution goes anywhere", PublicAttribution, func(a *Attestation) { *a = Attestation{} }, nil, nil},
		{"unknown class goes nowhere", 0, func(*Attestation) {}, []string{"a known class of the data"}, []string{"a known class of the data"}},
		{"class beyond the last goes nowhere", Credentialed + 1, func(a *Attestation) { a.Local = true }, []string{"a known class of the data"}, []string{"a known class of the data"}},
		{"credentialed with everything", Credentialed, func(*Attestation) {}, nil, nil},
		{"credentialed stays local", Credentialed, func(a *Attestation) { *a = Attestation{Local: true} }, nil, nil},
		{"credentialed with nothing", Credentialed, func(a *Attestation) { *a = Attestation{} },
			[]string{"class credentialed", "no_training", "no_human_review", "date (as 2006-01-02)", "reference"},
			[]string{"class credentialed", "zero_retention", "no_training", "no_human_review", "date (as 2006-01-02)", "reference"}},
		{"a store may keep", Credentialed, func(a *Attestation) { a.ZeroRetention = false }, nil, []string{"zero_retention"}},
		{"cleared for less", Credentialed, func(a *Attestation) { a.Class = PublicAttribution }, []string{"class credentialed"}, []string{"class credentialed"}},
		{"cleared for nonsense", Credentialed, func(a *Attestation) { a.Class = 9 }, []string{"class credentialed"}, []string{"class credentialed"}},
		{"trains", Credentialed, func(a *Attestation) { a.NoTraining = false }, []string{"no_training"}, []string{"no_training"}},
		{"reviewed", Credentialed, func(a *Attestation) { a.NoHumanReview = false }, []string{"no_human_review"}, []string{"no_human_review"}},
		{"date of tomorrow's time zone", Credentialed, func(a *Attestation) { a.Date = "2026-03-02" }, nil, nil},
		{"date in the future", Credentialed, func(a *Attestation) { a.Date = "2026-03-04" }, []string{"date that is not in the future"}, []string{"date that is not in the future"}},
		{"date too old", Credentialed, func(a *Attestation) { a.Date = "2025-02-01" }, []string{"date within the last year"}, []string{"date within the last year"}},
		{"date in another form", Credentialed, func(a *Attestation) { a.Date = "1 March 2026" }, []string{"date (as 2006-01-02)"}, []string{"date (as 2006-01-02)"}},
		{"no reference", Credentialed, func(a *Attestation) { a.Reference = " " }, []string{"reference"}, []string{"reference"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := full()
			c.change(&a)
			check(t, AllowStore(c.class, a, today), c.store)
			check(t, AllowEndpoint(c.class, a, today), c.endpoint)
		})
	}
}

func check(t *testing.T, err error, missing []string) {
	t.Helper()
	if missing == nil {
		if err != nil {
			t.Errorf("got %v, want allowed", err)
		}
		return
	}
	var denied *DeniedError
	if !errors.As(err, &denied) {
		t.Fatalf("got %v, want denied", err)
	}
	if !slices.Equal(denied.Missing, missing) {
		t.Errorf("missing %q, want %q", denied.Missing, missing)
	}
}

// Without a date to compare with nothing that needs one is allowed.
func TestNoTodayDenies(t *testing.T) {
	if AllowStore(Credentialed, full(), time.Time{}) == nil {
		t.Error("allowed without today's date")
	}
}

func TestStrictest(t *testing.T) {
	for _, a := range Classes() {
		for _, b := range Classes() {
			got := Strictest(a, b)
			if got != max(a, b) || got != Strictest(b, a) {
				t.Errorf("Strictest(%s, %s) = %s", a, b, got)
			}
			if Strictest(a, 0, b) != 0 || Strictest(a, Credentialed+1) != 0 {
				t.Error("an unknown input must make the result unknown")
			}
		}
	}
	if Strictest() != 0 {
		t.Error("nothing has a class")
	}
}

func TestText(t *testing.T) {
	for _, c := range Classes() {
		b, err := c.MarshalText()
		var back Class
		if err != nil || back.UnmarshalText(b) != nil || back != c {
			t.Errorf("%s does not survive its text form", c)
		}
	}
	for _, bad := range []string{"", "Public", "open", "unset"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("Parse(%q) succeeded", bad)
		}
	}
	if _, err := Class(0).MarshalText(); err == nil {
		t.Error("the unset class has a text form")
	}
}

// Only credentialed data and what is not known need an attestation.
func TestFree(t *testing.T) {
	for c, want := range map[Class]bool{0: false, Synthetic: true, Public: true, PublicAttribution: true, Credentialed: false, Credentialed + 1: false} {
		if c.Free() != want {
			t.Errorf("class %s free %t, want %t", c, c.Free(), want)
		}
	}
}
