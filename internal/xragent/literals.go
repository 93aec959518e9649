package xragent

// literals finds, in one pass over a text, which of a fixed list of words and parts of words
// stand in it. It is what lets a rewriting be passed over without looking for its literals one
// by one.
type literals struct {
	class [256]uint8 // of a byte; 0 stands in no literal
	width int
	next  []uint16 // by state and class
	ends  []found  // by state: the literals that end there
}

// found is a set of literals by number.
type found [4]uint64

func (f *found) add(n int)          { f[n/64] |= 1 << (n % 64) }
func (f *found) meets(g found) bool { return f[0]&g[0]|f[1]&g[1]|f[2]&g[2]|f[3]&g[3] != 0 }

// newLiterals builds the automaton of Aho and Corasick over a list of at most 256 literals.
func newLiterals(list []string) *literals {
	if len(list) > 256 {
		panic("xragent: more literals than a set of them holds")
	}
	a := &literals{width: 1}
	for _, l := range list {
		for i := range len(l) {
			if a.class[l[i]] == 0 {
				a.class[l[i]] = uint8(a.width)
				a.width++
			}
		}
	}
	state := func() int {
		a.next = append(a.next, make([]uint16, a.width)...)
		a.ends = append(a.ends, found{})
		return len(a.ends) - 1
	}
	state()
	for n, l := range list {
		s := 0
		for i := range len(l) {
			at := s*a.width + int(a.class[l[i]])
			if a.next[at] == 0 {
				to := state()
				a.next[at] = uint16(to)
			}
			s = int(a.next[at])
		}
		a.ends[s].add(n)
	}
	a.close()
	return a
}

// close gives every state a successor for every class: where no literal goes on, that of the
// longest ending that begins one.
func (a *literals) close() {
	back := make([]int, len(a.ends))
	var queue []int
	for c := range a.width {
		if to := a.next[c]; to != 0 {
			queue = append(queue, int(to))
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for i := range a.ends[s] {
			a.ends[s][i] |= a.ends[back[s]][i]
		}
		for c := range a.width {
			at, other := s*a.width+c, a.next[back[s]*a.width+c]
			if to := a.next[at]; to != 0 {
				back[to] = int(other)
				queue = append(queue, int(to))
			} else {
				a.next[at] = other
			}
		}
	}
}

// in returns the literals that stand in text.
func (a *literals) in(text string) found {
	var out found
	s := 0
	for i := range len(text) {
		s = int(a.next[s*a.width+int(a.class[text[i]])])
		if s != 0 {
			e := &a.ends[s]
			out[0] |= e[0]
			out[1] |= e[1]
			out[2] |= e[2]
			out[3] |= e[3]
		}
	}
	return out
}
