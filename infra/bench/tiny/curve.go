package tiny

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"cxrepro/internal/contract"
	"cxrepro/internal/report/learning"
)

// Curve writes the learning curves of finished runs as one SVG. Controls are dashed.
func Curve(path string, runs []string) error {
	var curves []learning.Curve
	for _, dir := range runs {
		data, err := os.ReadFile(filepath.Join(dir, "result.json"))
		if err != nil {
			return err
		}
		var r Result
		if err := json.Unmarshal(data, &r); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		curves = append(curves, r.curve())
	}
	return os.WriteFile(path, []byte(learning.Rewards(curves)), 0o644)
}

func (r Result) curve() learning.Curve {
	c := learning.Curve{Name: fmt.Sprintf("seed %d", r.Options.Seed), Control: r.Options.Permute}
	if r.Options.Permute {
		c.Name += ", permuted"
	}
	if r.Options.Scale {
		c.Name += ", scaled"
	}
	for i, x := range r.Rounds {
		calls := 0
		for _, n := range x.Calls {
			calls += n
		}
		c.Rounds = append(c.Rounds, learning.Round{Step: i + 1, Samples: items * draws, RoundRewards: contract.RoundRewards{
			Mean: x.Reward, Correct: int(x.Accuracy*items*draws + 0.5), Calls: calls, Malformed: x.Malformed, Degenerate: x.Same, Groups: items,
		}})
	}
	return c
}
