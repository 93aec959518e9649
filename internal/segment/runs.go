package segment

import (
	"math"
	"unsafe"

	"cxrepro/internal/mask"
)

// Bits of two float32 in one word.
const (
	signs = 0x8000000080000000 // both sign bits
	rest  = 0x7fffffff7fffffff // everything else
	carry = 0x0080000000800000 // added to rest, it reaches the sign bit where the exponent is all ones
	ones  = 0x7fffffff7fffffff // added to rest, it reaches the sign bit where the value is not zero
)

// littleEndian tells whether the first of two float32 lies in the low half of a word.
var littleEndian = func() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}()

// positiveRuns returns the pixels of a w x h plane of logits that are greater than zero
// (zero of either sign is background), and whether all values are finite.
//
// Two logits are looked at in one word: a stretch of 16 pixels that are all outside, or
// all inside, costs no branch per pixel. That is what keeps 159 planes cheap.
func positiveRuns(plane []float32, w, h int) (mask.Mask, bool) {
	if w%2 != 0 || !littleEndian || uintptr(unsafe.Pointer(unsafe.SliceData(plane)))%8 != 0 {
		return runsAbove(plane, w, h, 0)
	}
	plane = plane[:w*h]
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(plane))), len(plane)/2)
	b := mask.NewBuilder(w, h)
	var infinite uint64
	for y := range h {
		row := words[y*w/2 : (y+1)*w/2]
		infinite |= scanRow(row, y, b)
	}
	return b.Mask(), infinite&signs == 0
}

// scanRow adds one row's runs and returns a word whose sign bits tell of values that are
// not finite.
func scanRow(row []uint64, y int, b *mask.Builder) (infinite uint64) {
	start := -1 // column of the open run
	i := 0
	for ; i+8 <= len(row); i += 8 {
		p := row[i : i+8 : i+8]
		and := p[0] & p[1] & p[2] & p[3] & p[4] & p[5] & p[6] & p[7]
		or := p[0] | p[1] | p[2] | p[3] | p[4] | p[5] | p[6] | p[7]
		if ((or&rest)+carry)&signs != 0 { // a bound for all 16: only then look at each
			infinite |= ((p[0] & rest) + carry) | ((p[1] & rest) + carry) | ((p[2] & rest) + carry) | ((p[3] & rest) + carry) |
				((p[4] & rest) + carry) | ((p[5] & rest) + carry) | ((p[6] & rest) + carry) | ((p[7] & rest) + carry)
		}
		if start < 0 {
			if and&signs == signs {
				continue // outside throughout
			}
		} else if or&signs == 0 {
			full := (p[0] + ones) & (p[1] + ones) & (p[2] + ones) & (p[3] + ones) &
				(p[4] + ones) & (p[5] + ones) & (p[6] + ones) & (p[7] + ones)
			if full&signs == signs {
				continue // inside throughout
			}
		}
		start = scanWords(p, 2*i, y, start, b)
	}
	for _, v := range row[i:] {
		infinite |= (v & rest) + carry
	}
	if start = scanWords(row[i:], 2*i, y, start, b); start >= 0 {
		b.Add(y, start, 2*len(row))
	}
	return infinite
}

// scanWords walks pixel by pixel from column x; a float32 is greater than zero exactly
// when its bits as a signed number are.
func scanWords(words []uint64, x, y, start int, b *mask.Builder) int {
	for _, v := range words {
		for _, in := range [2]bool{int32(uint32(v)) > 0, int32(uint32(v>>32)) > 0} {
			if in != (start >= 0) {
				if in {
					start = x
				} else {
					b.Add(y, start, x)
					start = -1
				}
			}
			x++
		}
	}
	return start
}

// runsAbove is the plain way, for any threshold and any width.
func runsAbove(plane []float32, w, h int, threshold float32) (mask.Mask, bool) {
	b := mask.NewBuilder(w, h)
	finite := true
	for y := range h {
		start := -1
		for x, v := range plane[y*w : (y+1)*w] {
			finite = finite && !notFinite(v)
			if in := v > threshold; in != (start >= 0) {
				if in {
					start = x
				} else {
					b.Add(y, start, x)
					start = -1
				}
			}
		}
		if start >= 0 {
			b.Add(y, start, w)
		}
	}
	return b.Mask(), finite
}

func notFinite(v float32) bool { return math.Float32bits(v)&0x7f800000 == 0x7f800000 }

// countNotFinite is for the message only.
func countNotFinite(plane []float32) (n int) {
	for _, v := range plane {
		if notFinite(v) {
			n++
		}
	}
	return n
}

// nonZeroRuns returns the pixels of a w x h plane of bytes that are not zero.
func nonZeroRuns(plane []uint8, w, h int) mask.Mask {
	b := mask.NewBuilder(w, h)
	for y := range h {
		row := plane[y*w : (y+1)*w]
		start := -1
		for x := 0; x < w; x++ {
			if start < 0 && x+8 <= w {
				if word := *(*[8]uint8)(row[x : x+8]); word == ([8]uint8{}) {
					x += 7
					continue
				}
			}
			if in := row[x] != 0; in != (start >= 0) {
				if in {
					start = x
				} else {
					b.Add(y, start, x)
					start = -1
				}
			}
		}
		if start >= 0 {
			b.Add(y, start, w)
		}
	}
	return b.Mask()
}
