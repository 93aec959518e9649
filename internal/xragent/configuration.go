package xragent

import (
	"slices"
	"strings"
)

// Configuration is a named experiment of the paper: which training the policy had, and how the
// agent runs. Two configurations of one policy share its checkpoint.
type Configuration struct {
	// Name is the configuration's, for example "xr.gate.off".
	Name string
	// Policy names the training that the answering model had.
	Policy string
	// Arm names how the agent runs.
	Arm string
	// Title says in words what is different.
	Title string
}

// Names of policies: what a model was trained with. Every other policy is named after its
// configuration.
const (
	PolicyBase = "base" // the base model, not trained
	PolicyFull = "full" // SFT and GRPO on everything, both reward terms gated
)

// Names of arms.
const (
	ArmDefault      = "default"
	ArmNoTools      = "no_tools" // neither tools nor measurements
	ArmGateOff      = "gate_off"
	ArmNoVisual     = "no_visual"
	ArmNoLookup     = "no_lookup"
	ArmNoMeasure    = "no_measure"
	ArmForceAll     = "force_all"
	ArmPolicyRouted = "policy_routed"
	ArmDirect       = "direct" // one turn, no tools; ".v0" to ".v4" name the prompt
)

// Configurations lists the named experiments in the order of reports, baselines apart.
//
// Source: names [ours]; what they change [paper].
func Configurations() []Configuration { return slices.Clone(configurations) }

var configurations = []Configuration{
	{"xr.default", PolicyFull, ArmDefault, "everything on"},
	{"xr.base.v0", PolicyBase, ArmDirect + ".v0", "base model, generic step by step"},
	{"xr.base.v1", PolicyBase, ArmDirect + ".v1", "base model, radiologist step by step"},
	{"xr.base.v2", PolicyBase, ArmDirect + ".v2", "base model, findings first"},
	{"xr.base.v3", PolicyBase, ArmDirect + ".v3", "base model, brief reasoning"},
	{"xr.base.v4", PolicyBase, ArmDirect + ".v4", "base model, direct answer"},
	{"xr.pipe.rl_only", "pipe.rl_only", ArmDefault, "RL without SFT"},
	{"xr.pipe.sft_only", "pipe.sft_only", ArmDefault, "SFT without RL"},
	{"xr.pipe.sft_rl_notools", "pipe.sft_rl_notools", ArmNoTools, "SFT and RL, no tools at inference"},
	{"xr.pipe.sft_rl_tools", PolicyFull, ArmDefault, "SFT and RL, tools at inference"},
	{"xr.reward.acc", "reward.acc", ArmDefault, "accuracy alone"},
	{"xr.reward.acc_tool", "reward.acc_tool", ArmDefault, "accuracy and tool cost"},
	{"xr.reward.acc_cxr", "reward.acc_cxr", ArmDefault, "accuracy and evidence"},
	{"xr.reward.both_ungated", "reward.both_ungated", ArmDefault, "both terms, not gated"},
	{"xr.reward.both_gated", PolicyFull, ArmDefault, "both terms, gated by the answer"},
	{"xr.data.no_tooltraj", "data.no_tooltraj", ArmDefault, "no tool trajectories"},
	{"xr.data.no_report", "data.no_report", ArmDefault, "no report-style reasoning"},
	{"xr.data.no_mcq", "data.no_mcq", ArmDefault, "no multiple-choice questions"},
	{"xr.data.no_vqa", "data.no_vqa", ArmDefault, "no closed questions"},
	{"xr.gate.off", PolicyFull, ArmGateOff, "view check ignored"},
	{"xr.module.no_visual", PolicyFull, ArmNoVisual, "no roi_crop, no region_parse"},
	{"xr.module.no_lookup", PolicyFull, ArmNoLookup, "no evidence_lookup"},
	{"xr.module.no_measure", PolicyFull, ArmNoMeasure, "no measurements"},
	{"xr.module.none", PolicyFull, ArmNoTools, "all of these removed"},
	{"xr.module.force_all", PolicyFull, ArmForceAll, "all three tools on every question"},
	{"xr.measure.policy_routed", PolicyFull, ArmPolicyRouted, "measuring is a tool"},
}

// Baseline begins the names of policies that are other systems.
const Baseline = "baseline."

// ConfigurationOf names the configuration that a policy under an arm counts in: the first named one
// with both, "xr.baseline.NAME" for another system that is asked directly, else "<policy>/<arm>",
// which no table of the paper has.
func ConfigurationOf(policy, arm string) string {
	if strings.HasPrefix(policy, Baseline) && strings.HasPrefix(arm, ArmDirect+".") {
		return "xr." + policy
	}
	for _, c := range configurations {
		if c.Policy == policy && c.Arm == arm {
			return c.Name
		}
	}
	return policy + "/" + arm
}
