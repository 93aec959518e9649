package xragent

import "strings"

// kind is a block of the protocol.
type kind uint8

const (
	kindThink kind = iota + 1
	kindCall
	kindAnswer
	kindNoTool
)

var tags = []struct {
	text string
	kind kind
	open bool
}{
	{"<think>", kindThink, true}, {"</think>", kindThink, false},
	{"<tool_call>", kindCall, true}, {"</tool_call>", kindCall, false},
	{"<answer>", kindAnswer, true}, {"</answer>", kindAnswer, false},
	{"<no_tool/>", kindNoTool, true},
}

// block is one closed block of a turn; nested is set when a tag of the protocol lies in it.
type block struct {
	kind   kind
	body   string
	nested bool
}

// scanned is a turn cut into blocks.
type scanned struct {
	blocks             []block
	nested, open, rest bool // a tag inside a block; an unclosed block; text between blocks
}

func (s scanned) count(k kind) int {
	n := 0
	for _, b := range s.blocks {
		if b.kind == k {
			n++
		}
	}
	return n
}

// broken reports that block boundaries cannot be trusted.
func (s scanned) broken() bool { return s.nested || s.open }

// nextTag finds the first tag at or after from; ok is false at the end.
func nextTag(text string, from int) (at, which int, ok bool) {
	for at = from; at < len(text); at++ {
		step := strings.IndexByte(text[at:], '<')
		if step < 0 {
			return 0, 0, false
		}
		at += step
		for i, t := range tags {
			if strings.HasPrefix(text[at:], t.text) {
				return at, i, true
			}
		}
	}
	return 0, 0, false
}

// scan cuts a turn into blocks. Tags match byte for byte; a block ends at its own closing
// tag, and other tags before it are nested. Source: [ours].
func scan(text string) scanned {
	var s scanned
	stray := func(part string) { s.rest = s.rest || strings.TrimSpace(part) != "" }
	pos := 0
	for {
		at, which, ok := nextTag(text, pos)
		if !ok {
			stray(text[pos:])
			return s
		}
		stray(text[pos:at])
		t := tags[which]
		pos = at + len(t.text)
		switch {
		case t.kind == kindNoTool:
			s.blocks = append(s.blocks, block{kind: kindNoTool})
			continue
		case !t.open:
			s.rest = true // a closing tag that closes nothing
			continue
		}
		closing := "</" + t.text[1:]
		end := strings.Index(text[pos:], closing)
		if end < 0 {
			s.open = true
			return s
		}
		b := block{kind: t.kind, body: text[pos : pos+end]}
		_, _, b.nested = nextTag(b.body, 0)
		s.nested = s.nested || b.nested
		s.blocks = append(s.blocks, b)
		pos += end + len(closing)
	}
}
