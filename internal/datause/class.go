package datause

import (
	"fmt"
	"strings"
)

// Class is a data-use class. Classes are ordered from free to strict; the zero value is
// invalid and never allowed anywhere.
type Class uint8

// The classes.
const (
	// Synthetic data describe nobody.
	Synthetic Class = 1
	// Public data may be used and passed on without condition.
	Public Class = 2
	// PublicAttribution data may be used and passed on when their source is named.
	PublicAttribution Class = 3
	// Credentialed data come under an agreement of a named person; no byte of them may
	// reach a third party.
	Credentialed Class = 4
)

var classText = [...]string{
	Synthetic: "synthetic", Public: "public", PublicAttribution: "public_attribution", Credentialed: "credentialed",
}

// Classes lists the valid classes from free to strict.
func Classes() []Class { return []Class{Synthetic, Public, PublicAttribution, Credentialed} }

// Valid reports whether c is one of the classes.
func (c Class) Valid() bool { return c >= Synthetic && c <= Credentialed }

// Free reports whether bytes of the class may be kept anywhere without an attestation.
// What is not known is not free.
func (c Class) Free() bool { return c == Synthetic || c == Public || c == PublicAttribution }

// String returns the text form, "unset" for anything invalid.
func (c Class) String() string {
	if !c.Valid() {
		return "unset"
	}
	return classText[c]
}

// Parse reads a text form.
func Parse(s string) (Class, error) {
	for _, c := range Classes() {
		if classText[c] == s {
			return c, nil
		}
	}
	return 0, fmt.Errorf("data-use class %q is not one of %s", s, strings.Join(classText[1:], ", "))
}

// MarshalText encodes a valid class.
func (c Class) MarshalText() ([]byte, error) {
	if !c.Valid() {
		return nil, fmt.Errorf("data-use class %d is not one of %s", uint8(c), strings.Join(classText[1:], ", "))
	}
	return []byte(classText[c]), nil
}

// UnmarshalText accepts exactly the text forms.
func (c *Class) UnmarshalText(b []byte) error {
	v, err := Parse(string(b))
	if err != nil {
		return err
	}
	*c = v
	return nil
}

// Strictest returns the class of something made from inputs of the given classes.
//
// Special cases: no inputs, or any invalid one, give the invalid class: what is not known
// is not free.
func Strictest(classes ...Class) Class {
	var out Class
	for _, c := range classes {
		if !c.Valid() {
			return 0
		}
		out = max(out, c)
	}
	return out
}

// StoreClass is the class that a store must be attested for before it may hold what is made
// from data of a class; "" for data that may lie anywhere. A name that is no class stays.
func StoreClass(dataUse string) string {
	if c, err := Parse(dataUse); err == nil && c.Free() {
		return ""
	}
	return dataUse
}
