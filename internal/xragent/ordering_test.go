package xragent

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// made is a trajectory with what it was made to be.
type made struct {
	Trajectory
	wellFormed, correct bool
}

// sayings of turn 2: agreement, contradiction, silence and false quotes.
var sayings = []string{
	"The heart is enlarged.", "The cardiac silhouette is normal.", "CTR 0.58 is above the limit.", "A CTR of 0.31 is normal.", "The trachea is central.",
	"The mediastinum is shifted to the left.", "The left lung is smaller.", "Both lungs are of equal size.", "Nothing else is seen.", "Volume loss on the right.",
}

// makeTrajectory draws a trajectory as text. Half of them break one contract; which does not
// depend on the parser, so what it reads can be held against what was made.
func makeTrajectory(r *rand.Rand) made {
	q := Question{Type: Lettered, Text: "Is there cardiomegaly, volume loss or a tracheal shift?", Options: []string{"Yes", "No", "Neither", "All"}, Key: string(rune('A' + r.IntN(4)))}
	m := made{Trajectory: Trajectory{Question: q}, wellFormed: r.IntN(2) == 0, correct: r.IntN(2) == 0}
	letter := q.Key
	if !m.correct {
		letter = string(rune('A' + (int(q.Key[0]-'A')+1+r.IntN(3))%4))
	}
	calls := []string{callText(ToolLookup, `{"conditions":["collapse"]}`), callText(ToolParse, `{"target":"heart"}`), callText(ToolCrop, `{"bbox":[10,20,300,400]}`)}
	plan := "<no_tool/>"
	if n := r.IntN(MaxCalls + 1); n > 0 {
		plan = ""
		for range n {
			plan += calls[r.IntN(len(calls))]
		}
	}
	var said []string
	for range 1 + r.IntN(4) {
		said = append(said, sayings[r.IntN(len(sayings))])
	}
	turn1 := "<think>" + sayings[r.IntN(len(sayings))] + "</think>" + plan
	turn2 := "<think>" + strings.Join(said, " ") + "</think><answer>" + letter + "</answer>"
	finish := [2]string{"stop", "stop"}
	if !m.wellFormed {
		switch r.IntN(9) {
		case 0:
			turn1 = strings.Replace(turn1, "<think>", "", 1)
		case 1:
			turn1 += " so I look again"
		case 2:
			turn1 = "<think>x</think><no_tool/>" + calls[0]
		case 3:
			turn1 = "<think>x</think>" + strings.Repeat(calls[r.IntN(3)], MaxCalls+1+r.IntN(3))
		case 4:
			turn1 = "<think>x</think>" + callText(ToolCrop, `{"bbox":[300,20,10,400]}`)
		case 5:
			turn2 = calls[0] + turn2
		case 6:
			turn2 = "<think>" + said[0] + "</think>" + turn2
		case 7:
			finish[r.IntN(2)] = "length"
		case 8:
			turn1 = "<think> </think>" + plan
		}
	}
	m.Turn1, m.Turn2 = &Turn{turn1, finish[0]}, &Turn{turn2, finish[1]}
	m.Measurement = Bundle{Reason: ReasonViewLateral}
	if r.IntN(3) > 0 {
		side := []string{"symmetric", "left_smaller", "right_smaller"}
		m.Measurement = Bundle{View: "PA", Values: [3]*Verified{{Value: 0.58, Category: "enlarged"}, {Value: 0.1, Category: side[r.IntN(3)]}, {Value: 0.01, Category: "midline"}}}
	}
	return m
}

// rewardDraws is the environment variable with the number of trajectories.
const rewardDraws = "CXREPRO_REWARD_DRAWS"

// TestOrderingOfTexts holds the ordering for whole trajectories, read from their texts: every
// well-formed correct one above every incorrect one, and nothing outside the stated ranges.
func TestOrderingOfTexts(t *testing.T) {
	n := 100_000
	if text := os.Getenv(rewardDraws); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	r, setting := rand.New(rand.NewPCG(12, 5)), DefaultSetting()
	low, wrong, seen := math.Inf(1), math.Inf(-1), map[string]int{}
	for i := range n {
		m := makeTrajectory(r)
		s := ScoreTrajectory(m.Trajectory, setting)
		if (s.Verdict == "ok") != m.wellFormed || s.Correct != m.correct {
			t.Fatalf("%d: read as %s, correct %v; made as %v, %v\n%+v\n%+v", i, s.Verdict, s.Correct, m.wellFormed, m.correct, *m.Turn1, *m.Turn2)
		}
		switch {
		case !m.wellFormed:
			require.Equal(t, -1.0, s.R)
			wrong = max(wrong, s.R)
		case m.correct:
			low = min(low, s.R)
			require.LessOrEqual(t, s.R, 1.2)
		default:
			require.Zero(t, s.R)
			wrong = max(wrong, s.R)
		}
		seen[fmt.Sprintf("%s %v %d calls, evidence %.2f of %d", s.Verdict, s.Correct, min(s.Calls, 6), s.CXR, s.Eligible)]++
	}
	require.Greater(t, low, wrong)
	require.Equal(t, 0.75, low)
	require.Greater(t, len(seen), 50, "different rewards: %v", seen)
	t.Logf("%d trajectories: well-formed correct from %v, incorrect up to %v, %d kinds", n, low, wrong, len(seen))
}
