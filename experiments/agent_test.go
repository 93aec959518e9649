package experiments

import (
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/xragent"
)

const agentSpec = `name: agent-test
paper: X-Ragent
preset: corrected
dataset: {name: quiz, layout: quiz, data_use: synthetic, quiz: {seed: 1, split: held-out, pictures: 3}}
masks: {source: onnx, card: seg.yaml, provider: cpu}
agent:
  view: view.yaml
  profile: calibrated
  policies:
    - {card: a.yaml, role: full}
    - {card: b.yaml, role: base, arms: [direct.v4, default]}
  lookup: book.yaml
  arms: [gate_off, default]
  sampling: greedy
  repeats: 2
  seed: 1
  scorer: strict
  bootstrap: 100
  reward: {lambda_c: 0.2, lambda_t: 0.05, gated: true, malformed_counts_as_wrong: true}
`

// TestAgentSpec: sets of rollouts come policy by policy, arms in the order of tables; a plan holds
// cards and arms by content, and refuses an arm that it does not run.
func TestAgentSpec(t *testing.T) {
	s, err := Parse("spec.yaml", []byte(agentSpec))
	if err != nil {
		t.Fatal(err)
	}
	card := func(name string) ModelCard {
		return ModelCard{Name: name, Title: name, Adapter: lvlm.OpenAI, Identity: lvlm.Identity{Weights: artifacts.Sum([]byte(name))}}
	}
	book := card("book")
	pins := Pins{Model: &Model{}, View: &Model{}, Lookup: &book, Models: []ModelCard{card("a"), card("b")}}
	p, err := Pin(s, pins)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i, set := range p.RolloutSets() {
		if set.Index != i || set.Card.Name != p.Models[set.Policy].Name {
			t.Errorf("set %d: %+v", i, set)
		}
		names = append(names, set.Name())
	}
	if got, want := strings.Join(names, " "), "a/default/0 a/default/1 a/gate_off/0 a/gate_off/1 b/default/0 b/default/1 b/direct.v4/0 b/direct.v4/1"; got != want {
		t.Errorf("sets %s, want %s", got, want)
	}
	if p.Spec.Agent.View != "" || p.Spec.Agent.Policies[0].Card != "" || s.Agent.Policies[0].Card == "" {
		t.Error("a plan names files, or pinning changed the spec")
	}
	if arm, err := p.Arm(xragent.ArmGateOff); err != nil || !arm.GateOff {
		t.Errorf("%+v, %v", arm, err)
	}
	if _, err := p.Arm(xragent.ArmForceAll); err == nil {
		t.Error("an arm that the plan does not run was given")
	}
	p.Arms[0].Identity = artifacts.Sum([]byte("other prompts"))
	if _, err := p.Arm(p.Arms[0].Name); err == nil || !strings.Contains(err.Error(), "same version") {
		t.Errorf("an arm with other prompts: %v", err)
	}
	pins.Lookup = &pins.Models[0]
	if _, err := Pin(s, pins); err == nil || !strings.Contains(err.Error(), "agent.lookup") {
		t.Errorf("one card for policy and lookup: %v", err)
	}
}

// TestBadAgentSpecs names field and line of what is wrong.
func TestBadAgentSpecs(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"unknown arm", "[gate_off, default]", "[gate_of]", `agent.arms[0]: "gate_of" is not one of default`},
		{"twice", "[gate_off, default]", "[default, default]", `agent.arms[1]: "default" stands twice`},
		{"no policy", "    - {card: a.yaml, role: full}\n    - {card: b.yaml, role: base, arms: [direct.v4, default]}\n", "    []\n", "agent.policies: want at least one model card"},
		{"dear", "lambda_t: 0.05", "lambda_t: 0.2", "agent.reward: lambda_t is 0.2"},
		{"no gate", "gated: true, ", "", "agent.reward.gated: is missing"},
		{"scorer", "scorer: strict", "scorer: lenient", "agent.scorer: bench: no scorer is called"},
		{"layout", "layout: quiz", "layout: mimic-cxr-jpg", `dataset.layout: "mimic-cxr-jpg" is not one of quiz`},
		{"split", "split: held-out", "split: test", "dataset.quiz.split"},
		{"tasks", "agent:\n", "tasks: [rotation]\nagent:\n", "tasks: does not go with an agent section"},
		{"profile", "profile: calibrated", "profile: own", "agent.profile"},
		{"calibration", "profile: calibrated", "profile: table\n  calibration: c.json", "agent.calibration: goes only with agent.profile calibrated"},
		{"repeats", "repeats: 2", "repeats: 0", "agent.repeats: want 1 to 64, got 0"},
	} {
		_, err := Parse("spec.yaml", []byte(strings.Replace(agentSpec, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "spec.yaml:") {
			t.Errorf("%s: got %v\nwant %s", c.name, err, c.want)
		}
	}
	plain := strings.Replace(agentSpec, agentSpec[strings.Index(agentSpec, "agent:\n"):], "", 1)
	if _, err := Parse("spec.yaml", []byte(plain)); err == nil || !strings.Contains(err.Error(), "dataset.quiz: does not go with") {
		t.Errorf("a quiz without an agent: %v", err)
	}
}

// TestAgentSegmenter: a segmenter is part of the plan by its name and nothing else, and no spec
// without one changes.
func TestAgentSegmenter(t *testing.T) {
	plain, err := Parse("spec.yaml", []byte(agentSpec))
	if err != nil {
		t.Fatal(err)
	}
	named, err := Parse("spec.yaml", []byte(strings.Replace(agentSpec, "  lookup: book.yaml\n", "  lookup: book.yaml\n  segmenter: biomedparse-v2\n", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if plain.Agent.Segmenter != "" || named.Agent.Segmenter != "biomedparse-v2" {
		t.Errorf("%q, %q", plain.Agent.Segmenter, named.Agent.Segmenter)
	}
	direct := strings.NewReplacer("[gate_off, default]", "[direct.v4]", "[direct.v4, default]", "[direct.v3]", "  lookup: book.yaml\n", "  segmenter: words-1\n").Replace(agentSpec)
	if _, err := Parse("spec.yaml", []byte(direct)); err == nil || !strings.Contains(err.Error(), "agent.segmenter") {
		t.Errorf("prompts alone outline nothing: %v", err)
	}
}
