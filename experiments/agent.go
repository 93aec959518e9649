package experiments

import (
	"fmt"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/xragent"
)

// Agent says which questions a two-turn agent answers, with which policies, and how it runs. A
// spec has it in place of benchmark and evaluation.
type Agent struct {
	// View is the view card's path, relative to the spec; masks.provider computes. A plan holds
	// card and weights by digest. View and masks may be left out where no arm measures.
	View string `yaml:"view,omitempty" json:"view,omitempty"`
	// Profile is table or calibrated.
	Profile string `yaml:"profile" json:"profile"`
	// Calibration is the path of a stored calibration; absent means limits from literature.
	Calibration string `yaml:"calibration,omitempty" json:"calibration,omitempty"`
	// AdmitAP lets AP films be measured too.
	AdmitAP bool `yaml:"admit_ap,omitempty" json:"admit_ap,omitempty"`
	// Policies are the models that answer, in the order of tables.
	Policies []Policy `yaml:"policies" json:"policies"`
	// Lookup is the model card of the reference book that evidence_lookup asks. Absent, items
	// bring their own texts, or lookups are answered with status error.
	Lookup string `yaml:"lookup,omitempty" json:"lookup,omitempty"`
	// Segmenter names a text-prompted segmenter, model and version, that region_parse asks for
	// what no structure is called. It enters the keys of what the tools answer.
	Segmenter string `yaml:"segmenter,omitempty" json:"segmenter,omitempty"`
	// Arms are the ways in which the agent runs; see xragent.Arms.
	Arms []string `yaml:"arms" json:"arms"`
	// Sampling is greedy or draws: which decoding of a policy's card is sent.
	Sampling string `yaml:"sampling" json:"sampling"`
	// Repeats is how often every question is answered; repeats differ in the draw alone, which
	// is added to the seed.
	Repeats int `yaml:"repeats" json:"repeats"`
	// Seed is added to the seed of draws, and names the streams of the intervals.
	Seed uint64 `yaml:"seed" json:"seed"`
	// Scorer names how replies are read.
	Scorer string `yaml:"scorer" json:"scorer"`
	// Bootstrap is the number of resamples of the intervals.
	Bootstrap int    `yaml:"bootstrap" json:"bootstrap"`
	Reward    Reward `yaml:"reward" json:"reward"`
	// Retry asks again where earlier rounds ended in a terminal outcome of these classes.
	Retry *RetryOutcomes `yaml:"retry,omitempty" json:"retry,omitempty"`
}

// Policy is one model that answers.
type Policy struct {
	// Card is its model card's path. A plan holds the card.
	Card string `yaml:"card,omitempty" json:"card,omitempty"`
	// Checkpoint, in place of a card, is one of the spec's training: base, sft or grpo.
	Checkpoint string `yaml:"checkpoint,omitempty" json:"checkpoint,omitempty"`
	// Role names the training it had, as the configurations of the paper do; base or full.
	Role string `yaml:"role,omitempty" json:"role,omitempty"`
	// Arms, if given, stand in place of agent.arms.
	Arms []string `yaml:"arms,omitempty" json:"arms,omitempty"`
}

// Reward is how rollouts are rewarded; it changes no answer.
type Reward struct {
	Evidence float64 `yaml:"lambda_c" json:"lambda_c"`
	Cost     float64 `yaml:"lambda_t" json:"lambda_t"`
	Gated    bool    `yaml:"gated" json:"gated"`
	// MalformedCountsAsWrong sets R_acc to 0 where a contract is broken.
	MalformedCountsAsWrong bool    `yaml:"malformed_counts_as_wrong" json:"malformed_counts_as_wrong"`
	PartialSilence         float64 `yaml:"partial_silence,omitempty" json:"partial_silence,omitempty"`
	SkipNearThreshold      bool    `yaml:"skip_near_threshold,omitempty" json:"skip_near_threshold,omitempty"`
}

// Setting is the reward as package xragent computes it.
func (r Reward) Setting() xragent.Setting {
	return xragent.Setting{
		Reward:  xragent.Reward{Weights: xragent.Weights{Evidence: r.Evidence, Cost: r.Cost}, Gated: r.Gated, MalformedCountsAsWrong: r.MalformedCountsAsWrong},
		Phrases: xragent.Phrases{PartialSilence: r.PartialSilence, SkipNearThreshold: r.SkipNearThreshold},
	}
}

