package anatomy

import "math/bits"

// Set is a set of structures, a small value that can be compared with ==. The zero value
// is empty.
type Set struct{ words [3]uint64 }

// SetOf returns the set of the given structures.
func SetOf(list ...Structure) Set {
	var t Set
	for _, s := range list {
		t = t.With(s)
	}
	return t
}

// AllSet returns the set of all 159.
func AllSet() Set { return SetOf(All()...) }

// With returns the set with s added; an invalid structure changes nothing.
func (t Set) With(s Structure) Set {
	if s.Valid() {
		t.words[s/64] |= 1 << (s % 64)
	}
	return t
}

// Has reports whether s is in the set.
func (t Set) Has(s Structure) bool { return s.Valid() && t.words[s/64]>>(s%64)&1 != 0 }

// Len returns the number of structures in the set.
func (t Set) Len() int {
	n := 0
	for _, w := range t.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// And returns the structures in both sets.
func (t Set) And(o Set) Set {
	for i := range t.words {
		t.words[i] &= o.words[i]
	}
	return t
}

// Minus returns the structures of t that are not in o.
func (t Set) Minus(o Set) Set {
	for i := range t.words {
		t.words[i] &^= o.words[i]
	}
	return t
}

// List returns the structures in channel order.
func (t Set) List() []Structure {
	list := make([]Structure, 0, t.Len())
	for _, s := range All() {
		if t.Has(s) {
			list = append(list, s)
		}
	}
	return list
}
