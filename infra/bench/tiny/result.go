package tiny

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cxrepro/internal/stats"
)

// Result is what a run showed.
type Result struct {
	Options Options `json:"options"`
	Weights string  `json:"weights"`
	Rounds  []Round `json:"rounds"`
	Base    Score   `json:"base"`
	SFT     Score   `json:"sft"`
	GRPO    Score   `json:"grpo"`
	// First and Last are mean rewards of the first and the last ten rounds.
	First float64 `json:"first_ten"`
	Last  float64 `json:"last_ten"`
	// PSFT and PGRPO are exact McNemar tests of SFT against base and GRPO against SFT.
	PSFT  float64 `json:"p_sft"`
	PGRPO float64 `json:"p_grpo"`
	// Needed and Needless are shares of held-out rollouts with a call where a tool is needed
	// and where none is.
	Needed   float64 `json:"called_needed"`
	Needless float64 `json:"called_needless"`
}

func (r *Result) finish() {
	mean := func(list []Round) float64 {
		sum := 0.0
		for _, x := range list {
			sum += x.Reward
		}
		return sum / float64(max(1, len(list)))
	}
	n := min(10, len(r.Rounds))
	r.First, r.Last = mean(r.Rounds[:n]), mean(r.Rounds[len(r.Rounds)-n:])
	r.PSFT, r.PGRPO = test(r.Base, r.SFT), test(r.SFT, r.GRPO)
	var called, of [2]int
	for f, x := range r.GRPO.Family {
		k := 0
		if f.Tool() != "" {
			k = 1
		}
		called[k] += x.Called
		of[k] += x.Items
	}
	r.Needless, r.Needed = float64(called[0])/float64(max(1, of[0])), float64(called[1])/float64(max(1, of[1]))
}

func test(a, b Score) float64 {
	var p stats.Paired
	for i := range a.Correct {
		p.Add(b.Correct[i], a.Correct[i])
	}
	v, _ := p.McNemar()
	return v
}

// String prints what the training has to show.
func (r Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "a small policy that proves the machinery and says nothing about the paper's numbers\n")
	fmt.Fprintf(&b, "reward of the first and last ten rounds: %.3f -> %.3f (%+.3f)\n", r.First, r.Last, r.Last-r.First)
	fmt.Fprintf(&b, "held out: base %d, SFT %d, GRPO %d of %d; exact McNemar p %.2g and %.2g\n", r.Base.Right, r.SFT.Right, r.GRPO.Right, r.GRPO.Items, r.PSFT, r.PGRPO)
	fmt.Fprintf(&b, "rollouts with a call: %.3f where a tool is needed, %.3f elsewhere\n", r.Needed, r.Needless)
	fmt.Fprintf(&b, "weights %s\n", r.Weights)
	return b.String()
}

func (r Result) write(dir string) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "result.json"), data, 0o644)
}
