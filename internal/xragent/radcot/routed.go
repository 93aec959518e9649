package radcot

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cxrepro/internal/xragent"
)

// Trajectory judges a routed attempt that has ended: contracts kept, within the calls, its
// answer the key, observations quoted as they were given, nothing that gives a source away.
func (s Spec) Trajectory(r xragent.Rollout) Verdict {
	t := s.Agent.Trajectory(r)
	found := map[Code]bool{}
	for _, turn := range []*xragent.Turn{r.Turn1, r.Turn2} {
		if turn == nil {
			continue
		}
		found[NoReply] = found[NoReply] || strings.TrimSpace(turn.Text) == ""
		found[Truncated] = found[Truncated] || turn.FinishReason == "length"
		found[ControlToken] = found[ControlToken] || control(turn.Text)
		for _, think := range thoughts(turn.Text) {
			code, _ := leaking(think, false, LeakageReject)
			found[code] = true
			found[TooLong] = found[TooLong] || len(xragent.Words(think)) > s.Rules.MaxWords
		}
	}
	p := xragent.Parse(t)
	v := Verdict{Words: len(xragent.Words(p.Reasoning)), Broken: p.Reasons}
	if r.Turn2 == nil { // the rollout ended at turn 1, which the missing turn only follows from
		v.Broken = slices.DeleteFunc(slices.Clone(p.Reasons), func(x xragent.Reason) bool { return x == xragent.TurnMissing })
	}
	for _, b := range v.Broken {
		found[contractCode(b, r.Turn2 == nil)] = true
	}
	if r.Turn2 != nil && len(v.Broken) == 0 {
		found[AnswerMismatch] = !p.Correct
		found[Misquoted] = misquotes(t, r, p.Reasoning)
	}
	return judged(v, found)
}

// contractCode is the code of a broken contract.
func contractCode(r xragent.Reason, turn1 bool) Code {
	switch r {
	case xragent.OverBudget:
		return OverBudget
	case xragent.BadJSON, xragent.UnknownTool, xragent.BadArguments:
		return SchemaInvalid
	case xragent.Truncated:
		return Truncated
	case xragent.AnswerInTurn1, xragent.PlanMissing, xragent.PlanConflict:
		return MalformedTurn1
	}
	if turn1 {
		return MalformedTurn1
	}
	return MalformedTurn2
}

// thoughts are the think blocks of a turn.
func thoughts(text string) []string {
	var out []string
	blocks, _ := xragent.Blocks(text)
	for _, b := range blocks {
		if b.Tag == "think" {
			out = append(out, b.Body)
		}
	}
	return out
}

var (
	quotedBox  = regexp.MustCompile(`[\[(]\s*(\d{1,4})\s*,\s*(\d{1,4})\s*,\s*(\d{1,4})\s*,\s*(\d{1,4})\s*[\])]`)
	quotedCall = regexp.MustCompile(`(?i)(?:\bcall |#)(\d{1,3})\b`)
)

// misquotes reports reasoning that refers to an observation as more or other than it was: a
// measurement that was withheld or has another value, a box that nobody gave, a call or a tool
// that was not called. Source: "referenced at most as given" [ours].
func misquotes(t xragent.Trajectory, r xragent.Rollout, reasoning string) bool {
	for _, m := range xragent.Measurements() {
		if !t.Measurement.Exposed(m) {
			if xragent.Quotes(m, reasoning) {
				return true
			}
			continue
		}
		v := t.Measurement.Values[int(m)-1]
		category, err := v.Read(m)
		if err != nil || xragent.Compare(m, category, v.Value, reasoning) == xragent.Contradicts {
			return true
		}
	}
	plan := xragent.ReadPlan(*r.Turn1)
	for _, q := range quotedBox.FindAllStringSubmatch(reasoning, -1) {
		if !given(plan, t.Observations, q[1:]) {
			return true
		}
	}
	for _, q := range quotedCall.FindAllStringSubmatch(reasoning, -1) {
		if n, err := strconv.Atoi(q[1]); err != nil || n < 1 || n > len(plan.Calls) {
			return true
		}
	}
	for _, tool := range []string{xragent.ToolCrop, xragent.ToolParse, xragent.ToolLookup} {
		called := slices.ContainsFunc(plan.Calls, func(c xragent.ToolCall) bool { return c.Name == tool })
		if !called && strings.Contains(reasoning, tool) {
			return true
		}
	}
	return false
}

// given reports that a box stands in the plan or in an observation.
func given(plan xragent.Plan, observations []xragent.Observation, quoted []string) bool {
	var box [4]int
	for i, q := range quoted {
		box[i], _ = strconv.Atoi(q) // at most four digits
	}
	return slices.ContainsFunc(plan.Calls, func(c xragent.ToolCall) bool { return c.Box != nil && *c.Box == box }) ||
		slices.ContainsFunc(observations, func(o xragent.Observation) bool { return o.Box != nil && *o.Box == box })
}
