package xragent

import "fmt"

// Weights are the two free numbers of the reward. [ours]: the paper prints none.
type Weights struct {
	Evidence float64 `json:"lambda_c"` // what full consistency adds
	Cost     float64 `json:"lambda_t"` // what one call takes away
}

// Reward is one configuration of the reward.
//
// Gated: R_acc*(1 + lambda_c*R_CXR - lambda_t*R_tool) + R_format, so that evidence and
// cost act only on correct trajectories. Ungated: R_acc + lambda_c*R_CXR -
// lambda_t*R_tool + R_format, the ablation. Source: [ours], rebuilt from the paper's
// description of its equation 7 and from its proof.
type Reward struct {
	Weights
	Gated bool `json:"gated"`
	// MalformedCountsAsWrong sets R_acc to 0 where a contract is broken; nothing else.
	MalformedCountsAsWrong bool `json:"malformed_counts_as_wrong"`
}

// DefaultWeights returns lambda_c 0.2 and lambda_t 0.05. [ours]
func DefaultWeights() Weights { return Weights{Evidence: 0.2, Cost: 0.05} }

// DefaultReward returns the gated reward that counts malformed trajectories as wrong.
func DefaultReward() Reward {
	return Reward{Weights: DefaultWeights(), Gated: true, MalformedCountsAsWrong: true}
}

// Validate refuses weights under which a correct trajectory could score no better than a
// wrong one: negative or not finite, or lambda_t times the call budget not below 1.
func (w Weights) Validate() error {
	if !(w.Evidence >= 0 && w.Evidence <= 1e9) {
		return fmt.Errorf("lambda_c is %v; hint: a finite number of at least 0", w.Evidence)
	}
	if !(w.Cost >= 0 && float64(w.Cost*MaxCalls) < 1) {
		return fmt.Errorf("lambda_t is %v; hint: at least 0 and below 1/%d, so that %d calls never cost a whole answer", w.Cost, MaxCalls, MaxCalls)
	}
	return nil
}

// Term is one measurement's part of R_CXR.
type Term struct {
	Relevant, Exposed bool
	Consistency       float64 // s_k in 0..1; not read unless relevant and exposed
}

// Terms is everything a reward depends on.
type Terms struct {
	Correct    bool // the extracted answer equals the key, whatever the form
	WellFormed bool
	Calls      int // policy-written calls of turn 1; backend work is not among them
	CXR        [3]Term
}

// Evidence returns R_CXR in 0..1 and the number of eligible measurements; it is 0 when
// none is eligible.
func (t Terms) Evidence() (rcxr float64, eligible int) {
	sum := 0.0
	for _, k := range t.CXR {
		if k.Relevant && k.Exposed {
			eligible++
			sum += k.Consistency
		}
	}
	return sum / float64(max(1, eligible)), eligible
}

// Value is a reward with its binary terms.
type Value struct {
	Acc    int     `json:"R_acc"`
	Format int     `json:"R_format"`
	R      float64 `json:"R"`
}

// Value computes the reward of t.
//
// Range with the default: well-formed correct 0.75..1.20, well-formed wrong 0, malformed -1.
func (r Reward) Value(t Terms) Value {
	var v Value
	if t.Correct && (t.WellFormed || !r.MalformedCountsAsWrong) {
		v.Acc = 1
	}
	if !t.WellFormed {
		v.Format = -1
	}
	evidence, _ := t.Evidence()
	gain, cost := float64(r.Evidence*evidence), float64(r.Cost*float64(t.Calls))
	acc := float64(v.Acc)
	if r.Gated {
		v.R = float64(acc*(1+gain-cost)) + float64(v.Format)
	} else {
		v.R = acc + gain - cost + float64(v.Format)
	}
	return v
}
