package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cxrepro/internal/contract"
	"cxrepro/internal/stats"
	"cxrepro/internal/xragent"
	benchmarks "cxrepro/internal/xragent/bench"
)

// setCells compares the counts of a pair of sets: by group of questions what was right, unparsed
// and called; of the whole set what was shown, and the mean reward.
func (c *comparison) setCells(e *rolloutPair) {
	groups := func(s *contract.AgentSet) map[string]contract.AgentGroup {
		out := map[string]contract.AgentGroup{}
		for _, g := range s.Groups {
			out[g.Name] = g
		}
		return out
	}
	other := groups(e.sets[1])
	for _, g := range e.sets[0].Groups {
		o, both := other[g.Name]
		if !both {
			continue
		}
		in := func(id string) bool {
			return g.Name == benchmarks.All || e.items[id] != nil && e.items[id].Source == g.Name
		}
		for _, f := range []struct {
			column string
			a, b   int
			yes    func(o *xragent.Outcome) bool
		}{
			{"right", g.Correct, o.Correct, func(o *xragent.Outcome) bool { return o.Correct }},
			{"unparsed", g.Unparsed, o.Unparsed, func(o *xragent.Outcome) bool { return o.Unparsed }},
			{"with a call", g.Called, o.Called, func(o *xragent.Outcome) bool { return len(o.Calls) > 0 }},
		} {
			c.rolloutShare(e, g.Name, f.column, stats.Proportion{K: f.a, N: g.Answered}, stats.Proportion{K: f.b, N: o.Answered}, in,
				func(o *xragent.Outcome) bool { return !o.Undetermined }, f.yes)
		}
	}
	a, b := e.sets[0], e.sets[1]
	all := func(string) bool { return true }
	c.rolloutShare(e, benchmarks.All, "measurements shown", stats.Proportion{K: a.Shown, N: a.Bundles}, stats.Proportion{K: b.Shown, N: b.Bundles}, all,
		func(o *xragent.Outcome) bool { return o.Gated && !o.Undetermined }, func(o *xragent.Outcome) bool { return o.Withheld == "" })
	c.rewardCell(e)
}

// rolloutShare compares k of n, paired over the questions that are in both denominators.
func (c *comparison) rolloutShare(e *rolloutPair, row, column string, a, b stats.Proportion, in func(id string) bool, counts, yes func(o *xragent.Outcome) bool) {
	c.d.Compared++
	if a == b {
		return
	}
	t := Test{Name: TestMcNemar}
	var p stats.Paired
	for _, id := range e.order {
		x, y := e.docs[0][id], e.docs[1][id]
		switch ours := counts(&x.Outcome); {
		case !in(id):
		case y == nil || !counts(&y.Outcome):
			if ours {
				t.Unpaired[0]++
			}
		case !ours:
			t.Unpaired[1]++
		default:
			p.Add(yes(&x.Outcome), yes(&y.Outcome))
		}
	}
	t.Pairs, t.OnlyA, t.OnlyB = p.N(), p.OnlyFirst, p.OnlySecond
	if t.P, t.Known = p.McNemar(); !t.Known {
		t.P, t.Why = 0, "no question of both differs"
	}
	share := func(p stats.Proportion) Figure {
		if p.N == 0 {
			return Figure{Text: "N/A", Why: "nothing counts"}
		}
		return Figure{Text: fmt.Sprintf("%.2f", 100*float64(p.K)/float64(p.N)), K: p.K, N: p.N}
	}
	c.d.Cells = append(c.d.Cells, Cell{Of: e.name, Row: row, Column: column, A: share(a), B: share(b), Test: t})
}

// rewardCell compares the mean reward, with the sign test over the questions of both.
func (c *comparison) rewardCell(e *rolloutPair) {
	c.d.Compared++
	a, b := e.sets[0], e.sets[1]
	if a.Rewarded == b.Rewarded && a.Reward == b.Reward {
		return
	}
	t := Test{Name: TestSign}
	for _, id := range e.order {
		x, y := e.docs[0][id], e.docs[1][id]
		if y == nil || x.Score == nil || y.Score == nil {
			continue
		}
		t.Pairs++
		switch {
		case x.Score.R > y.Score.R:
			t.OnlyA++
		case x.Score.R < y.Score.R:
			t.OnlyB++
		}
	}
	if t.P, t.Known = stats.SignTest(t.OnlyA, t.OnlyB); !t.Known {
		t.P, t.Why = 0, "no question of both differs"
	}
	mean := func(s *contract.AgentSet) Figure {
		return Figure{Text: fmt.Sprintf("%.4f", s.Reward), Formula: fmt.Sprintf("mean of %d", s.Rewarded)}
	}
	c.d.Cells = append(c.d.Cells, Cell{Of: e.name, Row: benchmarks.All, Column: "reward", A: mean(a), B: mean(b), Test: t})
}

