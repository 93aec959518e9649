package tiny

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cxrepro/internal/trainer/quiztraining"
)

// Result is what a run showed.
type Result struct {
	Options Options            `json:"options"`
	Weights string             `json:"weights"`
	Rounds  []Round            `json:"rounds"`
	Base    quiztraining.Score `json:"base"`
	SFT     quiztraining.Score `json:"sft"`
	GRPO    quiztraining.Score `json:"grpo"`
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
	r.First, r.Last = r.curve().Ends()
	r.PSFT, r.PGRPO = test(r.Base, r.SFT), test(r.SFT, r.GRPO)
	needed, needless := r.GRPO.Calls()
	r.Needed, _ = needed.Value()
	r.Needless, _ = needless.Value()
}

func test(a, b quiztraining.Score) float64 {
	v, _ := b.Against(a).McNemar()
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
