package xragent

// Block is one closed block of a text that is written with the protocol's tags.
type Block struct {
	// Tag is think, tool_call, answer or no_tool.
	Tag  string
	Body string
}

var kindTags = map[kind]string{kindThink: "think", kindCall: "tool_call", kindAnswer: "answer", kindNoTool: "no_tool"}

// Blocks cuts a text by the tags of the protocol, as the parser of trajectories does. faults
// are what keeps the cut from being whole: a tag inside a block, a block that is not closed,
// text between blocks.
func Blocks(text string) (blocks []Block, faults []Reason) {
	s := scan(text)
	for _, b := range s.blocks {
		blocks = append(blocks, Block{kindTags[b.kind], b.body})
	}
	for _, f := range []struct {
		reason Reason
		there  bool
	}{{UnclosedTag, s.open}, {NestedTag, s.nested}, {StrayText, s.rest}} {
		if f.there {
			faults = append(faults, f.reason)
		}
	}
	return blocks, faults
}

// Quotes reports that the text quotes a number for the measurement.
func Quotes(m Measurement, text string) bool {
	carry, side := subject(0), ""
	clauses := prepare(text)
	for i := range clauses {
		c := reading{clause: &clauses[i], m: m, carry: carry, side: side}
		if !c.muted && c.speaks && c.misquotes(unquotable) {
			return true
		}
		carry, side = c.last(), c.lastSide()
	}
	return false
}

// unquotable is farther from every number that can be read than any tolerance.
const unquotable = -1e6
