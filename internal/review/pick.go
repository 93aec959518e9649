package review

import "slices"

// spread returns n of the places 0 to m-1, evenly: the middles of n equal parts. All of
// them when n is not below m.
func spread(m, n int) []int {
	if n >= m {
		n = m
	}
	out := make([]int, n)
	for i := range out {
		out[i] = (2*i + 1) * m / (2 * n)
	}
	return out
}

// pick returns n of the list's elements, evenly spread over its order.
func pick(list []int32, n int) []int {
	places := spread(len(list), n)
	out := make([]int, len(places))
	for i, p := range places {
		out[i] = int(list[p])
	}
	return out
}

// bin is one range of values, Low <= v < High; the last one includes High.
type bin struct {
	Low, High float64
	// Pass and Fail count values by the rule's verdict.
	Pass, Fail int
	// members are the ordinals in the order of the images.
	members []int32
}

// bins cuts a series into ranges of equal width over all its values. A series of one
// value has one bin, an empty one none.
func (s *series) bins(n int) []bin {
	lo, hi, ok := s.extent()
	if !ok {
		return nil
	}
	if lo == hi {
		n = 1
	}
	out := make([]bin, n)
	width := (hi - lo) / float64(n)
	for i := range out {
		out[i].Low, out[i].High = lo+float64(float64(i)*width), lo+float64(float64(i+1)*width)
	}
	out[n-1].High = hi
	for i, v := range s.values {
		b := &out[n-1]
		if width > 0 {
			b = &out[min(n-1, int((float64(v)-lo)/width))]
		}
		if s.pass[i] {
			b.Pass++
		} else {
			b.Fail++
		}
		b.members = append(b.members, s.ordinals[i])
	}
	return out
}

// examples returns up to n ordinals of a bin, evenly spread.
func (b *bin) examples(n int) []int { return pick(b.members, n) }

// series are the values of one rule, or one part of a rule's pair, over all images that
// have it, in the order of the images. Values are kept to single precision, for showing;
// verdicts are the exact ones.
type series struct {
	ordinals []int32
	values   []float32
	pass     []bool
}

func (s *series) add(ordinal int, v float64, pass bool) {
	s.ordinals = append(s.ordinals, int32(ordinal))
	s.values = append(s.values, float32(v))
	s.pass = append(s.pass, pass)
}

func (s *series) extent() (lo, hi float64, ok bool) {
	if len(s.values) == 0 {
		return 0, 0, false
	}
	return float64(slices.Min(s.values)), float64(slices.Max(s.values)), true
}

// value returns the value of an image; ok is false when it has none.
func (s *series) value(ordinal int) (v float64, pass, ok bool) {
	i, ok := slices.BinarySearch(s.ordinals, int32(ordinal))
	if !ok {
		return 0, false, false
	}
	return float64(s.values[i]), s.pass[i], true
}