// Quiz says which drawn questions a data set of layout quiz holds.
type Quiz struct {
	Seed     uint64 `yaml:"seed" json:"seed"`
	Split    string `yaml:"split" json:"split"`
	Pictures int    `yaml:"pictures" json:"pictures"`
}

// Layouts of question sets.
const (
	LayoutQuiz            = "quiz"
	LayoutChestAgentBench = "chestagentbench"
	LayoutCheXbench       = "chexbench"
	LayoutSLAKE           = "slake_closed"
	// LayoutRadCoT is a folder of candidates for training examples, which are built and not asked.
	LayoutRadCoT = "radcot"
)

// QuestionLayouts lists them.
func QuestionLayouts() []string {
	return []string{LayoutQuiz, LayoutChestAgentBench, LayoutCheXbench, LayoutSLAKE, LayoutRadCoT}
}

// Draws is the sampling of a policy that decodes as its card's draws do.
const Draws = "draws"

// ArmPin is an arm as it was when the plan was made; a program that would run it otherwise
// refuses the plan.
type ArmPin struct {
	Name     string           `json:"name"`
	Identity artifacts.Digest `json:"identity"`
}

// pinArms names every arm that the agent runs, by content.
func pinArms(a *Agent) ([]ArmPin, error) {
	var out []ArmPin
	for _, name := range a.allArms() {
		id, err := armIdentity(name, a.Profile)
		if err != nil {
			return nil, err
		}
		out = append(out, ArmPin{name, id})
	}
	return out, nil
}

func armIdentity(name, profile string) (artifacts.Digest, error) {
	arm, err := xragent.ArmOf(name, xragent.Profile(profile))
	if err != nil {
		return artifacts.Digest{}, err
	}
	text, err := artifacts.Canonical(arm.Identity())
	return artifacts.Sum(text), err
}

// allArms lists the arms of every policy once, in the order of package xragent.
func (a *Agent) allArms() []string {
	used := map[string]bool{}
	for i := range a.Policies {
		for _, arm := range a.ArmsOf(i) {
			used[arm] = true
		}
	}
	var out []string
	for _, name := range xragent.Arms() {
		if used[name] {
			out = append(out, name)
		}
	}
	return out
}

// ArmsOf are the arms of a policy by its place.
func (a *Agent) ArmsOf(policy int) []string {
	if own := a.Policies[policy].Arms; len(own) > 0 {
		return own
	}
	return a.Arms
}

// Arm returns an arm of the plan.
//
// Errors: one that the plan does not run, or that this program runs otherwise.
func (p *Plan) Arm(name string) (xragent.Arm, error) {
	for _, pin := range p.Arms {
		if pin.Name != name {
			continue
		}
		id, err := armIdentity(name, p.Spec.Agent.Profile)
		if err == nil && id != pin.Identity {
			err = fmt.Errorf("arm %s: the plan was made for other prompts or another protocol; start worker and plan from the same version", name)
		}
		if err != nil {
			return xragent.Arm{}, err
		}
		return xragent.ArmOf(name, xragent.Profile(p.Spec.Agent.Profile))
	}
	return xragent.Arm{}, fmt.Errorf("the plan runs no arm %q", name)
}

// RolloutSet is every question answered by one policy under one arm in one repeat.
type RolloutSet struct {
	// Index is its place in Plan.RolloutSets, Policy that of its card in Plan.Models.
	Index  int
	Policy int
	Card   *ModelCard
	Role   string
	Arm    string
	Repeat int
}

// Name is the set's name in workflow ids and reports.
func (s RolloutSet) Name() string { return fmt.Sprintf("%s/%s/%d", s.Card.Name, s.Arm, s.Repeat) }

// RolloutSets lists what an agent's plan runs: policy by policy, arm by arm, repeat by repeat.
func (p *Plan) RolloutSets() []RolloutSet {
	a := p.Spec.Agent
	if a == nil {
		return nil
	}
	var out []RolloutSet
	for i := range a.Policies {
		for _, arm := range a.ArmsOf(i) {
			for r := range a.Repeats {
				out = append(out, RolloutSet{Index: len(out), Policy: i, Card: &p.Models[i], Role: a.Policies[i].Role, Arm: arm, Repeat: r})
			}
		}
	}
	return out
}

// directArm reports whether an arm asks a model directly, without tools.
func directArm(arm string) bool { return strings.HasPrefix(arm, xragent.ArmDirect+".") }
