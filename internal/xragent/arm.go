package xragent

import (
	"fmt"
	"strings"
)

// Arm is a named way of running the agent: what an experiment changes of it. Everything that
// is not named stays as it is in the default.
//
// Source: the ablations of modules, gate and measurement routing, and the prompts of the base
// model [paper]; names [ours].
type Arm struct {
	Name  string
	Agent Agent
	// GateOff ignores the validity of the view, and only that.
	GateOff bool
}

// arms is what each arm changes.
var arms = []struct {
	name   string
	change func(a *Arm)
}{
	{ArmDefault, func(*Arm) {}},
	{ArmGateOff, func(a *Arm) { a.GateOff = true }},
	{ArmNoVisual, func(a *Arm) { a.Agent.Off = []string{ToolCrop, ToolParse} }},
	{ArmNoLookup, func(a *Arm) { a.Agent.Off = []string{ToolLookup} }},
	{ArmNoMeasure, func(a *Arm) { a.Agent.NoMeasurement = true }},
	{ArmNoTools, func(a *Arm) { a.Agent.Off, a.Agent.NoMeasurement = []string{ToolCrop, ToolParse, ToolLookup}, true }},
	{ArmForceAll, func(a *Arm) { a.Agent.Forced = true }},
	{ArmPolicyRouted, func(a *Arm) { a.Agent.Routed = true }},
}

// Arms lists the names of all arms, in the order of tables.
func Arms() []string {
	var out []string
	for _, a := range arms {
		out = append(out, a.name)
	}
	for _, p := range DirectPrompts() {
		out = append(out, ArmDirect+"."+p)
	}
	return out
}

// ArmOf returns an arm by its name, under a measurement profile.
//
// Errors: a name that is none, an unknown profile.
func ArmOf(name string, p Profile) (Arm, error) {
	out := Arm{Name: name, Agent: Agent{Profile: p}}
	if prompt, ok := strings.CutPrefix(name, ArmDirect+"."); ok {
		out.Agent.Direct = prompt
		return out, out.Agent.Validate()
	}
	for _, a := range arms {
		if a.name == name {
			a.change(&out)
			return out, out.Agent.Validate()
		}
	}
	return out, fmt.Errorf("arm %q is not one of %s", name, strings.Join(Arms(), ", "))
}

// Identity is everything of the arm that can change what is asked or shown: for plans.
func (a Arm) Identity() map[string]any {
	id := a.Agent.Identity()
	id["arm"], id["gate_off"] = a.Name, a.GateOff
	return id
}

// forcedCalls is the plan of an agent whose tools are forced: both lungs and the heart are
// outlined, the lungs are cropped together, and conditions that the options name are looked up;
// a question without options has none to name. [ours]
func forcedCalls(q Question) []ToolCall {
	calls := []ToolCall{
		{Number: 1, Name: ToolParse, Target: "right lung"},
		{Number: 2, Name: ToolParse, Target: "left lung"},
		{Number: 3, Name: ToolParse, Target: "heart"},
		{Number: 4, Name: ToolCrop, Joint: []int{1, 2}},
	}
	if len(q.Options) > 0 {
		calls = append(calls, ToolCall{Number: 5, Name: ToolLookup, Options: q.Options})
	}
	return calls
}
