package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
	"cxrepro/internal/xragent"
)

// baseAgent is an agent's reproduction as the base.
type baseAgent struct {
	questions contract.Questions
	// pictures and items say what is in the question set.
	pictures map[artifacts.Digest]bool
	items    map[string]int
	gate     xragent.Gate
	sets     []contract.RolloutSet
	open     map[int]*baseSet
}

// baseSet is one set of the base's rollouts.
type baseSet struct {
	b       *base
	set     contract.RolloutSet
	courses map[string]baseCourse
	// docs are the keys of the calls of rollouts that were looked at, by part.
	docs map[string]map[string]artifacts.KeyDoc
}

// baseCourse is what a rollout asked for.
type baseCourse struct {
	calls []contract.RolloutCall
	tools []artifacts.Digest
}

func (b *base) openAgent(ctx context.Context) (err error) {
	if b.pl.Spec.Agent == nil || b.receipt.Questions.IsZero() {
		return nil
	}
	g := &baseAgent{pictures: map[artifacts.Digest]bool{}, items: map[string]int{}, sets: b.pl.AgentSets(), open: map[int]*baseSet{}}
	if g.questions, err = get[contract.Questions](ctx, b.docs, b.receipt.Questions); err != nil {
		return err
	}
	for i := range g.questions.Items {
		g.items[g.questions.Items[i].ID] = i
	}
	for _, image := range g.questions.Pictures() {
		g.pictures[image.Digest] = true
	}
	if g.gate, err = gateOf(ctx, b.docs, b.pl); err != nil {
		return err
	}
	b.agent = g
	return nil
}

// baseMeasurement is what the base knows of a picture, nil for nothing.
type baseMeasurement struct {
	b                *base
	segment, measure artifacts.KeyDoc
}

// measurement is that of a picture.
func (b *base) measurement(image artifacts.Digest) (*baseMeasurement, error) {
	if b == nil || b.agent == nil || !b.agent.pictures[image] {
		return nil, nil
	}
	doc, err := b.pl.MeasureKey(image, b.agent.gate)
	return &baseMeasurement{b, contract.SegmentKey(image, b.pl.Inference()), doc}, err
}

// keys are those of masks and measurement, nil for none.
func (m *baseMeasurement) keys() (masks, measured *artifacts.KeyDoc) {
	if m == nil {
		return nil, nil
	}
	return &m.segment, &m.measure
}

// reading returns the measurement where both models of the plan are the base's, so that only the
// gate decides otherwise.
func (m *baseMeasurement) reading(ctx context.Context, pl *derive.Plan) (doc contract.MeasurementDoc, ok bool, err error) {
	if m == nil || m.b.pl.View() != pl.View() || m.b.pl.Inference() != pl.Inference() {
		return doc, false, nil
	}
	key, err := m.measure.Key()
	if err != nil {
		return doc, false, err
	}
	rec, err := m.b.docs.store.Lookup(ctx, key)
	if err == nil {
		doc, err = get[contract.MeasurementDoc](ctx, m.b.docs, rec.Result)
	}
	if errors.Is(err, artifacts.ErrNotFound) {
		return doc, false, nil // removed since
	}
	return doc, err == nil, err
}

// set returns the base's set that is most like one of the plan: of the same name, else of the same
// role, arm and repeat, else the same place among policies.
func (b *base) set(ctx context.Context, pl *derive.Plan, s contract.RolloutSet) (*baseSet, error) {
	if b == nil || b.agent == nil {
		return nil, nil
	}
	role := func(p *derive.Plan, s contract.RolloutSet) string { return p.Spec.Agent.Policies[s.Policy].Role }
	at := -1
	for _, like := range []func(o contract.RolloutSet) bool{
		func(o contract.RolloutSet) bool { return o.Name == s.Name },
		func(o contract.RolloutSet) bool { return role(pl, s) != "" && role(b.pl, o) == role(pl, s) },
		func(o contract.RolloutSet) bool { return o.Policy == s.Policy },
	} {
		if at < 0 {
			at = slices.IndexFunc(b.agent.sets, func(o contract.RolloutSet) bool { return o.Arm == s.Arm && o.Repeat == s.Repeat && like(o) })
		}
	}
	if at < 0 || at >= len(b.receipt.RolloutSets) {
		return nil, nil
	}
	return b.openSet(ctx, at)
}

// openSet reads what the rollouts of a set asked for.
func (b *base) openSet(ctx context.Context, at int) (*baseSet, error) {
	if s := b.agent.open[at]; s != nil {
		return s, nil
	}
	s := &baseSet{b: b, set: b.agent.sets[at], courses: map[string]baseCourse{}, docs: map[string]map[string]artifacts.KeyDoc{}}
	doc, err := get[contract.RolloutSetDoc](ctx, b.docs, b.receipt.RolloutSets[at])
	if err != nil {
		return nil, fmt.Errorf("rollouts of %s: %w", s.set.Name, err)
	}
	err = eachPacked(ctx, b.docs, doc.Pages, func(page contract.RolloutsDoc) error {
		for _, d := range page.Rollouts {
			c := baseCourse{calls: d.Calls}
			for _, t := range d.Tools {
				c.tools = append(c.tools, t.Key)
			}
			s.courses[d.Outcome.Item] = c
		}
		return nil
	})
	b.agent.open[at] = s
	return s, err
}

