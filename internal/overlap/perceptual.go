package overlap

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"cxrepro/internal/cxr"
)

// PerceptualName names the perceptual hash with its version; hashes of different names are
// never compared.
const PerceptualName = "dct-phash-256/1"

// Limit is the largest distance in bits at which two pictures count as near-duplicates. A
// comparison with a smaller one clears nobody.
// Source: [ours] measured on phantoms, docs/design/0017-checkpoints-and-overlap.md.
const Limit = 24

// Hash is a perceptual hash: pictures that look alike have hashes that differ in few bits.
type Hash [hashBits / 64]uint64

// hashBits is the length of a hash.
const hashBits = coefficients * coefficients

// grid is the side of the picture that is transformed, coefficients the side of the block of
// low frequencies that is kept.
const grid, coefficients = 64, 16

// Perceptual returns the hash of a picture: its mean over 64 x 64 cells, the discrete cosine
// transform of that, and for the 16 x 16 lowest frequencies (without those that are constant
// along a side) whether the coefficient is above the median of the 256. The usual 64 bits tell
// chest films apart from scenes, and not from each other.
//
// Brightness and contrast of the whole picture change nothing but for rounding; size, format
// and compression little. A turned, mirrored or cut picture is another one.
// Range: whole numbers throughout, so every machine computes the same bits.
// Errors: a picture without pixels.
// Source: [ours] after the hash known as pHash (C. Zauner, 2010).
func Perceptual(m *cxr.Image) (h Hash, err error) {
	if err := m.Check(); err != nil {
		return h, fmt.Errorf("perceptual hash: %w", err)
	}
	cells := means(m)
	var rows [grid][coefficients]int64
	for y := range grid {
		for u := range coefficients {
			for x := range grid {
				rows[y][u] += cells[y][x] * cosines[u][x]
			}
		}
	}
	values := make([]int64, 0, coefficients*coefficients)
	for v := range coefficients {
		for u := range coefficients {
			var sum int64
			for y := range grid {
				sum += rows[y][u] * cosines[v][y]
			}
			values = append(values, sum)
		}
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	low, high := sorted[len(sorted)/2-1], sorted[len(sorted)/2]
	median := low + (high-low)/2
	for i, v := range values {
		if v > median {
			h[i/64] |= 1 << (i % 64)
		}
	}
	return h, nil
}

// means are the mean grey values of the cells, in 256ths. A picture of fewer pixels than
// cells repeats them.
func means(m *cxr.Image) (cells [grid][grid]int64) {
	for j := range grid {
		y0 := j * m.Height / grid
		y1 := max(y0+1, (j+1)*m.Height/grid)
		for i := range grid {
			x0 := i * m.Width / grid
			x1 := max(x0+1, (i+1)*m.Width/grid)
			var sum int64
			for y := y0; y < y1; y++ {
				for _, p := range m.Row(y)[x0:x1] {
					sum += int64(p)
				}
			}
			cells[j][i] = 256 * sum / int64((y1-y0)*(x1-x0))
		}
	}
	return cells
}

// cosines are the transform's factors for the frequencies 1 to 16 in 2^14ths. A grey value in
// 256ths and two of them, summed over 4096 cells, stay below 2^56.
var cosines = func() (c [coefficients][grid]int64) {
	for u := range coefficients {
		for x := range grid {
			c[u][x] = int64(math.Round(math.Ldexp(math.Cos(math.Pi*float64((2*x+1)*(u+1))/(2*grid)), 14)))
		}
	}
	return c
}()

// Distance is the number of bits in which two hashes differ.
func (h *Hash) Distance(other *Hash) (n int) {
	for i, v := range h {
		n += bits.OnesCount64(v ^ other[i])
	}
	return n
}

// String returns 64 hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h.bytes()) }

func (h Hash) bytes() (b []byte) {
	for _, v := range h {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

// MarshalText writes 64 hexadecimal digits.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads 64 hexadecimal digits.
func (h *Hash) UnmarshalText(text []byte) error {
	var b [hashBits / 8]byte
	if n, err := hex.Decode(b[:], text[:min(len(text), 2*len(b))]); err != nil || n != len(b) || len(text) != 2*len(b) {
		return fmt.Errorf("perceptual hash %q: want %d hexadecimal digits", text, 2*len(b))
	}
	for i := range h {
		h[i] = binary.BigEndian.Uint64(b[8*i:])
	}
	return nil
}
