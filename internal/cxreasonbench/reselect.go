package cxreasonbench

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sort"
)

// Population is what Path 1 of one model, decoding mode and task leaves behind: who goes to
// Path 2 and who may be re-evaluated on. It exists only once every case has its Path 1
// result, for the choice depends on all of them.
type Population struct {
	task       Task
	cases      []string
	finalRight map[string]bool
	excluded   map[string]bool
	entry      map[string]Entry
}

// BlockedError says that cases without a Path 1 result hold up Path 2.
type BlockedError struct {
	Task Task
	// Cases are those without a result, sorted.
	Cases []string
}

func (e *BlockedError) Error() string {
	return fmt.Sprintf("cxreasonbench: path 2 of %s waits for path 1 of %d cases, the first is %s", e.Task, len(e.Cases), e.Cases[0])
}

// NewPopulation reads the Path 1 dialogues of every case of a task, by case. The order of
// cases does not matter; a duplicate counts once.
//
// Errors: *BlockedError if a case has no dialogue or an unfinished one.
func NewPopulation(rules Rules, task Task, cases []string, path1 map[string]State) (*Population, error) {
	p := &Population{task: task, finalRight: map[string]bool{}, excluded: map[string]bool{}, entry: map[string]Entry{}}
	seen := map[string]bool{}
	for _, id := range cases {
		if !seen[id] {
			seen[id] = true
			p.cases = append(p.cases, id)
		}
	}
	sort.Strings(p.cases)
	var blocked []string
	for _, id := range p.cases {
		s, ok := path1[id]
		if !ok {
			blocked = append(blocked, id)
			continue
		}
		step := s.Step()
		if step.Kind != StepDone || s.Entry != 0 {
			blocked = append(blocked, id)
			continue
		}
		if e := step.End.Entry(); e != 0 {
			p.entry[id] = e
		}
		last := s.Turns[len(s.Turns)-1]
		p.finalRight[id] = last.Key.Stage == StageFinal && last.Score == Right
		switch rules.Value(ReselectionPool) {
		case UnfinishedOrIDK:
			p.excluded[id] = last.Key.Stage == StageFinal
		default:
			p.excluded[id] = p.finalRight[id]
		}
	}
	if len(blocked) > 0 {
		return nil, &BlockedError{Task: task, Cases: blocked}
	}
	return p, nil
}

// Entering returns the cases that enter Path 2 in one way, sorted.
func (p *Population) Entering(e Entry) []string {
	var ids []string
	for _, id := range p.cases {
		if p.entry[id] == e {
			ids = append(ids, id)
		}
	}
	return ids
}

// FinalRight returns the cases whose last question of Path 1 was right, sorted.
func (p *Population) FinalRight() []string {
	var ids []string
	for _, id := range p.cases {
		if p.finalRight[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// Candidates returns the cases that current may be re-evaluated on, sorted: all but those
// that the pool's rule excludes and current itself; if none is left, those whose last
// question was right; possibly none.
//
// Source: [official code]; under ReselectionPool=unfinished_or_unknown [paper].
func (p *Population) Candidates(current string) []string {
	var ids []string
	for _, id := range p.cases {
		if id != current && !p.excluded[id] {
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 {
		return ids
	}
	for _, id := range p.FinalRight() {
		if id != current {
			ids = append(ids, id)
		}
	}
	return ids
}

// Reselect chooses the case that current is re-evaluated on; empty if there is none.
//
// The choice depends on seed, task, current and the set of candidates, and on nothing else:
// not on the order of cases, on shards, workers or resumption.
//
// DEVIATION: the released program draws from one stream over sets in hash order, so its
// choices cannot be repeated; each case has a stream of its own here.
func (p *Population) Reselect(seed uint64, current string) string {
	ids := p.Candidates(current)
	if len(ids) == 0 {
		return ""
	}
	return ids[stream(seed, "reselect", p.task.String(), current).IntN(len(ids))]
}

// stream is the generator of a named purpose: its seed is the digest of seed and names, each
// with its length.
func stream(seed uint64, names ...string) *rand.Rand {
	h := sha256.New()
	var word [8]byte
	put := func(v uint64) {
		binary.BigEndian.PutUint64(word[:], v)
		h.Write(word[:])
	}
	put(seed)
	for _, n := range names {
		put(uint64(len(n)))
		h.Write([]byte(n))
	}
	sum := h.Sum(nil)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
}