// figures compares the figures of the paper's tables by their ids.
func (c *comparison) figures() {
	a, b := c.a.Agent.Tables.Figures, c.b.Agent.Tables.Figures
	text := func(f contract.AgentFigure) Figure {
		if !f.Known {
			return Figure{Text: "N/A", Why: f.Why}
		}
		return Figure{Text: fmt.Sprintf("%.2f", f.Value), K: f.Counted.K, N: f.Counted.N}
	}
	for _, id := range slices.Sorted(maps.Keys(a)) {
		y, both := b[id]
		if x := a[id]; both {
			if c.d.Compared++; x.Known != y.Known || x.Value != y.Value || x.Counted != y.Counted {
				c.d.Cells = append(c.d.Cells, Cell{Of: "tables", Row: id, Column: "figure", A: text(x), B: text(y), Test: Test{Name: TestNone, Why: "tested by set, above"}})
			}
		}
	}
}

// outcomeWords is what became of a question.
func outcomeWords(d *contract.RolloutDoc) string {
	o := &d.Outcome
	switch {
	case o.Undetermined:
		return "undetermined: " + o.Why
	case o.Correct:
		return "right"
	case o.Unparsed && o.Ending != string(xragent.Completed):
		return "wrong (" + strings.ReplaceAll(o.Ending, "_", " ") + ")"
	case o.Unparsed:
		return "wrong (no answer can be read)"
	}
	return "wrong (" + o.Answer + ")"
}

// rolloutFlips compares the outcome of every question of a pair.
func (c *comparison) rolloutFlips(e *rolloutPair) {
	for _, id := range e.order {
		x, y := e.docs[0][id], e.docs[1][id]
		if y == nil {
			continue
		}
		c.d.FlipsCases++
		a, b := outcomeWords(x), outcomeWords(y)
		if a == b {
			continue
		}
		group := "question"
		if item := e.items[id]; item != nil {
			group = cmp.Or(item.Source, group)
		}
		f := Flip{Of: e.name, Task: group, Case: x.Item, CaseB: y.Item, What: "outcome", Before: a, After: b}
		if c.room() {
			f.Turns = messages(x, y)
		}
		c.flip(f)
	}
}

// messages lays two rollouts side by side, message by message in the order in which they came.
func messages(x, y *contract.RolloutDoc) []TurnPair {
	var out []TurnPair
	at := map[string]int{}
	for side, d := range []*contract.RolloutDoc{x, y} {
		for _, m := range messagesOf(d) {
			k, seen := at[m.key]
			if !seen {
				k = len(out)
				at[m.key] = k
				out = append(out, TurnPair{Key: m.key})
			}
			if side == 0 {
				out[k].ScoreA, out[k].ReplyA = m.state, m.text
			} else {
				out[k].ScoreB, out[k].ReplyB = m.state, m.text
			}
		}
	}
	return out
}

// message is one message of a rollout with what it is in a word.
type message struct{ key, state, text string }

func messagesOf(d *contract.RolloutDoc) (out []message) {
	t := &d.Trajectory
	turn := func(key string, m *xragent.Turn, last bool) {
		if m == nil {
			return
		}
		state := m.FinishReason
		switch {
		case last:
			state = outcomeWords(d)
		case state == "stop":
			state = plural(len(xragent.CalledTools(*m, t.Routed)), "call", "calls")
		}
		out = append(out, message{key, state, m.Text})
	}
	turn("turn 1", t.Turn1, t.Turn2 == nil)
	if t.Turn2 == nil {
		return out
	}
	for _, o := range t.Observations {
		text := o.Text
		if o.Box != nil {
			text = strings.TrimSpace(fmt.Sprintf("%s at %v", text, *o.Box))
		}
		out = append(out, message{fmt.Sprintf("call %d, %s", o.Call, o.Name), o.Status, text})
	}
	if shown, err := json.Marshal(t.Measurement); err == nil {
		out = append(out, message{"measurement", cmp.Or(t.Measurement.Reason, "shown"), string(shown)})
	}
	turn("turn 2", t.Turn2, true)
	return out
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
