package contract

import (
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/xragent"
)

// StepReward records trajectories of a training run with their rewards.
const StepReward = "reward"

const versionReward = 1

// RewardMediaType is the media type of a RewardPage, RewardFormat its Format.
const (
	RewardMediaType = "application/vnd.cxrepro.reward+json"
	RewardFormat    = "cxrepro-reward-1"
)

// Rewarded is the reward of one trajectory with its terms, as a trainer is told.
type Rewarded struct {
	Score    float64          `json:"score"`
	Acc      int              `json:"acc"`
	Format   int              `json:"format"`
	CXR      float64          `json:"cxr"`
	Calls    int              `json:"n_calls"`
	Eligible int              `json:"eligible"`
	Reasons  []xragent.Reason `json:"reasons"`
}

// RewardedSample is one sample that a trainer had scored: where it stands in the run, the
// trajectory as it was judged, and the reward. Step and Sample are the trainer's words; Group and
// Draw say which of the G rollouts of an item it is. Draw is nil where the trainer does not say.
type RewardedSample struct {
	Step       int                `json:"step"`
	Sample     string             `json:"sample_id"`
	Item       string             `json:"item_id"`
	Group      string             `json:"group_id"`
	Draw       *int               `json:"draw,omitempty"`
	Trajectory xragent.Trajectory `json:"trajectory"`
	Rewarded
}

// RewardPage is the record of one request to the reward service.
type RewardPage struct {
	Format string `json:"format"`
	RunID  string `json:"run_id"`
	// Config is the digest of the reward setting.
	Config  artifacts.Digest `json:"reward_config"`
	Samples []RewardedSample `json:"samples"`
}

// RewardKey is the key of a page. judged is the digest of its samples.
func RewardKey(p *RewardPage, judged artifacts.Digest) artifacts.KeyDoc {
	var steps []int
	for i := range p.Samples {
		steps = append(steps, p.Samples[i].Step)
	}
	slices.Sort(steps)
	return artifacts.KeyDoc{
		Step: StepReward, Version: versionReward,
		Params: map[string]any{"run": p.RunID, "steps": slices.Compact(steps)},
		Inputs: []artifacts.Material{{Name: "samples", Digest: judged}, {Name: "setting", Digest: p.Config}},
	}
}
