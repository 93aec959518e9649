package xragent

// Plays is what a rollout is given by others than the agent: turns of a policy, results of tools,
// the bundle of the gate.
type Plays struct {
	Turn   func(Rollout, Step) (Turn, error)
	Call   func(Rollout, ToolCall) (Observation, error)
	Bundle Bundle
}

// Play runs a rollout to its end in this process.
//
// Errors: those of the agent and of what it is given; the rollout is then as far as it came.
func (a Agent) Play(r Rollout, p Plays) (Rollout, Ending, error) {
	for {
		step, err := a.Next(r)
		if err != nil || step.Ending != "" {
			return r, step.Ending, err
		}
		if step.Turn > 0 {
			turn, err := p.Turn(r, step)
			if err == nil {
				r, err = a.Answered(r, turn)
			}
			if err != nil {
				return r, "", err
			}
			continue
		}
		for _, c := range step.Run {
			o, err := p.Call(r, c)
			if err == nil {
				r, err = a.Observed(r, o)
			}
			if err != nil {
				return r, "", err
			}
		}
		if step.Measure {
			if r, err = a.Measured(r, p.Bundle); err != nil {
				return r, "", err
			}
		}
	}
}
