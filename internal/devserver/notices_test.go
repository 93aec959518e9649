package devserver

import (
	"strings"
	"sync"
	"testing"
)

// notices collects what Notify was told.
type notices struct {
	t     *testing.T
	mu    sync.Mutex
	lines []string
}

func (n *notices) add(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, line)
	n.t.Log("notice: " + line)
}

// contains reports whether some line has all the parts.
func (n *notices) contains(parts ...string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.lines {
		all := true
		for _, p := range parts {
			all = all && strings.Contains(l, p)
		}
		if all {
			return true
		}
	}
	return false
}
