package dialogue

import "math"

// Usage counts the tokens of calls as the endpoint reports them. The zero value is no call.
type Usage struct {
	// Calls that reported their usage, and calls that did not.
	Calls      int64 `json:"calls"`
	Unreported int64 `json:"unreported,omitempty"`
	// Prompt tokens; Cached of them came from the endpoint's prefix cache.
	Prompt int64 `json:"prompt"`
	Cached int64 `json:"cached,omitempty"`
	// Completion tokens; Thinking of them were hidden.
	Completion int64 `json:"completion"`
	Thinking   int64 `json:"thinking,omitempty"`
}

// Add sums the usage of two sets of calls. Sums that do not fit stay at the largest number.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Calls: plus(u.Calls, v.Calls), Unreported: plus(u.Unreported, v.Unreported),
		Prompt: plus(u.Prompt, v.Prompt), Cached: plus(u.Cached, v.Cached),
		Completion: plus(u.Completion, v.Completion), Thinking: plus(u.Thinking, v.Thinking),
	}
}

// Total is every token, in and out.
func (u Usage) Total() int64 { return plus(u.Prompt, u.Completion) }

// plus adds without running over: a sum never turns negative because it is large.
func plus(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
