package main

import (
	"context"
	"slices"
	"strings"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
	tables "cxrepro/internal/report"
	"cxrepro/internal/report/agent"
	"cxrepro/internal/xragent"
)

// agentRun is an agent's reproduction as claims and the paper's tables read it.
type agentRun struct {
	store   *artifacts.Repository
	receipt *contract.Receipt
	tables  *contract.AgentTables
	blocked []checkpoint.Standing
}

// openAgentRun reads the figures of an agent's reproduction, and whether claims about its models
// stand.
func openAgentRun(ctx context.Context, store *artifacts.Repository, r *contract.Receipt) (*agentRun, error) {
	g := &agentRun{store: store, receipt: r, tables: &contract.AgentTables{}}
	if err := readJSON(ctx, store, r.AgentTables, g.tables); err != nil {
		return nil, err
	}
	var err error
	if g.blocked, err = checkpoint.Blocked(ctx, store, r); err != nil {
		return nil, storeError(err)
	}
	return g, nil
}

func (g *agentRun) simulated() bool { return agent.Simulated(g.tables) }

// blockedWords says why no claim about the reproduction stands; empty where claims stand. Figures are
// differences between its models, so one of them that was trained on what it is judged on blocks all.
func (g *agentRun) blockedWords() string {
	var words []string
	for _, s := range g.blocked {
		words = append(words, s.Model+": "+s.Detail)
	}
	return strings.Join(words, "; ")
}

// outcomes reads the questions of the reproduction and what became of them.
func (g *agentRun) outcomes(ctx context.Context) ([]xragent.Item, []xragent.Outcome, error) {
	q := &contract.Questions{}
	if err := readJSON(ctx, g.store, g.receipt.Questions, q); err != nil {
		return nil, nil, err
	}
	var out []xragent.Outcome
	for _, set := range g.receipt.RolloutSets {
		err := activities.EachRollout(ctx, g.store, set, func(d *contract.RolloutDoc) error {
			out = append(out, d.Outcome)
			return nil
		})
		if err != nil {
			return nil, nil, storeError(err)
		}
	}
	return q.Items, out, nil
}

// paperTables are Tables 1 to 11 of the paper, beside what it prints, from one reproduction.
func paperTables(ctx context.Context, store *artifacts.Repository, r *contract.Receipt) ([]*tables.Table, error) {
	g, err := openAgentRun(ctx, store, r)
	if err != nil {
		return nil, err
	}
	if len(g.tables.Figures) == 0 {
		return nil, usageError("run an experiment on chestagentbench, chexbench or slake_closed", "--compare paper: the questions of reproduction %s are those of no benchmark of the paper", r.Reproduction)
	}
	items, outcomes, err := g.outcomes(ctx)
	if err != nil {
		return nil, err
	}
	report, err := newAgentReport(items, outcomes, g.tables.Agent.Scorer, g.simulated(), g.blockedWords())
	if err != nil {
		return nil, err
	}
	return report.tables()
}

// agentRead is what several reproductions asked and were answered.
type agentRead struct {
	items     []xragent.Item
	outcomes  []xragent.Outcome
	simulated bool
	blocked   string
}

// agentRuns reads questions and outcomes of several reproductions. One question set in several of
// them, such as one benchmark under two configurations, counts once.
//
// Errors: usage errors for a reproduction of no agent; two sets that give one id to two questions.
func (a *app) agentRuns(ctx context.Context, which []string) (read agentRead, err error) {
	var sets []artifacts.Digest
	ids := map[string]bool{}
	for _, name := range which {
		store, r, err := a.openChosen(ctx, name, hasAgentTables)
		if err != nil {
			return read, err
		}
		g, err := openAgentRun(ctx, store, r.receipt)
		if err != nil {
			return read, err
		}
		items, outcomes, err := g.outcomes(ctx)
		if err != nil {
			return read, err
		}
		read.outcomes, read.simulated = append(read.outcomes, outcomes...), read.simulated || g.simulated()
		if words := g.blockedWords(); words != "" {
			read.blocked = words
		}
		if slices.Contains(sets, r.receipt.Questions.Digest) {
			continue
		}
		sets = append(sets, r.receipt.Questions.Digest)
		for _, it := range items {
			if ids[it.ID] {
				return read, usageError("name runs of one import of each benchmark", "reproduction %s asks %s in another form than a run before it", r.ID, it.ID)
			}
			ids[it.ID] = true
		}
		read.items = append(read.items, items...)
	}
	return read, nil
}
