package activities

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"cxrepro/internal/contract"
)

// prefixWindow is a run of entries whose image digests share their first bits.
type prefixWindow struct {
	// label is the shared bits, as 0 and 1; empty for everything.
	label   string
	entries []contract.Entry
}

// cut sorts entries by image digest and cuts them into windows: a node of the binary trie
// over the digests is split while it holds more than most entries. Where a new image falls
// decides which one or two windows change; all others stay as they are.
//
// Equal digests cannot be split; a window of one digest may hold more than most.
func cut(entries []contract.Entry, most int) []prefixWindow {
	slices.SortFunc(entries, func(a, b contract.Entry) int {
		if c := bytes.Compare(a.Image[:], b.Image[:]); c != 0 {
			return c
		}
		return a.Case - b.Case
	})
	var out []prefixWindow
	var split func(part []contract.Entry, label string)
	split = func(part []contract.Entry, label string) {
		if len(part) == 0 {
			return
		}
		if len(part) <= most || len(label) == 8*len(part[0].Image) {
			out = append(out, prefixWindow{label: label, entries: part})
			return
		}
		depth := len(label)
		at, _ := slices.BinarySearchFunc(part, true, func(e contract.Entry, _ bool) int {
			if e.Image[depth/8]>>(7-depth%8)&1 == 1 {
				return 0
			}
			return -1
		})
		split(part[:at], label+"0")
		split(part[at:], label+"1")
	}
	split(entries, "")
	return out
}

// name is the label as a manifest shows it.
func (w prefixWindow) name() string {
	if w.label == "" {
		return "all"
	}
	if len(w.label) > 64 {
		return fmt.Sprintf("%s...(%d bits)", w.label[:64], len(w.label))
	}
	return strings.Clone(w.label)
}
