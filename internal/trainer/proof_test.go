package trainer

import (
	"strings"
	"testing"

	"cxrepro/artifacts"
)

// good is the evidence of a run of three steps, resumed after the second, with a group of two.
func good() Evidence {
	base, done := artifacts.Sum([]byte("base")), artifacts.Sum([]byte("done"))
	e := Evidence{Spec: Spec{Stage: GRPO, Group: 2, Base: base}, Segment: Segment{To: 3, Weights: base}, Attempts: []Attempt{{1, 0}, {2, 2}},
		Reached: Reached{Step: 3, Counter: 6, Weights: done}, Target: 6}
	for step, items := range [][]string{{"a", "b"}, {"c", "d"}, {"b", "c"}} {
		e.Schedule = append(e.Schedule, Step{step + 1, items})
		for attempt := 1; attempt <= 2; attempt++ {
			if attempt == 2 && step < 2 {
				continue // the first attempt trained step 3 too, and was killed before its checkpoint
			}
			e.Events = append(e.Events, Event{Attempt: attempt, Step: step + 1, Items: items, RewardSum: 1})
			for _, id := range items {
				for k := range 2 {
					e.Samples = append(e.Samples, Sample{attempt, step + 1, id, id, k})
				}
			}
		}
	}
	return e
}

// TestProve: the evidence of a good run proves it, with what a crash took back left out; every
// change of it is refused by the code that belongs to it.
func TestProve(t *testing.T) {
	p, err := Prove(good())
	if err != nil || p.Steps != 3 || p.Items != 6 || p.Samples != 12 || p.Discarded != 4 || p.Rewards != 3 {
		t.Fatalf("proof %+v, %v", p, err)
	}
	for name, c := range map[string]struct {
		want   Code
		change func(e *Evidence)
	}{
		"the counter stands still":         {NoProgress, func(e *Evidence) { e.Reached.Counter, e.Reached.Step = 0, 0 }},
		"the weights are the base's":       {NoProgress, func(e *Evidence) { e.Reached.Weights = e.Spec.Base }},
		"half way":                         {Short, func(e *Evidence) { e.Reached.Counter, e.Reached.Step = 4, 2 }},
		"half way, and the rest torn":      {Torn, func(e *Evidence) { e.Reached.Counter, e.Reached.Step, e.Reached.Torn = 4, 2, "checkpoint-6: x" }},
		"a torn one beyond the target":     {"", func(e *Evidence) { e.Reached.Torn = "checkpoint-8: x" }},
		"it went on":                       {Replayed, func(e *Evidence) { e.Reached.Counter, e.Reached.Step = 8, 4 }},
		"a step without an event":          {Short, func(e *Evidence) { e.Events = e.Events[1:] }},
		"a step twice in one attempt":      {Replayed, func(e *Evidence) { e.Events = append(e.Events, e.Events[3]) }},
		"other items":                      {Replayed, func(e *Evidence) { e.Events[0].Items = []string{"a", "c"} }},
		"another order":                    {Replayed, func(e *Evidence) { e.Events[0].Items = []string{"b", "a"} }},
		"a step that the resume had":       {Replayed, func(e *Evidence) { e.Events[1].Attempt = 2 }},
		"an attempt that nobody started":   {Replayed, func(e *Evidence) { e.Events[0].Attempt = 7 }},
		"a rollout is missing":             {Short, func(e *Evidence) { e.Samples = e.Samples[1:] }},
		"a rollout twice":                  {Replayed, func(e *Evidence) { e.Samples = append(e.Samples, e.Samples[0]) }},
		"a draw beyond the group":          {Replayed, func(e *Evidence) { e.Samples[0].Draw = 2 }},
		"a rollout of an unscheduled item": {Replayed, func(e *Evidence) { e.Samples[0].Item = "c" }},
		"two groups of an item":            {Replayed, func(e *Evidence) { e.Samples[0].Group = "other" }},
		"a dropped row that is not allowed": {Short, func(e *Evidence) {
			e.Events[0].Items, e.Events[0].Dropped = []string{"a"}, []string{"b"}
		}},
		"an allowed one": {"", func(e *Evidence) {
			e.Events[0].Items, e.Events[0].Dropped, e.Spec.Drops = []string{"a"}, []string{"b"}, 1
		}},
		"no events of examples": {Short, func(e *Evidence) { e.Spec.Stage, e.Silent, e.Events = SFT, true, nil }},
	} {
		e := good()
		c.change(&e)
		if _, err := Prove(e); RefusalOf(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestTornEvents: a line that a kill tore is left out, at the end or before another attempt; one
// in the middle of an attempt is an error.
func TestTornEvents(t *testing.T) {
	line := `{"attempt":1,"step":1,"item_ids":["a"]}` + "\n"
	second := strings.Replace(line, `"attempt":1`, `"attempt":2`, 1)
	for text, want := range map[string]int{"": 0, line: 1, line + line[:9]: 1, line + line[:9] + "\n" + second: 2, "\n" + second: 1, line[:5] + "\n": 0, line + line[:9] + "\n" + line: -1} {
		got, err := decodeEvents([]byte(text))
		if (err != nil) != (want < 0) || want >= 0 && len(got) != want {
			t.Errorf("%q: %d events, %v, want %d", text, len(got), err, want)
		}
	}
}
