package xragent

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// ToolCall is one call of a well-formed plan as data, ready to be run by whoever has the
// tool. Exactly one of Box, Region, After and Joint says where a roi_crop goes.
type ToolCall struct {
	Number int    `json:"call"` // from 1, in the order of the plan
	Name   string `json:"name"`
	Image  int    `json:"image"` // the question's picture, from 0
	// Box is in thousandths of the picture's sides, inside 0..1000: x1, y1, x2, y2.
	Box    *[4]int `json:"bbox,omitempty"`
	Region string  `json:"region,omitempty"`
	// After is the number of the region_parse whose box a crop takes.
	After int `json:"after,omitempty"`
	// Joint are calls of region_parse whose joint box a forced crop takes.
	Joint      []int    `json:"joint,omitempty"`
	Target     string   `json:"target,omitempty"`
	Conditions []string `json:"conditions,omitempty"`
	// Options are what the conditions of a forced lookup are taken from.
	Options []string `json:"options,omitempty"`
}

// needs lists the calls whose boxes the call takes.
func (c ToolCall) needs() []int {
	if c.After > 0 {
		return []int{c.After}
	}
	return c.Joint
}

// ready reports that every call is answered whose box the call takes.
func (c ToolCall) ready(results []*Observation) bool {
	for _, k := range c.needs() {
		if results[k-1] == nil {
			return false
		}
	}
	return true
}

// missed reports that the call takes boxes, and that there are none.
func (c ToolCall) missed(results []*Observation) bool {
	for _, k := range c.needs() {
		if o := results[k-1]; o == nil || o.located() {
			return false
		}
	}
	return len(c.needs()) > 0
}

// Plan is turn 1 read strictly.
type Plan struct {
	Reasons []Reason // empty is well formed
	Calls   []ToolCall
	Counted int // R_tool: call blocks that name one of the tools
}

// WellFormed reports that turn 1 kept every contract.
func (p Plan) WellFormed() bool { return len(p.Reasons) == 0 }

// ReadPlan reads turn 1 alone, by the rules of [Parse]. A malformed turn has no calls:
// nothing of it is run.
func ReadPlan(turn Turn) Plan { return readTurn1(turn, false) }

// CalledTools lists the tools that a turn calls, in order and with repeats, run or not: what
// R_tool counts.
func CalledTools(turn Turn, routed bool) []string {
	var out []string
	earlier := map[int]bool{}
	for _, b := range scan(turn.Text).blocks {
		if b.kind != kindCall {
			continue
		}
		if c, named, _ := readCall(b.body, earlier, routed); named {
			out = append(out, c.Name)
		}
	}
	return out
}

func readTurn1(turn Turn, routed bool) Plan {
	var p Parsed
	broken := map[Reason]bool{Truncated: turn.FinishReason != "stop"}
	p.readPlan(scan(turn.Text), broken, routed)
	plan := Plan{Counted: p.Calls, Reasons: listed(broken)}
	if !plan.WellFormed() {
		return plan
	}
	for i, c := range p.Plan {
		plan.Calls = append(plan.Calls, toolCall(i+1, c))
	}
	return plan
}

// toolCall turns a call that was checked into data.
func toolCall(number int, c Call) ToolCall {
	var args struct {
		Image      json.RawMessage
		BBox       []json.RawMessage
		Region     string
		Target     string
		Conditions []string
	}
	// the parser has checked every argument's form
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		panic(fmt.Sprintf("xragent: checked arguments %s: %v", c.Arguments, err))
	}
	t := ToolCall{Number: number, Name: c.Name, Target: strings.TrimSpace(args.Target), Conditions: args.Conditions}
	if n, ok := whole(args.Image); ok {
		t.Image = int(min(n, 1<<30))
	}
	if len(args.BBox) == 4 {
		t.Box = new([4]int)
		for i, raw := range args.BBox {
			n, _ := whole(raw)
			t.Box[i] = int(min(max(n, 0), 1000))
		}
	}
	region := strings.TrimSpace(args.Region)
	if ref, isRef := strings.CutPrefix(region, "#"); isRef {
		t.After, _ = strconv.Atoi(ref)
	} else {
		t.Region = region
	}
	return t
}

// Status says what came of a call.
type Status = string

// Statuses of observations. All but ok leave the policy without the evidence and cost it
// nothing.
const (
	StatusOK          Status = "ok"
	StatusError       Status = "error"              // the tool failed, retries included
	StatusUnsupported Status = "unsupported_target" // no structure and no finding that the tools know
	StatusNotFound    Status = "not_found"          // looked for and not there
	StatusDisabled    Status = "disabled"           // switched off in this experiment
	StatusNoPicture   Status = "no_such_image"      // the question has no picture of that number
)

func validStatus(s Status) bool {
	switch s {
	case StatusOK, StatusError, StatusUnsupported, StatusNotFound, StatusDisabled, StatusNoPicture:
		return true
	}
	return false
}
