package compare

import (
	"errors"
	"fmt"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// walk goes through the dialogues of a pair, turn by turn, and notes where they part: in a reply,
// in a verdict, or in how either is scored.
func (c *comparison) walk(e *pair) error {
	sampled := false
	for _, at := range e.order {
		x, y := e.talks[0][at], e.talks[1][at]
		if y == nil {
			continue
		}
		if !sampled && len(x.State.Turns) > x.State.Replayed && len(y.State.Turns) > y.State.Replayed {
			// Keys of a step differ in the same fields in every dialogue.
			sampled = true
			if err := c.firstCalls(e, at, x, y); err != nil {
				return err
			}
		}
		if err := c.talk(e, at, x, y); err != nil {
			return err
		}
	}
	return nil
}

// talk compares two dialogues up to the first turn in which they part: what comes later follows
// from it.
func (c *comparison) talk(e *pair, at talkKey, x, y *contract.DialogueDoc) error {
	a, b := x.State.Turns[x.State.Replayed:], y.State.Turns[y.State.Replayed:]
	calls, score := c.step(contract.StepCall), c.step(StepScore)
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i].Key != b[i].Key {
			score.ResultsDiffer++
			c.part(Parted{Step: StepScore, Item: e.item(at, x, "after "+lastKey(a[:min(i, len(a))])), Why: c.goesOn(e, a, b, i)})
			return nil
		}
		for k := range a[i].Draws {
			calls.Compared++
			if k >= len(b[i].Draws) || a[i].Draws[k].Reply.Digest != b[i].Draws[k].Reply.Digest {
				calls.ResultsDiffer++
				return c.partAtCall(e, at, x, y, cxreasonbench.Call{Kind: cxreasonbench.CallModel, Key: a[i].Key, Draw: k})
			}
			v, w := x.Turns[i].Draws[k].Verdict, y.Turns[i].Draws[k].Verdict
			if !v.IsZero() && !w.IsZero() {
				calls.Compared++
				if v.Digest != w.Digest {
					calls.ResultsDiffer++
					return c.partAtCall(e, at, x, y, cxreasonbench.Call{Kind: cxreasonbench.CallJudge, Key: a[i].Key, Draw: k})
				}
			}
			score.Compared++
			if p, q := a[i].Draws[k], b[i].Draws[k]; p.Score != q.Score {
				score.ResultsDiffer++
				c.part(Parted{Step: StepScore, Item: e.item(at, x, a[i].Key.String()), Why: fmt.Sprintf("the same reply is %s and %s: %s", p.Score, q.Score, c.rulesDiffer(e, cxreasonbench.ChangesScores))})
				return nil
			}
		}
	}
	c.values(e, at, x, y)
	return nil
}

// values compares what was made of the values told.
func (c *comparison) values(e *pair, at talkKey, x, y *contract.DialogueDoc) {
	score := c.step(StepScore)
	for i, v := range x.Values {
		if i >= len(y.Values) {
			return
		}
		score.Compared++
		if w := y.Values[i]; v.Consistent != w.Consistent {
			score.ResultsDiffer++
			says := map[bool]string{true: "consistent", false: "not consistent"}
			c.part(Parted{Step: StepScore, Item: e.item(at, x, "value of "+v.Key.String()), Why: fmt.Sprintf("the same value is %s and %s: %s", says[v.Consistent], says[w.Consistent], c.rulesDiffer(e, cxreasonbench.ChangesScores))})
			return
		}
	}
}

func lastKey(turns []cxreasonbench.Turn) string {
	if len(turns) == 0 {
		return "the beginning"
	}
	return turns[len(turns)-1].Key.String()
}

// goesOn says how two dialogues with equal scores go on differently.
func (c *comparison) goesOn(e *pair, a, b []cxreasonbench.Turn, i int) string {
	next := func(turns []cxreasonbench.Turn) string {
		if i < len(turns) {
			return "asks " + turns[i].Key.String()
		}
		return "stops"
	}
	return fmt.Sprintf("A %s, B %s: %s", next(a), next(b), c.rulesDiffer(e, cxreasonbench.ChangesDialogue))
}

