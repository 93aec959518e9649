package compare_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/compare"
	"cxrepro/internal/contract"
	"cxrepro/internal/provenance"
	"cxrepro/internal/xragent"
)

// rolled is a side of one set whose rollouts, by question, replied with letters; the key is A.
func rolled(name string, shown bool, replies string) *compare.Side {
	ref := func(text string) artifacts.Ref { return artifacts.Ref{Digest: artifacts.Sum([]byte(text))} }
	set := contract.AgentSet{Name: "policy/default/0", Groups: []contract.AgentGroup{{Name: "all", Items: len(replies), Answered: len(replies)}}, Bundles: len(replies)}
	bundle := xragent.Bundle{Reason: "view_rotated"}
	if shown {
		bundle, set.Shown = xragent.Bundle{View: "pa"}, len(replies)
	}
	page := &contract.RolloutsDoc{}
	agent := &compare.Agent{Sets: []contract.RolloutSetDoc{{Set: contract.RolloutSet{Name: set.Name, Card: "policy", Arm: "default"}}}}
	for i, letter := range replies {
		id := fmt.Sprintf("q/%d", i)
		agent.Questions.Items = append(agent.Questions.Items, xragent.Item{ID: id, Pictures: []xragent.ItemPicture{{Image: ref("picture")}}})
		right := letter == 'A'
		if right {
			set.Groups[0].Correct++
		}
		text := "<think>.</think><answer>" + string(letter) + "</answer>"
		page.Rollouts = append(page.Rollouts, contract.RolloutDoc{
			Item: i, Ending: "completed",
			Trajectory: xragent.Trajectory{
				Turn1: &xragent.Turn{Text: "<think>.</think><no_tool/>", FinishReason: "stop"}, Turn2: &xragent.Turn{Text: text, FinishReason: "stop"}, Measurement: bundle,
			},
			Outcome: xragent.Outcome{Item: id, Config: "c", Correct: right, Answer: string(letter), Ending: "completed", Gated: true, Withheld: bundle.Reason},
			Calls: []contract.RolloutCall{
				{Part: "turn.1", Key: ref("turn 1 of " + id).Digest, Answer: ref("plan")},
				{Part: "turn.2", Key: ref(fmt.Sprint("turn 2 of ", id, shown)).Digest, Answer: ref(text)},
			},
		})
	}
	agent.Tables.Sets = []contract.AgentSet{set}
	agent.Rollouts = func(_ int, fn func(*contract.RolloutsDoc) error) error { return fn(page) }
	plan := &experiments.Plan{}
	plan.Spec.Agent = &experiments.Agent{Policies: []experiments.Policy{{Card: "policy.yaml"}}}
	return &compare.Side{
		Receipt: &contract.Receipt{Reproduction: name, ResultDigest: artifacts.Sum([]byte(name)), Questions: ref("questions")},
		Plan:    plan, Agent: agent,
		Source: compare.Source{
			Statement: func(context.Context, artifacts.Key) (*provenance.Statement, error) { return nil, nil },
			Made:      func(context.Context, artifacts.Digest) ([]artifacts.Key, error) { return nil, nil },
		},
	}
}

// TestRollouts: shares are tested over the same questions, a flip shows both transcripts up to the
// first message that differs, and the first call with another reply is where two agents part.
func TestRollouts(t *testing.T) {
	if d := compared(t, rolled("a", true, "AABA"), rolled("b", true, "AABA")); !d.Equal || d.FlipsCases != 4 || d.Parted != nil || d.Inputs.Questions != [2]int{4, 4} {
		t.Errorf("equal agents: %+v", d)
	}
	d := compared(t, rolled("a", true, "AAB"), rolled("b", false, "ABBA"))
	if d.Equal || d.FlipsAll != 1 || d.FlipsCases != 3 || !slices.Equal(d.Inputs.OnlyQuestionsB, []string{"question 3"}) {
		t.Fatalf("%+v", d)
	}
	if d.Parted == nil || d.Parted.Step != contract.StepCall || !strings.Contains(d.Parted.Item, "question 1, turn.2") {
		t.Errorf("they part at %+v", d.Parted)
	}
	f := d.Flips[0]
	if f.Case != 1 || f.Before != "right" || f.After != "wrong (B)" || len(f.Turns) != 3 || f.Turns[0].Parts() || !f.Turns[1].Parts() || f.Turns[1].ScoreB != "view_rotated" {
		t.Errorf("flip %+v", f)
	}
	got := map[string]string{}
	for _, c := range d.Cells {
		got[c.Column] = c.A.Text + " | " + c.B.Text + ": " + c.Test.String()
	}
	want := map[string]string{"right": "66.67 | 50.00: 1 : 0, p = 1.0000", "measurements shown": "100.00 | 0.00: 3 : 0, p = 0.2500"}
	for column, text := range want {
		if got[column] != text {
			t.Errorf("%s: %q, want %q", column, got[column], text)
		}
	}
	if _, rewarded := got["reward"]; rewarded {
		t.Errorf("no rollout was rewarded: %v", got)
	}
}
