package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/rewardtest"
)

// rewardsBar is how many trajectories one core scores in a second.
const rewardsBar = 5000

// runRewards scores the pinned trajectories on one core, and the same ones in plain Python.
// Both must give the same terms and rewards before their speed is told.
func runRewards(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("rewards", flag.ContinueOnError)
	n := f.Int("n", 10_000, "trajectories")
	repeats := f.Int("repeats", 3, "passes over all of them, of which the median counts")
	python := f.String("python", "python3", "interpreter of the peer")
	script := f.String("peer", "rewards/peer.py", "the peer, from infra/bench")
	golden := f.String("golden", "../../internal/xragent/testdata", "golden rows that trajectories are drawn from")
	if err := f.Parse(args); err != nil {
		return err
	}
	list, lines, err := rewardtest.Trajectories(*golden, *n)
	if err != nil {
		return err
	}
	scores := make([]xragent.Score, len(list))
	var ours []sample
	for range *repeats {
		ours = append(ours, timed(func() {
			for i, t := range list {
				scores[i] = xragent.ScoreTrajectory(t, xragent.DefaultSetting())
			}
		}))
	}
	_, ms := median(ours)
	rate := float64(*n) / ms * 1000
	fmt.Printf("rewards: %d trajectories by processor time: %.0f/s (bar %d)\n", *n, rate, rewardsBar)

	peer, err := askPeer(ctx, *python, *script, lines, *repeats)
	if err != nil {
		return err
	}
	apart := 0
	for i := range scores {
		if d := peer.Scores[i].differs(scores[i]); d != "" {
			if apart++; apart <= 5 {
				fmt.Printf("rewards: %s: %s\n", scores[i].ID, d)
			}
		}
	}
	theirs := float64(*n) / peer.Seconds
	fmt.Printf("rewards: the same rules in Python, by processor time: %.0f/s; ratio %.1f; scores apart: %d\n", theirs, rate/theirs, apart)
	return verdict(rate >= rewardsBar && apart == 0, "rewards: %.0f/s of %d, %d scores apart", rate, rewardsBar, apart)
}

// peerScores is what the peer prints.
type peerScores struct {
	Seconds float64
	Scores  []peerScore
}

type peerScore struct {
	ID       string
	Reasons  []string
	Answer   *string
	Correct  bool `json:"answer_correct"`
	Relevant map[xragent.Measurement]int
	S        map[xragent.Measurement]float64 // of what was shown
	Eligible int
	CXR      float64   `json:"R_CXR"`
	Calls    int       `json:"R_tool"`
	R        []float64 // in the order of [xragent.Score.Rewards]
}

// differs names the first thing in which the peer's score is another one.
func (p peerScore) differs(s xragent.Score) string {
	var reasons []string
	for _, r := range s.Reasons {
		reasons = append(reasons, string(r))
	}
	slices.Sort(reasons)
	if p.ID != s.ID || !slices.Equal(p.Reasons, reasons) {
		return fmt.Sprintf("reasons %v, the peer's %v", reasons, p.Reasons)
	}
	if (p.Answer == nil) != (s.Answer == nil) || p.Answer != nil && *p.Answer != *s.Answer || p.Correct != s.Correct {
		return fmt.Sprintf("answer correct %v, the peer's %v", s.Correct, p.Correct)
	}
	for _, m := range xragent.Measurements() {
		theirs, shown := p.S[m]
		if ours := s.S[m]; p.Relevant[m] != s.Relevant[m] || shown != (ours != nil) || shown && theirs != *ours {
			return fmt.Sprintf("%s: relevant %d, the peer's %d; consistency differs", m, s.Relevant[m], p.Relevant[m])
		}
	}
	if p.Eligible != s.Eligible || p.Calls != s.Calls || math.Abs(p.CXR-s.CXR) > 1e-12 || len(p.R) != len(s.Rewards) {
		return fmt.Sprintf("R_CXR %v of %d, %d calls; the peer's %v of %d, %d", s.CXR, s.Eligible, s.Calls, p.CXR, p.Eligible, p.Calls)
	}
	for i, v := range s.Rewards {
		if math.Abs(v.R-p.R[i]) > 1e-12 {
			return fmt.Sprintf("reward %v, the peer's %v (gated %v, malformed counts as wrong %v)", v.R, p.R[i], v.Gated, v.MalformedCountsAsWrong)
		}
	}
	return ""
}

func askPeer(ctx context.Context, python, script string, lines [][]byte, repeats int) (*peerScores, error) {
	dir, err := os.MkdirTemp("", "cxrepro-rewards-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "trajectories.jsonl")
	if err := os.WriteFile(file, append(bytes.Join(lines, []byte("\n")), '\n'), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, python, script, file, strconv.Itoa(repeats))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("peer %s %s: %w; name an interpreter with --python", python, script, err)
	}
	var peer peerScores
	if err := json.Unmarshal(out, &peer); err != nil {
		return nil, fmt.Errorf("peer: %w", err)
	}
	if len(peer.Scores) != len(lines) || peer.Seconds <= 0 {
		return nil, fmt.Errorf("peer: %d scores of %d trajectories in %v s", len(peer.Scores), len(lines), peer.Seconds)
	}
	return &peer, nil
}
