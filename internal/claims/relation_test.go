package claims

import (
	"strings"
	"testing"

	"cxrepro/internal/report"
	"cxrepro/internal/xragent"
)

// TestSums: the sums that the paper states hold among its own figures, the orders need results,
// and the property of the reward is computed.
func TestSums(t *testing.T) {
	c, err := Check(Input{})
	if err != nil {
		t.Fatal(err)
	}
	state := map[string]State{}
	for _, r := range c.Relations {
		state[r.ID] = r.State
	}
	want := map[string]State{
		"xragent/sum.capabilities": Holds, "xragent/sum.sft": Holds, "xragent/sum.grpo": Holds, "xragent/sum.exclusion": Holds, "xragent/order.lexicographic": Holds,
		"xragent/order.reward": CannotBeTold, "xragent/order.modules": CannotBeTold, "xragent/order.capabilities": CannotBeTold, "xragent/order.policy_routed": CannotBeTold,
	}
	for id, s := range want {
		if state[id] != s {
			t.Errorf("%s: %q, want %q", id, state[id], s)
		}
	}
	if len(state) != len(want) || len(c.Results) != 0 {
		t.Errorf("%d relations, %d results", len(state), len(c.Results))
	}
	ungated := xragent.DefaultReward()
	ungated.Gated, ungated.Evidence = false, 0.9
	if s, why := lexicographic(ungated); s != Fails {
		t.Errorf("the ungated reward: %s, %s", s, why)
	}
}

// TestHold holds how relations are read.
func TestHold(t *testing.T) {
	values := map[string]float64{"a.x": 3, "b/y": 4, "c": 10}
	get := func(id string) (float64, bool) { v, ok := values[id]; return v, ok }
	for text, want := range map[string]State{
		"a.x < b/y": Holds, "b/y < a.x": Fails, "a.x < a.x": Fails, "a.x + b/y + 3 = c": Holds, "2 * a.x + b/y = c": Holds, "c - a.x - b/y = 4": Fails,
		"c - 2 * a.x = b/y": Holds, "2 * a.x + 2 = 8": Holds, "12 * a.x - 2 = 34": Holds, "c - 2 < 2 * b/y": Fails, "a.x - b/y < 0": Holds, "a.x < d": CannotBeTold, "a.x is small": CannotBeTold,
	} {
		if s, why := holdOne(text, get); s != want || (why == "") != (s == Holds) {
			t.Errorf("%s: %s, %q, want %s", text, s, why, want)
		}
	}
	if s, why := hold([]string{"a.x < d", "b/y < a.x"}, get); s != Fails || !strings.Contains(why, "4 against 3") {
		t.Errorf("%s, %q", s, why)
	}
}

// TestAgentResults: results are held against figures by their k of n, and against orders.
func TestAgentResults(t *testing.T) {
	results, err := ParseAgentResults([]byte(`{"figures": {
		"main.cab.all": {"k": 1793, "n": 2500}, "gate.on.all": {"k": 1793, "n": 2500}, "main.slake": {"k": 60, "n": 114}, "bench.cab.total": {"value": 2500}, "bench.slake.total": {"value": 115},
		"module.delta.aux_interpretation": {"value": -2.0}, "module.delta.visual_enhancement": {"value": -2.5}, "module.delta.measurement": {"value": -1}, "module.delta.all": {"value": -4}, "module.delta.forced_all": {"value": -0.5}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for unit, want := range map[string]float64{"percent": 50, "points": 50, "ratio": 0.5, "questions": 1} {
		if got := (AgentResult{K: 1, N: 2}).value(unit); got != want {
			t.Errorf("1 of 2 in %s: %v, want %v", unit, got, want)
		}
	}
	c, err := Check(Input{Agent: results})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]report.Verdict{}
	for _, r := range c.Results {
		got[r.Claim.ID] = r.Verdict
	}
	for id, want := range map[string]report.Verdict{
		"main.cab.all": report.Reproduced, "gate.on.all": report.WithinNoise, "main.slake": report.Off, "bench.cab.total": report.Reproduced,
		"bench.slake.total": report.Off, "module.delta.all": report.NotComputable, "base.slake_closed": report.NotComputable,
	} {
		if got["xragent/"+id] != want {
			t.Errorf("%s: %s, want %s", id, got["xragent/"+id], want)
		}
	}
	for _, r := range c.Relations {
		if r.ID == "xragent/order.modules" && (r.State != Fails || !strings.Contains(r.Why, "-2 against -2.5")) {
			t.Errorf("%+v", r)
		}
	}
	if _, err := ParseAgentResults([]byte(`{"figures": {"xr.reward.acc/slake_closed": {"k": 3, "n": 4}}}`)); err != nil {
		t.Errorf("what only an order compares: %v", err)
	}
	for bad, why := range map[string]string{
		`{"figures": {}}`: "is empty", `{"figures": {"main.slake": {"k": 3, "n": 2}}}`: "main.slake: give k of n", `{"figures": {"main.slake": {"k": 3}}}`: "main.slake: give k of n",
		`{"figures": {"main.slak": {"k": 3, "n": 4}}}`: "main.slak: no figure", `{"figures": {"<": {"k": 3, "n": 4}}}`: "<: no figure", `[`: "results: ",
	} {
		if _, err := ParseAgentResults([]byte(bad)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", bad, err, why)
		}
	}
}
