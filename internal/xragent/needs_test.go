package xragent

import (
	"testing"

	"cxrepro/artifacts"
)

// TestRest: what each arm may still ask for, from the start, after a plan and before turn 2.
func TestRest(t *testing.T) {
	q := Question{Type: Lettered, Text: "?", Options: []string{"effusion", "mass"}, Key: "A"}
	begin := Rollout{ID: "r", Question: q, Pictures: make([]artifacts.Ref, 1)}
	planned := begin
	planned.Turn1 = &Turn{FinishReason: "stop", Text: `<think>.</think><tool_call>{"name":"evidence_lookup","arguments":{"conditions":["effusion"]}}</tool_call>` +
		`<tool_call>{"name":"region_parse","arguments":{"target":"heart"}}</tool_call>`}
	broken := begin
	broken.Turn1 = &Turn{FinishReason: "stop", Text: "no tags"}
	open := begin
	open.Question = Question{Type: Closed, Text: "?", Key: "left"}
	for _, c := range []struct {
		name, arm string
		r         Rollout
		asks      bool
		want      Rest
	}{
		{"one to two turns, at most five calls", ArmDefault, begin, true, Rest{Needs{1, 0, 0}, Needs{2, 5, 5}}},
		{"a book that nobody is asked for", ArmDefault, begin, false, Rest{Needs{1, 0, 0}, Needs{2, 0, 5}}},
		{"lookups off", ArmNoLookup, begin, true, Rest{Needs{1, 0, 0}, Needs{2, 0, 5}}},
		{"no tools", ArmNoTools, begin, true, Rest{Needs{1, 0, 0}, Needs{2, 0, 0}}},
		{"direct", ArmDirect + ".v0", begin, true, Rest{Needs{1, 0, 0}, Needs{1, 0, 0}}},
		{"forced: conditions, then what they look like", ArmForceAll, begin, true, Rest{Needs{1, 0, 0}, Needs{2, 2, 4}}},
		{"forced, nothing to look up", ArmForceAll, open, true, Rest{Needs{1, 0, 0}, Needs{2, 0, 4}}},
		{"after a plan", ArmDefault, planned, true, Rest{Needs{1, 1, 1}, Needs{1, 1, 1}}},
		{"after a plan whose calls are forced", ArmForceAll, planned, true, Rest{Needs{1, 1, 3}, Needs{1, 2, 4}}},
		{"after a malformed turn", ArmDefault, broken, true, Rest{}},
	} {
		arm, err := ArmOf(c.arm, ProfileTable)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := arm.Agent.Rest(c.r, c.asks); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}
