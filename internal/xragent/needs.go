package xragent

import "strings"

// Needs counts what a rollout asks for: turns of the policy, calls to the reference book, and
// results of tools that read a picture.
type Needs struct{ Turns, Lookups, Tools int }

// Plus sums needs.
func (n Needs) Plus(o Needs) Needs {
	return Needs{n.Turns + o.Turns, n.Lookups + o.Lookups, n.Tools + o.Tools}
}

// Rest is the fewest and the most of each that a rollout still asks for, whatever is answered.
type Rest struct{ Low, High Needs }

// supposed is a course that a rollout may take: what turn 1 says, and whether tools find what
// they look for.
type supposed struct {
	turn1 string
	found bool
}

// courses are those with the fewest and the most of everything: a malformed turn, no call, and
// as many calls as there may be of each tool.
var courses = func() (out []supposed) {
	plan := func(call string) string {
		if call == "" {
			return "<think>.</think><no_tool/>"
		}
		return "<think>.</think>" + strings.Repeat("<tool_call>"+call+"</tool_call>", MaxCalls)
	}
	for _, turn := range []string{
		"", plan(""),
		plan(`{"name":"` + ToolLookup + `","arguments":{"conditions":["a"]}}`),
		plan(`{"name":"` + ToolParse + `","arguments":{"target":"heart"}}`),
	} {
		out = append(out, supposed{turn, true}, supposed{turn, false})
	}
	return out
}()

// Rest runs the protocol through every course from here. asks says whether lookups are calls
// to a model; else they cost none.
//
// Errors: those of Next.
func (a Agent) Rest(r Rollout, asks bool) (Rest, error) {
	var b Rest
	for i, s := range courses {
		n, err := a.suppose(r, s, asks)
		if err != nil {
			return b, err
		}
		if i == 0 {
			b = Rest{n, n}
		}
		b.Low = Needs{min(b.Low.Turns, n.Turns), min(b.Low.Lookups, n.Lookups), min(b.Low.Tools, n.Tools)}
		b.High = Needs{max(b.High.Turns, n.Turns), max(b.High.Lookups, n.Lookups), max(b.High.Tools, n.Tools)}
	}
	return b, nil
}

// suppose brings a rollout to its end on one course.
func (a Agent) suppose(r Rollout, s supposed, asks bool) (n Needs, err error) {
	for {
		step, err := a.Next(r)
		if err != nil || step.Ending != "" {
			return n, err
		}
		if step.Turn > 0 {
			n.Turns++
			r, err = a.Answered(r, Turn{Text: s.turn1, FinishReason: "stop"})
		} else if step.Measure {
			r, err = a.Measured(r, Bundle{Reason: ReasonNotReached})
		}
		if err != nil {
			return n, err
		}
		for _, c := range step.Run {
			n.count(c, s.found, asks)
			o := Observation{Call: c.Number, Name: c.Name, Status: StatusNotFound}
			if s.found {
				o.Status, o.Box = StatusOK, &[4]int{0, 0, 1000, 1000}
			}
			if r, err = a.Observed(r, o); err != nil {
				return n, err
			}
		}
	}
}

// count adds a call of a tool. A forced lookup asks for the conditions that the options name
// before it asks about them.
func (n *Needs) count(c ToolCall, found, asks bool) {
	switch {
	case c.Name != ToolLookup:
		n.Tools++
	case !asks:
	case c.Options != nil && found:
		n.Lookups += 2
	default:
		n.Lookups++
	}
}
