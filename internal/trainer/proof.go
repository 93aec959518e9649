package trainer

import (
	"fmt"
	"slices"

	"cxrepro/artifacts"
)

// Attempt is one start of a trainer within a run: its number, and the step of the checkpoint
// that it resumed from.
type Attempt struct {
	N    int `json:"attempt"`
	From int `json:"from_step"`
}

// Sample is one rollout as our own records have it.
type Sample struct {
	Attempt int    `json:"attempt"`
	Step    int    `json:"step"`
	Item    string `json:"item_id"`
	Group   string `json:"group_id"`
	Draw    int    `json:"draw"`
}

// Reached is what lies in the newest complete checkpoint, read from its files.
type Reached struct {
	// Step is the checkpoint's number, Counter the counter inside it.
	Step    int              `json:"step"`
	Counter int              `json:"counter"`
	Weights artifacts.Digest `json:"weights"`
	// Torn describes a newer checkpoint that is incomplete, empty when there is none.
	Torn string `json:"torn,omitempty"`
}

// Evidence is everything that a segment is judged by.
type Evidence struct {
	Spec     Spec
	Segment  Segment
	Schedule Schedule
	Attempts []Attempt
	// Events are the trainer's, Samples ours. Silent says that the trainer writes no events:
	// then our records alone must equal the schedule, which takes rollouts.
	Events  []Event
	Silent  bool
	Samples []Sample
	Reached Reached
	// Begin is the counter that the segment began with, Target that which it must reach.
	Begin, Target int
}

// Proof is what showed that a segment was trained.
type Proof struct {
	Steps     int `json:"steps"`
	Items     int `json:"items"`
	Samples   int `json:"samples"`
	Discarded int `json:"discarded"`
	Dropped   int `json:"dropped"`
	Counter   int `json:"counter"`
	// Order is the digest of the item ids in the order in which they were consumed.
	Order artifacts.Digest `json:"order"`
	// Rewards is the sum of the rewards of the steps that count.
	Rewards float64 `json:"reward_sum"`
}

// Prove returns the proof that a segment was trained.
//
// Errors: *Refusal. Where several things are wrong the checkpoint is named first, since it
// is what would be used; a torn one is named only when nothing reached the target.
func Prove(e Evidence) (Proof, error) {
	p := Proof{Counter: e.Reached.Counter}
	if err := e.reached(); err != nil {
		return p, err
	}
	kept, err := e.keep()
	if err != nil {
		return p, err
	}
	if e.Silent {
		for step := e.Segment.From + 1; step <= e.Segment.To; step++ {
			kept.events = append(kept.events, Event{Step: step, Items: e.Schedule[step-1].Items})
		}
	}
	if err := e.events(kept.events, &p); err != nil {
		return p, err
	}
	switch {
	case e.Spec.Stage == GRPO:
		err = e.samples(kept.samples, &p)
	case e.Silent:
		err = refuse(Short, 0, "the trainer wrote no events, and nothing of ours says which examples it read")
	}
	p.Discarded = kept.discarded
	return p, err
}

// reached compares what lies in the checkpoint with what the segment began with and aims at.
func (e Evidence) reached() error {
	r, g := e.Reached, e.Segment
	switch {
	case r.Counter >= e.Target && r.Step >= g.To:
	case r.Torn != "":
		return refuse(Torn, r.Step, "%s; the newest complete one is of step %d, the target is %d", r.Torn, r.Step, g.To)
	case r.Counter <= e.Begin:
		return refuse(NoProgress, 0, "the checkpoint's counter is %d and the segment began at %d", r.Counter, e.Begin)
	default:
		return refuse(Short, r.Step, "the checkpoint's counter is %d, the target is %d", r.Counter, e.Target)
	}
	if r.Counter > e.Target || r.Step > g.To {
		return refuse(Replayed, r.Step, "the checkpoint is of step %d with counter %d, and the target is step %d with %d: it went on", r.Step, r.Counter, g.To, e.Target)
	}
	if r.Weights == g.Weights || r.Weights == e.Spec.Base {
		return refuse(NoProgress, r.Step, "the weights %s are those that it began with", r.Weights.Short())
	}
	return nil
}

// records are what of the records counts.
type records struct {
	events    []Event
	samples   []Sample
	discarded int
}

