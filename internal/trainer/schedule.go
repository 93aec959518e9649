package trainer

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"cxrepro/artifacts"
)

// Step is one line of schedule.jsonl: the items of a step, in order.
type Step struct {
	Step  int      `json:"step"`
	Items []string `json:"items"`
}

// Schedule is schedule.jsonl: which items each step consumes. Steps count from 1.
type Schedule []Step

// NewSchedule deals items to steps, batch at a time: pass after pass over all items, each pass
// in an order of its own that follows from the stream's name, the seed and the pass alone.
//
// Errors: no items, an item that occurs twice, a batch larger than a pass.
func NewSchedule(items []string, steps, batch int, stream string, seed uint64) (Schedule, error) {
	if batch < 1 || len(items) < batch || steps < 1 {
		return nil, fmt.Errorf("schedule: %d steps of %d out of %d items; hint: at least one step, and a batch no larger than the items", steps, batch, len(items))
	}
	seen := make(map[string]bool, len(items))
	for _, id := range items {
		if id == "" || seen[id] {
			return nil, fmt.Errorf("schedule: item id %q is empty or occurs twice", id)
		}
		seen[id] = true
	}
	out := make(Schedule, 0, steps)
	var rest []string
	for pass := 0; len(out) < steps; {
		step := make([]string, 0, batch)
		for len(step) < batch {
			// A pass may end in the middle of a step; the next one then begins with an item
			// that the step does not have yet.
			i := slices.IndexFunc(rest, func(id string) bool { return !slices.Contains(step, id) })
			if i < 0 {
				rest = append(rest, order(items, stream, seed, pass)...)
				pass++
				continue
			}
			step = append(step, rest[i])
			rest = slices.Delete(rest, i, i+1)
		}
		out = append(out, Step{Step: len(out) + 1, Items: step})
	}
	return out, nil
}

// order is one pass over a list.
func order[T any](list []T, stream string, seed uint64, pass int) []T {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d", stream, seed, pass))
	r := rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
	out := append([]T{}, list...)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// PermutedStream names the order in which the rewards of a control are handed out.
const PermutedStream = "permuted-rewards"

// Permuted hands the rewards of an item's draws in a step to other draws of it, in an order that
// follows from PermutedStream, the seed, step and item. It is a control: a policy that is trained on
// such rewards has nothing to learn from them.
func Permuted(rewards []float64, seed uint64, step int, item string) []float64 {
	return order(rewards, PermutedStream+"\x00"+item, seed, step)
}

// Encode is schedule.jsonl.
func (s Schedule) Encode() ([]byte, error) {
	var b bytes.Buffer
	for _, step := range s {
		line, err := artifacts.Canonical(step)
		if err != nil {
			return nil, err
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// DecodeSchedule reads schedule.jsonl; its steps count from 1 without a gap.
func DecodeSchedule(data []byte) (Schedule, error) {
	var s Schedule
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var step Step
		if err := json.Unmarshal(lines.Bytes(), &step); err != nil {
			return nil, fmt.Errorf("schedule.jsonl:%d: %w", len(s)+1, err)
		}
		if step.Step != len(s)+1 || len(step.Items) == 0 {
			return nil, fmt.Errorf("schedule.jsonl:%d: step %d with %d items; hint: steps count from 1, each with items", len(s)+1, step.Step, len(step.Items))
		}
		s = append(s, step)
	}
	return s, lines.Err()
}
