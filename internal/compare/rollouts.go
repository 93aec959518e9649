package compare

import (
	"fmt"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/xragent"
)

// Agent is what a side with an agent has.
type Agent struct {
	Questions contract.Questions
	Tables    contract.AgentTables
	Sets      []contract.RolloutSetDoc
	// Rollouts calls fn for every page of the set at a place.
	Rollouts func(set int, fn func(*contract.RolloutsDoc) error) error
}

// rolloutPair is one set of rollouts on both sides. Items are paired by their ids.
type rolloutPair struct {
	name string
	sets [2]*contract.AgentSet
	docs [2]map[string]*contract.RolloutDoc
	// order are the ids of A.
	order []string
	items map[string]*xragent.Item
}

// agents compares two agents: what was asked, and every set of rollouts.
func (c *comparison) agents() error {
	if !c.both("the agent", c.a.Agent != nil, c.b.Agent != nil) {
		return nil
	}
	if err := c.questions(); err != nil {
		return err
	}
	for _, m := range c.setPairs() {
		e, err := c.readSets(m)
		if err != nil {
			return err
		}
		for i, id := range e.order {
			if e.docs[1][id] == nil {
				continue
			}
			if err := c.rollout(e, id, i == 0); err != nil {
				return err
			}
		}
		c.setCells(e)
		c.rolloutFlips(e)
	}
	c.figures()
	s := c.step(contract.StepTabulateAgent)
	s.Compared++
	a, b := c.a.Receipt.AgentTables, c.b.Receipt.AgentTables
	if a.Digest == b.Digest {
		return nil
	}
	s.ResultsDiffer++
	return c.partByResult(s, "the tables of the agent", a.Digest, b.Digest, nil)
}

// questions pairs questions by id and pictures by digest, and compares both.
func (c *comparison) questions() error {
	in := &c.d.Inputs
	in.SameQuestions = c.a.Receipt.Questions.Digest == c.b.Receipt.Questions.Digest
	in.SameImages = true
	var items [2]map[string]int
	var pictures [2]map[artifacts.Digest]bool
	for i, s := range []*Side{c.a, c.b} {
		items[i], pictures[i] = map[string]int{}, map[artifacts.Digest]bool{}
		for n := range s.Agent.Questions.Items {
			items[i][s.Agent.Questions.Items[n].ID] = n
		}
		for _, p := range s.Agent.Questions.Pictures() {
			pictures[i][p.Digest] = true
		}
		in.Questions[i], in.Images[i] = len(items[i]), len(pictures[i])
	}
	for i, s := range []*Side{c.a, c.b} {
		only := []*[]string{&in.OnlyQuestionsA, &in.OnlyQuestionsB}[i]
		for n := range s.Agent.Questions.Items {
			other, both := items[1-i][s.Agent.Questions.Items[n].ID]
			switch {
			case !both:
				*only = append(*only, fmt.Sprintf("question %d", n))
			case i == 0 && !sameJSON(s.Agent.Questions.Items[n], c.b.Agent.Questions.Items[other]):
				in.ChangedQuestions = append(in.ChangedQuestions, fmt.Sprintf("question %d", n))
			}
		}
		images := []*[]string{&in.OnlyImagesA, &in.OnlyImagesB}[i]
		for _, p := range s.Agent.Questions.Pictures() {
			if !pictures[1-i][p.Digest] {
				in.SameImages = false
				*images = append(*images, "picture "+p.Digest.Short())
			}
		}
	}
	return nil
}

// setPairs matches sets by name, then by the training of their policies, then by the place of the
// policy; arm and repeat are the same.
func (c *comparison) setPairs() []match {
	a, b := c.a.Agent.Sets, c.b.Agent.Sets
	role := func(s *Side, r contract.RolloutSet) string { return s.Plan.Spec.Agent.Policies[r.Policy].Role }
	left, right := map[int]bool{}, map[int]bool{}
	var out []match
	for _, like := range []func(x, y contract.RolloutSet) bool{
		func(x, y contract.RolloutSet) bool { return x.Name == y.Name },
		func(x, y contract.RolloutSet) bool { return role(c.a, x) != "" && role(c.a, x) == role(c.b, y) },
		func(x, y contract.RolloutSet) bool { return x.Policy == y.Policy },
	} {
		for i := range a {
			for k := range b {
				x, y := a[i].Set, b[k].Set
				if !left[i] && !right[k] && x.Arm == y.Arm && x.Repeat == y.Repeat && like(x, y) {
					left[i], right[k] = true, true
					out = append(out, match{i, k})
				}
			}
		}
	}
	for i := range a {
		c.both("rollouts of "+a[i].Set.Name, true, left[i])
	}
	for k := range b {
		c.both("rollouts of "+b[k].Set.Name, right[k], true)
	}
	slices.SortFunc(out, func(x, y match) int { return x.a - y.a })
	return out
}

