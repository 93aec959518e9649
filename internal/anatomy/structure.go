package anatomy

import "fmt"

// Count is the number of structures.
const Count = 159

// Structure is one anatomical structure; the zero value is invalid.
type Structure uint8

// Side is the patient's side of a structure.
type Side uint8

// Sides. SideNone is for structures without one.
const (
	SideNone Side = iota + 1
	SideRight
	SideLeft
)

// String returns "none", "right" or "left".
func (s Side) String() string {
	switch s {
	case SideNone:
		return "none"
	case SideRight:
		return "right"
	case SideLeft:
		return "left"
	}
	return fmt.Sprintf("invalid side %d", uint8(s))
}

// Valid reports whether s is one of the 159.
func (s Structure) Valid() bool { return s >= 1 && s <= Count }

// Name returns the official name, for example "right lung".
func (s Structure) Name() string {
	if !s.Valid() {
		return fmt.Sprintf("invalid structure %d", uint8(s))
	}
	return table[s].name
}

// Key returns our stable identifier, for example "right_lung".
func (s Structure) Key() string {
	if !s.Valid() {
		return fmt.Sprintf("invalid_%d", uint8(s))
	}
	return table[s].key
}

// String returns the official name.
func (s Structure) String() string { return s.Name() }

// Side returns the patient's side.
func (s Structure) Side() Side {
	if !s.Valid() {
		return 0
	}
	return table[s].side
}

// ClassID returns the model's channel number, 0..158.
func (s Structure) ClassID() int { return int(s) - 1 }

// FromClassID returns the structure of a channel number; ok is false outside 0..158.
func FromClassID(id int) (s Structure, ok bool) {
	if id < 0 || id >= Count {
		return 0, false
	}
	return Structure(id + 1), true
}

var byName, byKey = index(func(f facts) string { return f.name }), index(func(f facts) string { return f.key })

func index(text func(facts) string) map[string]Structure {
	m := make(map[string]Structure, Count)
	for _, s := range All() {
		m[text(table[s])] = s
	}
	return m
}

// ByName returns the structure with an official name; ok is false for any other text.
func ByName(name string) (s Structure, ok bool) {
	s, ok = byName[name]
	return s, ok
}

// ByKey returns the structure with one of our keys; ok is false for any other text.
func ByKey(key string) (s Structure, ok bool) {
	s, ok = byKey[key]
	return s, ok
}

// All returns every structure in channel order.
func All() []Structure {
	all := make([]Structure, Count)
	for i := range all {
		all[i] = Structure(i + 1)
	}
	return all
}

// MarshalText encodes a valid structure as its official name.
func (s Structure) MarshalText() ([]byte, error) {
	if !s.Valid() {
		return nil, fmt.Errorf("anatomy: %s", s.Name())
	}
	return []byte(s.Name()), nil
}

// UnmarshalText accepts exactly the official names.
func (s *Structure) UnmarshalText(b []byte) error {
	v, ok := ByName(string(b))
	if !ok {
		return fmt.Errorf("anatomy: no structure is called %q", b)
	}
	*s = v
	return nil
}
