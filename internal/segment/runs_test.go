package segment

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/mask"
)

// slow is the definition: a pixel is in the mask when its logit is greater than zero.
func slow(plane []float32, w, h int) mask.Mask {
	return mask.FromFunc(w, h, func(x, y int) bool { return plane[y*w+x] > 0 })
}

// The fast way agrees with the definition on planes that mix long stretches, noise,
// zeros of both signs, the smallest numbers and run ends at every position of a word.
func TestPositiveRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	special := []float32{0, float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, math.MaxFloat32, -math.MaxFloat32}
	for trial := range 400 {
		w, h := 1+r.IntN(70), 1+r.IntN(4)
		if trial%2 == 0 {
			w = 2 * (1 + r.IntN(40))
		}
		plane := make([]float32, w*h)
		v := float32(-1)
		for i := range plane {
			if r.Float64() < 0.06 {
				v = -v
			}
			plane[i] = v * r.Float32()
			if r.Float64() < 0.02 {
				plane[i] = special[r.IntN(len(special))]
			}
		}
		got, finite := positiveRuns(plane, w, h)
		require.True(t, finite)
		require.NoError(t, got.Validate())
		require.True(t, got.Equal(slow(plane, w, h)), "trial %d, %d x %d", trial, w, h)
		plain, finite := runsAbove(plane, w, h, 0)
		require.True(t, finite)
		require.True(t, got.Equal(plain))
	}
}

func TestRunsAtEdges(t *testing.T) {
	for _, w := range []int{1, 2, 15, 16, 17, 32, 512} {
		for _, v := range []float32{1, -1, 0} {
			plane := make([]float32, 3*w)
			for i := range plane {
				plane[i] = v
			}
			got, _ := positiveRuns(plane, w, 3)
			require.True(t, got.Equal(slow(plane, w, 3)))
			plane[2*w] = -v
			plane[3*w-1] = -v
			got, _ = positiveRuns(plane, w, 3)
			require.True(t, got.Equal(slow(plane, w, 3)))
		}
	}
}

// A value that is not finite is seen at every position, by both ways.
func TestNotFiniteIsSeen(t *testing.T) {
	bad := []float32{float32(math.NaN()), -float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}
	for _, w := range []int{18, 17} {
		for i := range w {
			for _, v := range bad {
				plane := make([]float32, w)
				for j := range plane {
					plane[j] = float32(math.Copysign(math.MaxFloat32, float64(1-2*(j/4%2))))
				}
				_, finite := positiveRuns(plane, w, 1)
				require.True(t, finite)
				plane[i] = v
				_, finite = positiveRuns(plane, w, 1)
				require.False(t, finite, "column %d of %d", i, w)
				require.Equal(t, 1, countNotFinite(plane))
			}
		}
	}
}

func TestThresholdAndBytes(t *testing.T) {
	plane := []float32{0.5, 0.50001, 0.4, 1, 1, 0.5}
	m, finite := runsAbove(plane, 6, 1, 0.5)
	require.True(t, finite)
	require.Equal(t, []mask.Run{{X0: 1, X1: 2}, {X0: 3, X1: 5}}, m.Row(0))

	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		w, h := 1+r.IntN(40), 1+r.IntN(4)
		b := make([]uint8, w*h)
		var v uint8
		for i := range b {
			if r.Float64() < 0.1 {
				v = uint8(r.IntN(2)) * uint8(1+r.IntN(255))
			}
			b[i] = v
		}
		want, err := mask.FromDense(w, h, b)
		require.NoError(t, err)
		require.True(t, nonZeroRuns(b, w, h).Equal(want))
	}
}
