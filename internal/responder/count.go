package responder

import (
	"strconv"
	"sync"
)

// Counts is what a responder has seen since it began, or since the counts were reset.
type Counts struct {
	// Requests for a completion, of any outcome; Answered those with status 200 that were
	// written whole.
	Requests int64 `json:"requests"`
	Answered int64 `json:"answered"`
	// Distinct requests by content, and Repeated: requests answered that had been answered
	// before.
	Distinct int64 `json:"distinct"`
	Repeated int64 `json:"repeated"`
	// InFlight now, and Peak at most.
	InFlight int64 `json:"in_flight"`
	Peak     int64 `json:"peak"`
	// Kinds of request (model, judge, extract), models, statuses, faults and limits (with
	// status 429) by name.
	Kinds    map[string]int64 `json:"kinds"`
	Models   map[string]int64 `json:"models"`
	Statuses map[string]int64 `json:"statuses"`
	Faults   map[string]int64 `json:"faults"`
	Limited  int64            `json:"limited"`
	// Tasks counts the questions of models by task and key, those of policies by the source of
	// the item and the turn.
	Tasks map[string]map[string]int64 `json:"tasks"`
	// PromptTokens and CompletionTokens of the answered.
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
}

// counter holds counts and which requests were seen.
type counter struct {
	mu     sync.Mutex
	counts Counts
	seen   map[[16]byte]*sight
	number int64
}

// sight is how often one request came and was answered.
type sight struct{ came, answered int32 }

func newCounter() *counter {
	c := &counter{seen: map[[16]byte]*sight{}}
	c.clear()
	return c
}

func (c *counter) clear() {
	c.counts = Counts{InFlight: c.counts.InFlight, Peak: c.counts.InFlight, Kinds: map[string]int64{}, Models: map[string]int64{},
		Statuses: map[string]int64{}, Faults: map[string]int64{}, Tasks: map[string]map[string]int64{}}
}

// enter numbers a request.
func (c *counter) enter() (number int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.number++
	c.counts.Requests++
	c.counts.InFlight++
	c.counts.Peak = max(c.counts.Peak, c.counts.InFlight)
	return c.number
}

func (c *counter) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.InFlight--
}

// understood counts a request by what it is about, and returns which attempt at it this is,
// from 1.
func (c *counter) understood(a *about) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.Kinds[a.kind()]++
	c.counts.Models[a.model]++
	if a.agent != nil && a.agent.item != nil {
		source := a.agent.item.Source
		if c.counts.Tasks[source] == nil {
			c.counts.Tasks[source] = map[string]int64{}
		}
		c.counts.Tasks[source]["turn"+strconv.Itoa(a.agent.turn)]++
	}
	if a.place.q != nil {
		task := a.place.at.task.String()
		if c.counts.Tasks[task] == nil {
			c.counts.Tasks[task] = map[string]int64{}
		}
		c.counts.Tasks[task][a.place.q.Key.String()]++
	}
	short := [16]byte(a.print[:16])
	s := c.seen[short]
	if s == nil {
		s = &sight{}
		c.seen[short] = s
		c.counts.Distinct++
	}
	s.came++
	return int(s.came)
}

func (c *counter) fault(f Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.Faults[string(f)]++
}

func (c *counter) status(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.Statuses[strconv.Itoa(n)]++
}

func (c *counter) limited() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.Limited++
}

// answered counts a reply that was written whole.
func (c *counter) answered(a *about, u usage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.Answered++
	c.counts.Statuses["200"]++
	c.counts.PromptTokens += int64(u.Prompt)
	c.counts.CompletionTokens += int64(u.Completion)
	s := c.seen[[16]byte(a.print[:16])]
	if s == nil { // the counts were reset in between
		return
	}
	if s.answered++; s.answered > 1 {
		c.counts.Repeated++
	}
}

// read returns a copy.
func (c *counter) read() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.counts
	out.Kinds, out.Models = clone(out.Kinds), clone(out.Models)
	out.Statuses, out.Faults = clone(out.Statuses), clone(out.Faults)
	tasks := map[string]map[string]int64{}
	for t, m := range out.Tasks {
		tasks[t] = clone(m)
	}
	out.Tasks = tasks
	return out
}

// reset starts anew; requests are numbered from 1 again and none was seen before.
func (c *counter) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	c.number = 0
	c.seen = map[[16]byte]*sight{}
}

func clone(m map[string]int64) map[string]int64 {
	out := make(map[string]int64, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}