// rulesDiffer names the switches of scoring and of the dialogue that differ, up to an effect.
func (c *comparison) rulesDiffer(e *pair, upTo cxreasonbench.Effect) string {
	var out []string
	if j := e.judge; (j[0] == "") != (j[1] == "") {
		who := map[bool]string{true: "parser", false: "judge"}
		out = append(out, fmt.Sprintf("evaluation.scoring is %s and %s", who[j[0] == ""], who[j[1] == ""]))
	}
	for _, s := range cxreasonbench.Switches() {
		if x, y := e.rules[0].Value(s), e.rules[1].Value(s); x != y && s.Effect() <= upTo {
			out = append(out, fmt.Sprintf("%s is %s and %s", s, x, y))
		}
	}
	if len(out) == 0 {
		return "no rule differs; another program scored them, or a call is missing on one side"
	}
	return strings.Join(out, "; ")
}

func (e *pair) item(at talkKey, d *contract.DialogueDoc, what string) string {
	return fmt.Sprintf("%s, %s, case %d, %s", e.name, at.task, d.Case, what)
}

// errFound ends a walk early.
var errFound = errors.New("found")

// partAtCall compares the keys of one call on both sides.
func (c *comparison) partAtCall(e *pair, at talkKey, x, y *contract.DialogueDoc, call cxreasonbench.Call) error {
	s := c.step(contract.StepCall)
	if s.first != nil || c.step(StepScore).first != nil {
		return nil
	}
	a, err := keyOf(c, c.a, e.index[0], at, x.Case, call)
	if err != nil {
		return err
	}
	b, err := keyOf(c, c.b, e.index[1], at, y.Case, call)
	if err != nil {
		return err
	}
	item := e.item(at, x, call.String())
	if a.IsZero() || b.IsZero() {
		c.part(Parted{Step: s.Step, Item: item, KeyA: a, KeyB: b, Why: "the answers differ; the record of one is gone"})
		return nil
	}
	return c.partByKeys(s, item, a, b, true)
}

// firstCalls compares the keys of the first call of each kind in a pair of dialogues.
func (c *comparison) firstCalls(e *pair, at talkKey, x, y *contract.DialogueDoc) error {
	first := x.State.Turns[x.State.Replayed].Key
	for _, kind := range []cxreasonbench.CallKind{cxreasonbench.CallModel, cxreasonbench.CallJudge} {
		call := cxreasonbench.Call{Kind: kind, Key: first}
		a, err := keyOf(c, c.a, e.index[0], at, x.Case, call)
		if err != nil {
			return err
		}
		b, err := keyOf(c, c.b, e.index[1], at, y.Case, call)
		if err != nil {
			return err
		}
		if a.IsZero() || b.IsZero() {
			continue
		}
		if err := c.partByKeys(c.step(contract.StepCall), e.item(at, x, call.String()), a, b, false); err != nil {
			return err
		}
	}
	return nil
}

// keyOf is the key of a call of a dialogue; zero where it has no record.
func keyOf(c *comparison, s *Side, evaluation int, at talkKey, number int, call cxreasonbench.Call) (found artifacts.Key, err error) {
	err = s.Calls(c.ctx, evaluation, at.task, at.path, number, func(x cxreasonbench.Call, key artifacts.Key) error {
		x.Again = 0
		if x == call {
			found = key
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return found, err
}

// results compares the tables of the evaluations.
func (c *comparison) results() error {
	if c.a.Tables == nil || c.b.Tables == nil {
		return nil
	}
	s := c.step(contract.StepTabulate)
	s.Compared++
	a, b := c.a.Receipt.Tables, c.b.Receipt.Tables
	if a.Digest == b.Digest {
		return nil
	}
	s.ResultsDiffer++
	if err := c.partByResult(s, "the tables of the evaluations", a.Digest, b.Digest, nil); err != nil {
		return err
	}
	if s.first != nil && s.first.Why == "" {
		s.first.Why = c.specWords("switches.score.", "evaluation.", "preset")
	}
	return nil
}