// course is what the rollout of an item asked for.
func (s *baseSet) course(item string) (baseCourse, bool) {
	if s == nil {
		return baseCourse{}, false
	}
	c, ok := s.courses[item]
	return c, ok
}

// call is the key of the call for a part of the base's rollout of an item, nil for none.
func (s *baseSet) call(ctx context.Context, p *planner, item, part string) (*artifacts.KeyDoc, error) {
	if s == nil {
		return nil, nil
	}
	if s.docs[item] == nil {
		number, ok := s.b.agent.items[item]
		if !ok {
			return nil, nil
		}
		seen := map[string]artifacts.KeyDoc{}
		rg := contract.RolloutRange{Plan: s.b.receipt.Plan, Questions: s.b.receipt.Questions, Reproduction: s.b.receipt.Reproduction, Set: s.set}
		if _, err := p.o.Rollouts.FollowRollout(ctx, rg.Input(number, 0), &baseRecords{p, s.b, seen}); err != nil {
			return nil, err
		}
		s.docs[item] = seen
	}
	doc, ok := s.docs[item][part]
	if !ok {
		return nil, nil
	}
	return &doc, nil
}

// baseRecords is what the base has recorded; it notes the keys of calls.
type baseRecords struct {
	p    *planner
	b    *base
	seen map[string]artifacts.KeyDoc
}

var _ derive.Records = (*baseRecords)(nil)

// Call implements derive.Records.
func (r *baseRecords) Call(ctx context.Context, part string, c *derive.Call) (artifacts.Record, bool, error) {
	r.seen[part] = c.Ledger.Doc
	e, ok, err := r.p.findCall(ctx, c)
	return e.Record, ok, err
}

// Tool implements derive.Records.
func (r *baseRecords) Tool(ctx context.Context, doc artifacts.KeyDoc, _ func(ctx context.Context) ([]byte, string, error)) (artifacts.Record, bool, error) {
	return r.find(ctx, doc)
}

// Measured implements derive.Records.
func (r *baseRecords) Measured(ctx context.Context, image artifacts.Ref) (artifacts.Record, bool, error) {
	doc, err := r.b.pl.MeasureKey(image.Digest, r.b.agent.gate)
	if err != nil {
		return artifacts.Record{}, false, err
	}
	return r.find(ctx, doc)
}

func (r *baseRecords) find(ctx context.Context, doc artifacts.KeyDoc) (artifacts.Record, bool, error) {
	key, err := doc.Key()
	if err != nil {
		return artifacts.Record{}, false, err
	}
	e, ok, err := r.p.present(ctx, doc)
	return entryOf(key, e), ok, err
}

// agentTablesKey is the key of the base's tables, nil for none.
func (b *base) agentTablesKey() *artifacts.KeyDoc {
	if b == nil || b.agent == nil {
		return nil
	}
	sets := make([]artifacts.Digest, len(b.receipt.RolloutSets))
	for i, ref := range b.receipt.RolloutSets {
		sets[i] = ref.Digest
	}
	doc := b.pl.AgentTablesKey(b.receipt.Questions.Digest, sets)
	return &doc
}

// agentKeys are the base's keys of a step.
func (b *base) agentKeys(ctx context.Context, step string) (keys []artifacts.Key, err error) {
	switch step {
	case contract.StepTabulateAgent:
		return keyOf(b.agentTablesKey(), nil)
	case contract.StepTool:
		seen := map[artifacts.Key]bool{}
		for i := range b.receipt.RolloutSets {
			s, err := b.openSet(ctx, i)
			if err != nil {
				return nil, err
			}
			for _, c := range s.courses {
				for _, d := range c.tools {
					seen[artifacts.Key{Step: step, Digest: d}] = true
				}
			}
		}
		for key := range seen {
			keys = append(keys, key)
		}
		return keys, nil
	}
	for image := range b.agent.pictures {
		m, err := b.measurement(image)
		if err != nil {
			return nil, err
		}
		masks, measured := m.keys()
		doc := masks
		if step == contract.StepMeasure {
			doc = measured
		}
		key, err := doc.Key()
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// staleAgent counts the base's keys of a step that are not needed any more.
func (p *planner) staleAgent(ctx context.Context, step string, row *stepRow) (amount, error) {
	keys, err := p.base.agentKeys(ctx, step)
	return p.gone(step, row, keys), err
}
