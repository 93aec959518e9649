package tiny

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// the plot's frame in pixels
const (
	plotW, plotH           = 760, 420
	left, right, top, base = 64, 150, 56, 52
)

// Curve writes the learning curves of finished runs as one SVG: a thin line for each round's
// mean reward, a thick one for the mean over ten rounds. Runs with permuted rewards are dashed.
func Curve(path string, runs []string) error {
	var b strings.Builder
	results := make([]Result, len(runs))
	rounds, low, high := 1, -0.2, 1.2
	for i, dir := range runs {
		data, err := os.ReadFile(filepath.Join(dir, "result.json"))
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &results[i]); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		rounds = max(rounds, len(results[i].Rounds))
		for _, r := range results[i].Rounds {
			low = min(low, r.Reward)
		}
	}
	x := func(k float64) float64 { return left + k/float64(max(1, rounds-1))*(plotW-left-right) }
	y := func(v float64) float64 { return top + (high-v)/(high-low)*(plotH-top-base) }
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", plotW, plotH, plotW, plotH)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotW, plotH)
	fmt.Fprintf(&b, `<text x="%d" y="22" font-size="15">Mean reward of a round of GRPO, 16 items of 4 draws</text>`+"\n", left)
	fmt.Fprintf(&b, `<text x="%d" y="40" fill="#555">A small policy that proves the machinery and says nothing about the paper's numbers.</text>`+"\n", left)
	for k := int(low*5) - 1; float64(k)/5 <= high; k++ {
		v := float64(k) / 5
		if v < low {
			continue
		}
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%.1f</text>`+"\n", left, y(v), plotW-right, left-8, y(v)+4, v)
	}
	for k := 0; k <= rounds; k += max(1, rounds/5) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n", x(float64(max(0, k-1))), plotH-base+18, max(1, k))
	}
	fmt.Fprintf(&b, `<text x="%.0f" y="%d" text-anchor="middle">round</text>`+"\n", x(float64(rounds-1)/2), plotH-12)
	colours := []string{"#1f5fa8", "#b3541e", "#2e7d4f", "#7a3e9d", "#555555"}
	for i, r := range results {
		colour, dash, name := colours[i%len(colours)], "", fmt.Sprintf("seed %d", r.Options.Seed)
		if r.Options.Permute {
			dash, name = ` stroke-dasharray="6 4"`, name+", permuted"
		}
		if r.Options.Scale {
			name += ", scaled"
		}
		var thin, thick []string
		for k, round := range r.Rounds {
			thin = append(thin, fmt.Sprintf("%.1f,%.1f", x(float64(k)), y(round.Reward)))
			sum, n := 0.0, 0
			for j := max(0, k-4); j <= min(len(r.Rounds)-1, k+5); j++ {
				sum += r.Rounds[j].Reward
				n++
			}
			thick = append(thick, fmt.Sprintf("%.1f,%.1f", x(float64(k)), y(sum/float64(n))))
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="0.7" opacity="0.45"/>`+"\n", strings.Join(thin, " "), colour)
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2.4"%s/>`+"\n", strings.Join(thick, " "), colour, dash)
		at := top + 20 + 20*i
		fmt.Fprintf(&b, `<path d="M%d %dh24" stroke="%s" stroke-width="2.4"%s/><text x="%d" y="%d">%s</text>`+"\n", plotW-right+12, at-4, colour, dash, plotW-right+42, at, name)
	}
	b.WriteString("</svg>\n")
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
