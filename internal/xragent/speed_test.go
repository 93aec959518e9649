package xragent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// plain are sentences of a reading that say nothing of the three measurements.
var plain = []string{
	"The film is adequately exposed and the apices are included.", "There is a hazy opacity in the left lower zone with a poorly defined margin.",
	"The costophrenic angles are sharp on both sides.", "No pneumothorax line can be followed along the chest wall.",
	"The pulmonary vessels taper towards the periphery as expected.", "The ribs show no break and no destruction.",
	"A thin line projects over the right upper zone and ends above the azygos vein.", "The hila have a concave outer border.",
	"The crop of the retrocardiac region shows air bronchograms behind the heart shadow.", "According to the description, consolidation obscures the vessels that run through it.",
	"Silhouetting of the left hemidiaphragm speaks for the lower lobe.", "The soft tissues of the neck are unremarkable.",
	"I compare this with the other options before I settle on one.", "Old granulomas may look like this, but they are denser and sharper.",
	"The gastric bubble lies in its usual place.", "An effusion of this size would blunt the angle and rise along the wall.",
}

// speedTrajectories draws the 10,000 trajectories that speed is measured on: questions,
// plans and answers of the golden rows, reasoning of plain sentences and of the golden and
// tabled phrases, about 3 kB a line. The digest of all lines is pinned: they are always
// the same.
func speedTrajectories(tb testing.TB, n int) (list []Trajectory, lines [][]byte) {
	tb.Helper()
	type phrase struct{ Text string }
	said := rows[phrase](tb, "phrases.jsonl", 60)
	base := rows[Trajectory](tb, "raw.jsonl", 40)
	r := rand.New(rand.NewPCG(2026, 12))
	think := func(bytes, phrases int) string {
		var parts []string
		for size := 0; size < bytes; {
			s := plain[r.IntN(len(plain))]
			if phrases > 0 && r.IntN(4) == 0 {
				s = said[r.IntN(len(said))].Text
				phrases--
			}
			parts = append(parts, s)
			size += len(s) + 1
		}
		return "<think>" + strings.Join(parts, " ") + "</think>"
	}
	for i := range n {
		t := base[r.IntN(len(base))]
		t.ID = fmt.Sprintf("s%05d", i)
		if t.Turn1 != nil {
			turn := *t.Turn1
			_, rest, _ := strings.Cut(turn.Text, "</think>")
			turn.Text = think(560+r.IntN(300), 1) + rest
			t.Turn1 = &turn
		}
		if t.Turn2 != nil {
			turn := *t.Turn2
			_, rest, _ := strings.Cut(turn.Text, "</think>")
			turn.Text = think(1130+r.IntN(700), 6) + rest
			t.Turn2 = &turn
		}
		line, err := json.Marshal(t)
		require.NoError(tb, err)
		list, lines = append(list, t), append(lines, line)
	}
	return list, lines
}

// TestSpeedTrajectories pins what speed is measured on.
func TestSpeedTrajectories(t *testing.T) {
	_, lines := speedTrajectories(t, 10_000)
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
	list, _ := speedTrajectories(b, 10_000)
	began := time.Now()
	for i := 0; b.Loop(); i++ {
		ScoreTrajectory(list[i%len(list)], DefaultSetting())
	}
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "trajectories/s")
}

// BenchmarkScoreLine also reads each trajectory from its line.
func BenchmarkScoreLine(b *testing.B) {
	_, lines := speedTrajectories(b, 10_000)
	began := time.Now()
	for i := 0; b.Loop(); i++ {
		t, err := ReadTrajectory(lines[i%len(lines)])
		if err != nil {
			b.Fatal(err)
		}
		ScoreTrajectory(t, DefaultSetting())
	}
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "trajectories/s")
}
