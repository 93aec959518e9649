package dialogue

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

// Add sums the usage of two sets of calls.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Calls: u.Calls + v.Calls, Unreported: u.Unreported + v.Unreported,
		Prompt: u.Prompt + v.Prompt, Cached: u.Cached + v.Cached,
		Completion: u.Completion + v.Completion, Thinking: u.Thinking + v.Thinking,
	}
}

// Total is every token, in and out.
func (u Usage) Total() int64 { return u.Prompt + u.Completion }
