package derive

import (
	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/ledger"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/xragent"
)

// Gate returns the gate of an agent's plan; calibration is the stored one, nil for limits from
// literature.
func (p *Plan) Gate(calibration *xragent.Calibration) (xragent.Gate, error) {
	g, err := xragent.DefaultGate(xragent.Profile(p.Spec.Agent.Profile))
	if err != nil {
		return g, contract.Fail(contract.ErrTypeSpec, "plan %s: %w", p.Ref.Digest.Short(), err)
	}
	if calibration != nil {
		g.Calibration = *calibration
	}
	g.View.AdmitAP, g.Rules = p.Spec.Agent.AdmitAP, p.Rules
	return g, nil
}

// View identifies the plan's view model.
func (p *Plan) View() contract.Inference { return p.inference(p.Plan.View) }

func (p *Plan) inference(m *experiments.Model) contract.Inference {
	if m == nil {
		return contract.Inference{}
	}
	return contract.Inference{
		Model: m.Weights.Digest, Settings: m.Settings, Provider: p.Spec.Masks.Provider,
		Preprocessing: m.Preprocessing, Decoder: cxr.DecoderVersion,
	}
}

// MeasureKey is the key of the measurement of a picture.
func (p *Plan) MeasureKey(image artifacts.Digest, g xragent.Gate) (artifacts.KeyDoc, error) {
	limits, err := g.Calibration.Encode()
	return contract.MeasureKey(image, contract.Measuring{
		View: p.View(), Segmentation: p.Inference(), Calibration: artifacts.Sum(limits), Profile: string(g.Profile),
		AdmitAP: g.View.AdmitAP, Rules: p.Rules.String(), Gate: xragent.GateVersion,
	}), err
}

// AgentTablesKey is the key of an agent's tables: what was asked, the sets of rollouts, and what
// titles and counts depend on beside them.
func (p *Plan) AgentTablesKey(questions artifacts.Digest, sets []artifacts.Digest) artifacts.KeyDoc {
	models := []contract.SummaryModel{}
	for i := range p.Models {
		models = append(models, contract.ModelOf(&p.Models[i], experiments.Greedy))
	}
	return contract.TabulateAgentKey(questions, sets, map[string]any{
		"name": p.Spec.Name, "paper": p.Spec.Paper, "agent": p.Spec.Agent, "models": models, "lookup": p.Lookup, "arms": p.Arms,
	})
}

// AgentSets lists what the plan runs, in the order of the tables.
func (p *Plan) AgentSets() (out []contract.RolloutSet) {
	for _, s := range p.RolloutSets() {
		out = append(out, contract.RolloutSet{Index: s.Index, Name: s.Name(), Card: s.Card.Name, Policy: s.Policy, Arm: s.Arm, Repeat: s.Repeat})
	}
	return out
}

// AgentRetry is which terminal outcomes the plan asks again.
func (p *Plan) AgentRetry() ledger.Retry { return retryOf(p.Spec.Agent.Retry) }

func retryOf(r *experiments.RetryOutcomes) (out ledger.Retry) {
	if r == nil {
		return out
	}
	out.Round = r.Round
	for _, o := range r.Outcomes {
		out.Outcomes = append(out.Outcomes, lvlm.Outcome(o))
	}
	return out
}

// AgentDecoding is what a policy's card sends in the plan's sampling; the seed of draws is that
// of the card plus the agent's.
func (p *Plan) AgentDecoding(card *experiments.ModelCard) lvlm.Decoding {
	a := p.Spec.Agent
	if a.Sampling != experiments.Draws || card.Draws == nil {
		return card.Greedy
	}
	return seeded(*card.Draws, a.Seed)
}

// seeded adds a seed to that of a decoding that has one.
func seeded(d lvlm.Decoding, seed uint64) lvlm.Decoding {
	if d.Seed != nil {
		sum := int64((uint64(*d.Seed)%maxSeed + seed%maxSeed) % maxSeed)
		d.Seed = &sum
	}
	return d
}
