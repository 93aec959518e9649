package mask

import (
	"fmt"
	"strings"
)

// EncodeCOCO returns the compressed COCO string of the mask: its [Mask.Counts], from
// the fourth on as the difference from the count two before, each as groups of five
// bits, low group first, bit 5 set while more follow, shifted to printable characters.
//
// Source: the public COCO run-length format.
func (m Mask) EncodeCOCO() string {
	counts := m.Counts()
	var s strings.Builder
	for i, c := range counts {
		if i > 2 {
			c -= counts[i-2]
		}
		for {
			g := c & 0x1f
			c >>= 5
			// Done when the rest is only the sign that bit 4 of this group carries.
			more := c != -(g >> 4 & 1)
			if more {
				g |= 0x20
			}
			s.WriteByte(byte(g + 48))
			if !more {
				break
			}
		}
	}
	return s.String()
}

// DecodeCOCO reads a compressed COCO string of a w x h picture.
//
// Errors: a character outside the format, a value that does not end or does not fit, and
// whatever [FromCounts] refuses.
func DecodeCOCO(w, h int, text string) (Mask, error) {
	var counts []int
	for i := 0; i < len(text); {
		v, n, err := cocoValue(text[i:])
		if err != nil {
			return Mask{}, fmt.Errorf("mask: compressed counts at byte %d: %w", i, err)
		}
		i += n
		if k := len(counts); k > 2 {
			v += counts[k-2]
		}
		counts = append(counts, v)
	}
	return FromCounts(w, h, counts)
}

// cocoValue reads one signed value and returns its length in bytes.
func cocoValue(s string) (v, n int, err error) {
	for shift := 0; ; shift += 5 {
		if n == len(s) {
			return 0, 0, fmt.Errorf("text ends inside a value")
		}
		if shift > 55 {
			return 0, 0, fmt.Errorf("value of more than 60 bits")
		}
		g := int(s[n]) - 48
		if g < 0 || g > 0x3f {
			return 0, 0, fmt.Errorf("character %q outside the format", s[n])
		}
		n++
		v |= (g & 0x1f) << shift
		if g&0x20 != 0 {
			continue
		}
		if g&0x10 != 0 {
			v |= -1 << (shift + 5)
		}
		return v, n, nil
	}
}
