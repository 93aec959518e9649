package xragent_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/rewardtest"
)

// TestSpeedTrajectories pins what speed is measured on.
func TestSpeedTrajectories(t *testing.T) {
	_, lines, err := rewardtest.Trajectories("testdata", 10_000)
	require.NoError(t, err)
	h := sha256.New()
	var sizes []int
	for _, l := range lines {
		h.Write(l)
		sizes = append(sizes, len(l))
	}
	slices.Sort(sizes)
	require.InDelta(t, 3000, sizes[len(sizes)/2], 250, "median size")
	require.Equal(t, "6029ed0559b9325c", hex.EncodeToString(h.Sum(nil)[:8]))
}

// BenchmarkScore scores the 10,000 trajectories; one iteration is one trajectory.
func BenchmarkScore(b *testing.B) {
	list, _, err := rewardtest.Trajectories("testdata", 10_000)
	require.NoError(b, err)
	began := time.Now()
	for i := 0; b.Loop(); i++ {
		xragent.ScoreTrajectory(list[i%len(list)], xragent.DefaultSetting())
	}
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "trajectories/s")
}

// BenchmarkScoreLine also reads each trajectory from its line.
func BenchmarkScoreLine(b *testing.B) {
	_, lines, err := rewardtest.Trajectories("testdata", 10_000)
	require.NoError(b, err)
	began := time.Now()
	for i := 0; b.Loop(); i++ {
		t, err := xragent.ReadTrajectory(lines[i%len(lines)])
		if err != nil {
			b.Fatal(err)
		}
		xragent.ScoreTrajectory(t, xragent.DefaultSetting())
	}
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "trajectories/s")
}