// keep leaves out what a crash took back: records of steps after the checkpoint that a later
// attempt resumed from. An attempt that trains steps which its checkpoint has replays them.
func (e Evidence) keep() (records, error) {
	from := map[int]int{}
	for _, a := range e.Attempts {
		from[a.N] = a.From
	}
	counts := func(attempt, step int) (bool, error) {
		begin, ok := from[attempt]
		if !ok {
			return false, refuse(Replayed, step, "it was recorded by attempt %d, which was not started", attempt)
		}
		if step <= begin {
			return false, refuse(Replayed, step, "attempt %d resumed from step %d and trained it again", attempt, begin)
		}
		for n, begin := range from {
			if n > attempt && begin < step {
				return false, nil
			}
		}
		return true, nil
	}
	var out records
	for _, v := range e.Events {
		if v.Step <= e.Segment.From || v.Step > e.Segment.To {
			continue
		}
		ok, err := counts(v.Attempt, v.Step)
		if err != nil {
			return out, err
		}
		if ok {
			out.events = append(out.events, v)
		}
	}
	for _, s := range e.Samples {
		if s.Step <= e.Segment.From || s.Step > e.Segment.To {
			continue
		}
		ok, err := counts(s.Attempt, s.Step)
		if err != nil {
			return out, err
		}
		if ok {
			out.samples = append(out.samples, s)
		} else {
			out.discarded++
		}
	}
	return out, nil
}

// events compares the ids that the trainer says it consumed with the schedule.
func (e Evidence) events(events []Event, p *Proof) error {
	byStep := map[int]Event{}
	for _, v := range events {
		if _, twice := byStep[v.Step]; twice {
			return refuse(Replayed, v.Step, "it was trained twice, the second time in attempt %d", v.Attempt)
		}
		byStep[v.Step] = v
	}
	var order []byte
	for step := e.Segment.From + 1; step <= e.Segment.To; step++ {
		v, ok := byStep[step]
		if !ok {
			return refuse(Short, step, "no event of it, although the checkpoint's counter is %d", e.Reached.Counter)
		}
		want := slices.DeleteFunc(slices.Clone(e.Schedule[step-1].Items), func(id string) bool { return slices.Contains(v.Dropped, id) })
		p.Dropped += len(e.Schedule[step-1].Items) - len(want)
		if !slices.Equal(v.Items, want) {
			return refuse(Replayed, step, "%s", differ(v.Items, want))
		}
		p.Steps, p.Items, p.Rewards = p.Steps+1, p.Items+len(v.Items), p.Rewards+v.RewardSum
		for _, id := range v.Items {
			order = fmt.Appendf(order, "%d %q\n", step, id)
		}
	}
	p.Order = artifacts.Sum(order)
	if p.Dropped > e.Spec.Drops {
		return refuse(Short, 0, "%d rows were dropped as too long, and the spec allows %d", p.Dropped, e.Spec.Drops)
	}
	return nil
}

// differ says where two lists of ids part.
func differ(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("item %d of it is %s, scheduled is %s", i+1, got[i], want[i])
		}
	}
	return fmt.Sprintf("it consumed %d items, scheduled are %d", len(got), len(want))
}

// samples compares the rollouts that we recorded with the schedule: every item of every step
// once per draw, in one group.
func (e Evidence) samples(samples []Sample, p *Proof) error {
	type place struct {
		step int
		item string
	}
	groups := map[place]map[int]bool{}
	names := map[place]string{}
	for _, s := range samples {
		at := place{s.Step, s.Item}
		if groups[at] == nil {
			groups[at], names[at] = map[int]bool{}, s.Group
		}
		switch {
		case !slices.Contains(e.Schedule[s.Step-1].Items, s.Item):
			return refuse(Replayed, s.Step, "item %s is not scheduled there", s.Item)
		case groups[at][s.Draw]:
			return refuse(Replayed, s.Step, "draw %d of item %s was recorded twice", s.Draw, s.Item)
		case s.Draw < 0 || s.Draw >= e.Spec.Group:
			return refuse(Replayed, s.Step, "draw %d of item %s, in groups of %d", s.Draw, s.Item, e.Spec.Group)
		case names[at] != s.Group:
			return refuse(Replayed, s.Step, "item %s is in groups %s and %s", s.Item, names[at], s.Group)
		}
		groups[at][s.Draw] = true
		p.Samples++
	}
	for step := e.Segment.From + 1; step <= e.Segment.To; step++ {
		for _, item := range e.Schedule[step-1].Items {
			at := place{step, item}
			if n := len(groups[at]); n != e.Spec.Group {
				return refuse(Short, step, "item %s has %d recorded rollouts of %d", item, n, e.Spec.Group)
			}
		}
	}
	return nil
}
