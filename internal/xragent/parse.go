package xragent

import "strings"

// Parsed is a trajectory read strictly.
type Parsed struct {
	Reasons []Reason // broken contracts in the order of [Reasons]; empty is well formed
	Plan    []Call   // calls that can be run, at most [MaxCalls]
	Calls   int      // R_tool: turn-1 call blocks that name one of the three tools
	// Answer is the answer as read, normalised by type; empty when none could be read.
	Answer  string
	Correct bool
	// Reasoning is turn 2's only think block; empty unless turn 2 has exactly one and its
	// blocks are all closed and free of other tags.
	Reasoning string
}

// WellFormed reports that every contract was kept.
func (p Parsed) WellFormed() bool { return len(p.Reasons) == 0 }

// Parse reads both turns and checks every contract of the protocol. It never fails:
// what is broken is named in Reasons, and what can still be read is read.
//
// Source: two turns, five calls [paper]; the grammar [ours].
func Parse(t Trajectory) Parsed {
	var p Parsed
	broken := map[Reason]bool{}
	for _, turn := range []*Turn{t.Turn1, t.Turn2} {
		if turn == nil {
			broken[TurnMissing] = true
		} else if turn.FinishReason != "stop" {
			broken[Truncated] = true
		}
	}
	if t.Turn1 != nil {
		p.readPlan(scan(t.Turn1.Text), broken, t.Routed)
	}
	if t.Turn2 != nil {
		p.readReply(t.Turn2.Text, t.Question, broken)
	}
	p.Reasons = listed(broken)
	return p
}

// listed returns the broken contracts in the order of [Reasons].
func listed(broken map[Reason]bool) []Reason {
	var out []Reason
	for _, r := range Reasons() {
		if broken[r] {
			out = append(out, r)
		}
	}
	return out
}

// common checks what both turns share; last is the kind of block that may not precede think.
func common(s scanned, broken map[Reason]bool) {
	mark := func(r Reason, when bool) { broken[r] = broken[r] || when }
	mark(UnclosedTag, s.open)
	mark(NestedTag, s.nested)
	mark(StrayText, s.rest)
	thinks := s.count(kindThink)
	mark(ThinkMissing, thinks == 0 && !s.broken())
	mark(ThinkDuplicated, thinks > 1)
	if thinks > 0 {
		mark(TagOrder, s.blocks[0].kind != kindThink)
	}
	for _, b := range s.blocks {
		mark(ThinkEmpty, b.kind == kindThink && strings.TrimSpace(b.body) == "")
	}
}

func (p *Parsed) readPlan(s scanned, broken map[Reason]bool, routed bool) {
	common(s, broken)
	calls, none := s.count(kindCall), s.count(kindNoTool)
	broken[AnswerInTurn1] = s.count(kindAnswer) > 0
	broken[PlanMissing] = calls+none == 0 && !s.broken()
	broken[PlanConflict] = none > 1 || (none == 1 && calls > 0)
	broken[OverBudget] = calls > MaxCalls
	earlier, n := map[int]bool{}, 0
	for _, b := range s.blocks {
		if b.kind != kindCall {
			continue
		}
		n++
		c, named, r := readCall(b.body, earlier, routed)
		if named {
			p.Calls++
		}
		switch {
		case b.nested: // the block itself is refused; its JSON is counted, not judged
		case r != "":
			broken[r] = true
		default:
			earlier[n] = c.Name == ToolParse
			if len(p.Plan) < MaxCalls {
				p.Plan = append(p.Plan, c)
			}
		}
	}
}

func (p *Parsed) readReply(turn string, q Question, broken map[Reason]bool) {
	s := scan(turn)
	common(s, broken)
	broken[CallInTurn2] = s.count(kindCall) > 0
	broken[NoToolInTurn2] = s.count(kindNoTool) > 0
	answers := s.count(kindAnswer)
	broken[AnswerMissing] = answers == 0 && !s.broken()
	broken[AnswerDuplicated] = answers > 1
	if s.count(kindThink) == 1 && !s.broken() {
		for _, b := range s.blocks {
			if b.kind == kindThink {
				p.Reasoning = b.body
			}
		}
	}
	content, ok := lastAnswer(turn)
	if !ok {
		return
	}
	if strings.TrimSpace(content) == "" {
		broken[AnswerEmpty] = true
		return
	}
	p.Answer, ok = ReadAnswer(q, content)
	broken[AnswerTypeWrong] = !ok
	p.Correct = ok && p.Answer == keyOf(q)
}

// lastAnswer returns what the last answer tag holds; an unclosed one holds nothing.
func lastAnswer(turn string) (string, bool) {
	at := strings.LastIndex(turn, "<answer>")
	if at < 0 {
		return "", false
	}
	content, _, closed := strings.Cut(turn[at+len("<answer>"):], "</answer>")
	return content, closed
}
