package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/analysis"
	benchmarks "cxrepro/internal/xragent/bench"
)

// TabulateAgent turns the rollouts of every set into the figures of the tables, and says what the
// result of the reproduction is.
func (a *Activities) TabulateAgent(ctx context.Context, in contract.TabulateAgentInput) (contract.TabulateResult, error) {
	p := a.beat(ctx, len(in.Sets))
	defer p.close()
	none := contract.TabulateResult{}
	pl, err := a.plan(p.work, in.Plan)
	if err != nil {
		return none, err
	}
	sets := make([]artifacts.Digest, len(in.Sets))
	for i, ref := range in.Sets {
		sets[i] = ref.Digest
	}
	t := &tally{effort: effort{reproduction: in.Reproduction, id: in.Reproduction}}
	rec, err := a.steps.once(p, pl.AgentTablesKey(in.Questions.Digest, sets), t, pl.Class(), func(context.Context) (product, error) {
		tables, err := a.agentTables(p, pl, in)
		if err != nil {
			return product{}, err
		}
		text, err := artifacts.Canonical(tables)
		return product{data: text, mediaType: contract.AgentTablesMediaType}, err
	})
	if err != nil {
		return none, err
	}
	if err := a.countTools(p, in.Sets, t); err != nil {
		return none, err
	}
	results, err := putJSON(p.work, a.opts.Store, contract.AgentResults{
		Format: contract.AgentResultsFormat, Questions: in.Questions.Digest, Sets: sets, Tables: rec.Result.Digest, Training: in.Training.Digest,
	}, contract.AgentResultsMediaType)
	return contract.TabulateResult{Summary: rec.Result, Results: results, ResultDigest: results.Digest, Totals: t.totals}, err
}

func (a *Activities) agentTables(p *pulse, pl *derive.Plan, in contract.TabulateAgentInput) (*contract.AgentTables, error) {
	q, err := a.questions(p.work, in.Questions)
	if err != nil {
		return nil, err
	}
	out := &contract.AgentTables{
		Format: contract.AgentTablesFormat, Name: pl.Spec.Name, Paper: pl.Spec.Paper, Agent: *pl.Spec.Agent, Settings: pl.Arms,
		Questions: contract.AgentQuestions{
			Digest: in.Questions.Digest, Layout: q.Layout, Version: q.Version, DataUse: q.DataUse,
			Items: len(q.Items), Pictures: len(q.Pictures()), Notes: q.Notes,
		},
		Sets: []contract.AgentSet{},
	}
	sampling := experiments.Greedy
	if pl.Spec.Agent.Sampling == experiments.Draws {
		sampling = experiments.Draws3
	}
	for i := range pl.Models {
		out.Models = append(out.Models, contract.ModelOf(&pl.Models[i], sampling))
	}
	if pl.Lookup != nil {
		m := contract.ModelOf(pl.Lookup, experiments.Greedy)
		out.Lookup = &m
	}
	var outcomes []xragent.Outcome
	for i, ref := range in.Sets {
		set, rows, err := a.countSet(p, q, ref, i)
		if err != nil {
			return nil, err
		}
		out.Sets = append(out.Sets, *set)
		outcomes = append(outcomes, rows...)
		p.step(1)
	}
	if slices.ContainsFunc(q.Items, func(i xragent.Item) bool { _, ok := benchmarks.Of(i.ID); return ok }) {
		all, err := analysis.New(q.Items, outcomes)
		if err != nil {
			return nil, err
		}
		out.Figures = all.Figures()
	}
	return out, nil
}

// countSet counts one set of rollouts.
func (a *Activities) countSet(p *pulse, q *questionDoc, ref artifacts.Ref, index int) (*contract.AgentSet, []xragent.Outcome, error) {
	doc, err := getJSON[contract.RolloutSetDoc](p.work, a.opts.Store, ref)
	if err != nil {
		return nil, nil, fmt.Errorf("load rollouts: %w", err)
	}
	if doc.Format != contract.RolloutSetFormat || doc.Set.Index != index {
		return nil, nil, fmt.Errorf("rollouts %s: format %q, number %d at place %d", ref.Digest.Short(), doc.Format, doc.Set.Index, index)
	}
	c := newSetCount(doc.Set)
	var outcomes []xragent.Outcome
	err = eachPacked(p.work, a.opts.Store, doc.Pages, func(page *contract.RolloutsDoc) error {
		for i := range page.Rollouts {
			item, err := q.item(page.Rollouts[i].Item)
			if err != nil {
				return err
			}
			c.add(item, &page.Rollouts[i])
			outcomes = append(outcomes, page.Rollouts[i].Outcome)
		}
		p.progress()
		return nil
	})
	return c.done(), outcomes, err
}

