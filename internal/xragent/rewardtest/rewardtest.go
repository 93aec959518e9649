// Package rewardtest draws the trajectories that the speed of rewards is measured on, for
// tests and for infra/bench.
package rewardtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"cxrepro/internal/xragent"
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

// Trajectories draws n trajectories out of a folder with the golden rows phrases.jsonl and
// raw.jsonl: questions, plans and answers of the rows, reasoning of plain sentences and of the
// rows' phrases, about 3 kB a line. The first n are always the same.
func Trajectories(golden string, n int) (list []xragent.Trajectory, lines [][]byte, err error) {
	type phrase struct{ Text string }
	said, err := rows[phrase](filepath.Join(golden, "phrases.jsonl"))
	if err != nil {
		return nil, nil, err
	}
	base, err := rows[xragent.Trajectory](filepath.Join(golden, "raw.jsonl"))
	if err != nil {
		return nil, nil, err
	}
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
		if err != nil {
			return nil, nil, err
		}
		list, lines = append(list, t), append(lines, line)
	}
	return list, lines, nil
}

// rows reads a file of one JSON object a line.
func rows[T any](file string) ([]T, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []T
	for line := range bytes.Lines(data) {
		var row T
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, fmt.Errorf("%s line %d: %w", file, len(out)+1, err)
		}
		out = append(out, row)
	}
	return out, nil
}
