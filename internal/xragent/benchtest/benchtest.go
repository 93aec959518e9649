// Package benchtest plays outcomes of every named configuration for tests of tables, claims and
// reports: no model answers, chance does, with shares like those that the paper prints or implies.
package benchtest

import (
	"fmt"
	"math/rand/v2"

	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/bench"
)

// Shares are the chances to be right of a configuration on the three benchmarks.
type Shares [3]float64

// Paper are shares like the paper's: printed ones, ones that follow from printed ones, and our guesses
// between them where the text has none.
func Paper() map[string]Shares {
	return map[string]Shares{
		"xr.default": {71.7, 77.3, 93.0}, "xr.base.v0": {49, 58, 60}, "xr.base.v1": {51.1, 60.1, 62.3}, "xr.base.v2": {50, 59, 61}, "xr.base.v3": {50.5, 59.5, 61.5},
		"xr.base.v4": {55.1, 65.5, 72.8}, "xr.pipe.rl_only": {60, 67, 80}, "xr.pipe.sft_only": {64.4, 72, 89.5}, "xr.pipe.sft_rl_notools": {67.4, 73.2, 92.1},
		"xr.reward.acc": {68.5, 73, 88}, "xr.reward.acc_tool": {70, 75, 90.5}, "xr.reward.acc_cxr": {70.3, 75.5, 91}, "xr.reward.both_ungated": {69.3, 74, 89},
		"xr.data.no_tooltraj": {67.2, 71.2, 86}, "xr.data.no_report": {66.2, 74, 90}, "xr.data.no_mcq": {67, 73, 91}, "xr.data.no_vqa": {70, 75, 82.5},
		"xr.gate.off": {71.4, 77, 93}, "xr.module.no_visual": {70.1, 75, 92}, "xr.module.no_lookup": {69.5, 75, 92}, "xr.module.no_measure": {70.8, 76, 92.5},
		"xr.module.none": {67.4, 73.2, 92.1}, "xr.module.force_all": {71, 76.5, 92.5}, "xr.measure.policy_routed": {71, 76.1, 92.5},
		"xr.baseline.medrax": {63.1, 64, 80}, "xr.baseline.chexagent": {40, 68.1, 90.4},
	}
}

// Outcomes plays the shares on items, so many repeats of each configuration. Questions are as hard
// for one configuration as for another, but for a little noise.
func Outcomes(items []xragent.Item, shares map[string]Shares, repeats int, seed uint64) []xragent.Outcome {
	var out []xragent.Outcome
	var names []xragent.Configuration
	for _, c := range xragent.Configurations() {
		if _, ok := shares[c.Name]; ok {
			names = append(names, c)
		}
	}
	for _, name := range []string{"xr.baseline.medrax", "xr.baseline.chexagent"} {
		if _, ok := shares[name]; ok {
			names = append(names, xragent.Configuration{Name: name})
		}
	}
	for n, c := range names {
		for repeat := range repeats {
			external := c.Arm == ""
			if external && repeat > 0 {
				continue
			}
			rng := rand.New(rand.NewPCG(seed, uint64(n*100+repeat)))
			for k := range items {
				out = append(out, play(&items[k], c, repeat, shares[c.Name], seed, uint64(k), rng))
			}
		}
	}
	return out
}

func play(item *xragent.Item, c xragent.Configuration, repeat int, shares Shares, seed, k uint64, rng *rand.Rand) xragent.Outcome {
	b, _ := bench.Of(item.ID)
	hard := rand.New(rand.NewPCG(seed, 1<<40+k)).Float64()
	o := xragent.Outcome{Item: item.ID, Config: c.Name, Arm: c.Arm, Policy: c.Policy, Repeat: repeat, External: c.Arm == "", Ending: string(xragent.Completed)}
	share := shares[0]
	if b.Valid() {
		share = shares[b-1]
	}
	chance := hard
	if rng.Float64() < 0.1 {
		chance = rng.Float64()
	}
	key, _ := xragent.ReadAnswer(item.Question, item.Question.Key)
	switch {
	case 100*chance < share:
		o.Answer, o.Correct = key, true
	case rng.IntN(50) == 0:
		o.Unparsed = true
	default:
		o.Answer = other(item.Question, key, rng)
	}
	direct := c.Policy == xragent.PolicyBase || o.External
	if direct {
		return o
	}
	if c.Arm != xragent.ArmNoTools && rng.Float64() < 0.3+0.5*hard {
		for range 1 + rng.IntN(2) {
			o.Calls = append(o.Calls, []string{xragent.ToolCrop, xragent.ToolParse, xragent.ToolLookup}[rng.IntN(3)])
		}
	}
	o.Gated, o.ViewOK = true, k%4 != 3
	reasons := []string{"view_ap", "view_lateral", "view_not_cxr", "view_rotated"}
	switch {
	case c.Arm == xragent.ArmNoMeasure || c.Arm == xragent.ArmNoTools:
		o.Gated, o.ViewOK = false, false
	case !o.ViewOK && c.Arm != xragent.ArmGateOff:
		o.Withheld = reasons[k/4%4]
	case k%12 == 0:
		o.Withheld = "fragmented"
	}
	return o
}

// other is a wrong answer of the question's form.
func other(q xragent.Question, key string, rng *rand.Rand) string {
	switch q.Type {
	case xragent.Lettered:
		k := rng.IntN(len(q.Options) - 1)
		if letter := string(rune('A' + k)); letter != key {
			return letter
		}
		return string(rune('A' + len(q.Options) - 1))
	case xragent.YesNo:
		if key == "Yes" {
			return "No"
		}
		return "Yes"
	}
	return fmt.Sprintf("not %s", key)
}
