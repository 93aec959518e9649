package phantom

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// stream is a named source of draws. Each use has its own stream, so a new draw in one
// place leaves every other place as it was. Only exact operations are used, so the draws
// are the same on every machine.
type stream struct{ pcg *rand.PCG }

// newStream returns the stream of one phantom (seed, index) with the given name.
func newStream(seed uint64, index int, name string) *stream {
	h := sha256.New()
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], seed)
	binary.LittleEndian.PutUint64(b[8:], uint64(index))
	h.Write(b[:])
	h.Write([]byte(name))
	sum := h.Sum(nil)
	return &stream{rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16]))}
}

// float returns a draw from [0, 1) on the grid of 2^-53.
func (s *stream) float() float64 { return float64(s.pcg.Uint64()>>11) / (1 << 53) }

// uniform returns a draw from [lo, hi).
func (s *stream) uniform(lo, hi float64) float64 { return lo + float64((hi-lo)*s.float()) }

// normal returns a draw with the given mean and standard deviation, the sum of twelve
// uniform draws: bounded to six deviations, exact arithmetic.
func (s *stream) normal(mean, sd float64) float64 {
	t := -6.0
	for range 12 {
		t += s.float()
	}
	return mean + float64(sd*t)
}

// clamped returns a normal draw held inside [lo, hi].
func (s *stream) clamped(mean, sd, lo, hi float64) float64 {
	return clamp(s.normal(mean, sd), lo, hi)
}

// chance reports true with probability p.
func (s *stream) chance(p float64) bool { return s.float() < p }

// sign returns -1 or 1.
func (s *stream) sign() float64 {
	if s.chance(0.5) {
		return -1
	}
	return 1
}

// intn returns a draw from 0..n-1.
func (s *stream) intn(n int) int { return int(s.float() * float64(n)) }

func clamp(v, lo, hi float64) float64 {
	if v < lo {
		return lo
	}
	if v > hi {
		return hi
	}
	return v
}
