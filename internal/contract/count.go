package contract

import (
	"sort"
	"strconv"
	"strings"
)

// Count is how often something happened, by name.
type Count struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// AddCount returns counts with n more of name, sorted by name.
func AddCount(counts []Count, name string, n int) []Count {
	if n == 0 {
		return counts
	}
	i := sort.Search(len(counts), func(i int) bool { return counts[i].Name >= name })
	if i < len(counts) && counts[i].Name == name {
		counts[i].N += n
		return counts
	}
	counts = append(counts, Count{})
	copy(counts[i+1:], counts[i:])
	counts[i] = Count{Name: name, N: n}
	return counts
}

// AddCounts merges more into counts.
func AddCounts(counts, more []Count) []Count {
	for _, c := range more {
		counts = AddCount(counts, c.Name, c.N)
	}
	return counts
}

// Total sums counts.
func Total(counts []Count) int {
	n := 0
	for _, c := range counts {
		n += c.N
	}
	return n
}

// StepCount says what became of the keys of one step.
//
// Needed = Run + Reused when everything is done. Run are keys whose record was made by
// this reproduction or its ingest, in any attempt; Reused were made by another. Repeated
// are executions beyond the first of keys that this reproduction ran.
type StepCount struct {
	Step     string  `json:"step"`
	Needed   int     `json:"needed"`
	Run      int     `json:"run"`
	Reused   int     `json:"reused"`
	Repeated int     `json:"repeated"`
	Causes   []Count `json:"causes,omitempty"`
	// Bytes are the result bytes of all needed keys.
	Bytes int64 `json:"bytes"`
	// Busy is the computing time of what was run, in seconds; it never enters a result.
	Busy float64 `json:"busy_seconds"`
}

// AddStep merges one step's counts into counts, sorted by step.
func AddStep(counts []StepCount, c StepCount) []StepCount {
	i := sort.Search(len(counts), func(i int) bool { return counts[i].Step >= c.Step })
	if i == len(counts) || counts[i].Step != c.Step {
		counts = append(counts, StepCount{})
		copy(counts[i+1:], counts[i:])
		counts[i] = StepCount{Step: c.Step}
	}
	s := &counts[i]
	s.Needed += c.Needed
	s.Run += c.Run
	s.Reused += c.Reused
	s.Repeated += c.Repeated
	s.Causes = AddCounts(s.Causes, c.Causes)
	s.Bytes += c.Bytes
	s.Busy += c.Busy
	return counts
}

// AddSteps merges more into counts.
func AddSteps(counts, more []StepCount) []StepCount {
	for _, c := range more {
		counts = AddStep(counts, c)
	}
	return counts
}

// CountsInWords prints counts for people: "3 truncated, 1 zero_bytes".
func CountsInWords(counts []Count) string {
	if len(counts) == 0 {
		return "none"
	}
	var parts []string
	for _, c := range counts {
		parts = append(parts, strconv.Itoa(c.N)+" "+c.Name)
	}
	return strings.Join(parts, ", ")
}