// readSets loads the rollouts of a pair.
func (c *comparison) readSets(m match) (*rolloutPair, error) {
	e := &rolloutPair{name: c.a.Agent.Sets[m.a].Set.Name, items: map[string]*xragent.Item{}}
	if other := c.b.Agent.Sets[m.b].Set.Name; other != e.name {
		e.name += " and " + other
	}
	for i, s := range []*Side{c.a, c.b} {
		at := []int{m.a, m.b}[i]
		e.sets[i], e.docs[i] = &s.Agent.Tables.Sets[at], map[string]*contract.RolloutDoc{}
		err := s.Agent.Rollouts(at, func(page *contract.RolloutsDoc) error {
			for k := range page.Rollouts {
				id := page.Rollouts[k].Outcome.Item
				e.docs[i][id] = &page.Rollouts[k]
				if i == 0 {
					e.order = append(e.order, id)
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("rollouts of %s: %w", s.Agent.Sets[at].Set.Name, err)
		}
	}
	for n := range c.a.Agent.Questions.Items {
		item := &c.a.Agent.Questions.Items[n]
		e.items[item.ID] = item
	}
	return e, nil
}

// rollout compares two rollouts up to the first record in which they part: what comes later
// follows from it. first says that the keys of its first turn tell code and environment.
func (c *comparison) rollout(e *rolloutPair, id string, first bool) error {
	x, y := e.docs[0][id], e.docs[1][id]
	item := func(what string) string { return fmt.Sprintf("%s, question %d, %s", e.name, x.Item, what) }
	if parted, err := c.measured(x, y, item); parted || err != nil {
		return err
	}
	tools, calls := 0, c.step(contract.StepCall)
	for i, a := range x.Calls {
		// What tools answered is known before the second turn is asked for.
		if a.Part == "turn.2" {
			if parted, err := c.tooled(x, y, item); parted || err != nil {
				return err
			}
			tools = len(x.Tools)
		}
		if i >= len(y.Calls) || y.Calls[i].Part != a.Part {
			c.part(Parted{Step: StepScore, Item: item(a.Part), Why: "A asks for it, B does not: " + c.specWords("agent.", "arms.")})
			return nil
		}
		b := y.Calls[i]
		calls.Compared++
		differ := a.Answer.Digest != b.Answer.Digest
		if differ {
			calls.ResultsDiffer++
		}
		if differ || first && i == 0 {
			if err := c.partByKeys(calls, item(a.Part), callKey(a), callKey(b), differ); err != nil || differ {
				return err
			}
		}
	}
	if tools < len(x.Tools) {
		if parted, err := c.tooled(x, y, item); parted || err != nil {
			return err
		}
	}
	score := c.step(StepScore)
	score.Compared++
	if a, b := outcomeWords(x), outcomeWords(y); a != b {
		score.ResultsDiffer++
		c.part(Parted{Step: StepScore, Item: item("its reply"), Why: fmt.Sprintf("the same replies are %s and %s: %s", a, b, c.specWords("agent.scorer", "dataset."))})
	}
	return nil
}

// callKey is the key of the record of a call.
func callKey(r contract.RolloutCall) artifacts.Key {
	step := contract.StepCall
	if r.Terminal != "" {
		step = contract.StepCallOutcome
	}
	return artifacts.Key{Step: step, Digest: r.Key}
}

// measured compares the measurements that two rollouts read.
func (c *comparison) measured(x, y *contract.RolloutDoc, item func(string) string) (parted bool, err error) {
	s := c.step(contract.StepMeasure)
	for i := range min(len(x.Measured), len(y.Measured)) {
		a, b := x.Measured[i].Digest, y.Measured[i].Digest
		if s.Compared++; a == b {
			continue
		}
		s.ResultsDiffer++
		return true, c.partByResult(s, item("the measurement of its picture"), a, b, nil)
	}
	return false, nil
}

// tooled compares what tools answered in two rollouts whose first turns are equal.
func (c *comparison) tooled(x, y *contract.RolloutDoc, item func(string) string) (parted bool, err error) {
	s := c.step(contract.StepTool)
	for i, a := range x.Tools {
		if i >= len(y.Tools) || y.Tools[i].Call != a.Call {
			c.part(Parted{Step: s.Step, Item: item(fmt.Sprintf("call %d of a tool", a.Call)), Why: "only A has it: " + c.specWords("agent.", "arms.")})
			return true, nil
		}
		b := y.Tools[i]
		s.Compared++
		differ := a.Result.Digest != b.Result.Digest
		if !differ {
			continue
		}
		s.ResultsDiffer++
		key := func(d artifacts.Digest) artifacts.Key { return artifacts.Key{Step: contract.StepTool, Digest: d} }
		return true, c.partByKeys(s, item(fmt.Sprintf("call %d of a tool", a.Call)), key(a.Key), key(b.Key), true)
	}
	return false, nil
}