// setCount counts the rollouts of one set.
type setCount struct {
	set                    contract.AgentSet
	reward, evidence, call float64
}

func newSetCount(s contract.RolloutSet) *setCount {
	return &setCount{set: contract.AgentSet{
		Name: s.Name, Policy: s.Card, Arm: s.Arm, Repeat: s.Repeat, Groups: []contract.AgentGroup{{Name: benchmarks.All}},
		Endings: []contract.Count{}, Tools: []contract.Count{}, Withheld: []contract.Count{},
	}}
}

func (c *setCount) add(item *xragent.Item, d *contract.RolloutDoc) {
	s, o := &c.set, &d.Outcome
	s.Config = o.Config
	c.group(benchmarks.All, o)
	if item.Source != "" {
		c.group(item.Source, o)
	}
	if o.Undetermined {
		s.Reasons = contract.AddCount(s.Reasons, o.Why, 1)
		return
	}
	s.Endings = contract.AddCount(s.Endings, o.Ending, 1)
	for _, tool := range o.Calls {
		s.Tools = contract.AddCount(s.Tools, tool, 1)
	}
	if o.Gated {
		if s.Bundles++; o.Withheld == "" {
			s.Shown++
		} else {
			s.Withheld = contract.AddCount(s.Withheld, o.Withheld, 1)
		}
	}
	if d.Score != nil {
		s.Rewarded++
		c.reward += d.Score.R
		c.evidence += d.Score.CXR
		c.call += float64(d.Score.Calls)
	}
}

func (c *setCount) group(name string, o *xragent.Outcome) {
	i := slices.IndexFunc(c.set.Groups, func(g contract.AgentGroup) bool { return g.Name == name })
	if i < 0 {
		i = len(c.set.Groups)
		c.set.Groups = append(c.set.Groups, contract.AgentGroup{Name: name})
	}
	g := &c.set.Groups[i]
	g.Items++
	if o.Undetermined {
		g.Undetermined++
		return
	}
	g.Answered++
	for _, n := range []struct {
		to   *int
		when bool
	}{{&g.Correct, o.Correct}, {&g.Unparsed, o.Unparsed}, {&g.Called, len(o.Calls) > 0}} {
		if n.when {
			*n.to++
		}
	}
}

// done returns the counts; parts of the set are in the order of their names.
func (c *setCount) done() *contract.AgentSet {
	s := &c.set
	slices.SortFunc(s.Groups[1:], func(a, b contract.AgentGroup) int { return strings.Compare(a.Name, b.Name) })
	if n := float64(s.Rewarded); n > 0 {
		s.Reward, s.Evidence, s.Calls = c.reward/n, c.evidence/n, c.call/n
	}
	return s
}

// countTools counts the records of tools, each once: rollouts that ask the same share one.
func (a *Activities) countTools(p *pulse, sets []artifacts.Ref, t *tally) error {
	seen := map[artifacts.Digest]bool{}
	for _, ref := range sets {
		doc, err := getJSON[contract.RolloutSetDoc](p.work, a.opts.Store, ref)
		if err != nil {
			return fmt.Errorf("load rollouts: %w", err)
		}
		err = eachPacked(p.work, a.opts.Store, doc.Pages, func(page *contract.RolloutsDoc) error {
			for i := range page.Rollouts {
				for _, tool := range page.Rollouts[i].Tools {
					if seen[tool.Key] {
						continue
					}
					seen[tool.Key] = true
					if _, _, err := a.steps.find(p.work, artifacts.Key{Step: contract.StepTool, Digest: tool.Key}, t); err != nil {
						return err
					}
				}
			}
			p.progress()
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
