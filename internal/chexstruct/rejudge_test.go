package chexstruct

import (
	"encoding/json"
	"testing"
)

// TestRejudge changes every row that findings hold the values of, by a little and by much, on
// every third golden phantom: what Rejudge makes of the finding as it is stored equals what assessing
// the masks under the new rules gives. Other rows are left to the masks.
func TestRejudge(t *testing.T) {
	was := mustRules(t, Corrected, nil)
	flips, needMasks := 0, 0
	for n := 0; n < goldenCases; n += 3 {
		c := goldenCase(t, n+1)
		before := mustAssess(t, c.Input, was)
		for _, task := range append(Tasks(), Global) {
			for _, v := range was.RowsRead(task) {
				for _, value := range otherValues(v.Value) {
					now, err := NewRules(Corrected, map[string]any{v.Name: value})
					if err != nil {
						continue // beyond what the row takes
					}
					changes := Changes(task, was, now)
					if len(changes) == 0 {
						continue // the same value
					}
					if len(changes) != 1 || changes[0].Row != v.Name {
						t.Fatalf("%s: changes %+v after %s = %v", task, changes, v.Name, value)
					}
					if !changes[0].Stored {
						needMasks++
						continue
					}
					after := mustAssess(t, c.Input, now, task)
					if compareRejudged(t, c, task, before, after, changes, now) {
						flips++
					}
				}
			}
		}
	}
	if flips < 40 || needMasks == 0 {
		t.Errorf("%d findings changed, %d rows were left to the masks: the test shows little", flips, needMasks)
	}
}

// compareRejudged compares the stored form of one section, and reports whether it changed.
func compareRejudged(t *testing.T, c *Case, task Task, before, after *Result, changes []Change, now *Rules) bool {
	t.Helper()
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if task == Global {
		var d FilterDecision
		if err := json.Unmarshal([]byte(text(before.Global)), &d); err != nil {
			t.Fatal(err)
		}
		got, ok := RejudgeFilter(d, changes, now)
		if !ok || text(got) != text(after.Global) {
			t.Errorf("%s: %t\n got %s\nwant %s", task, ok, text(got), text(after.Global))
		}
		return text(got) != text(before.Global)
	}
	for _, f := range before.Findings {
		if f.Task != task {
			continue
		}
		stored := Finding{Task: task}
		if err := json.Unmarshal([]byte(text(f)), &stored); err != nil {
			t.Fatal(err)
		}
		got, ok := Rejudge(stored, c.Input.View, changes, now)
		if want := text(after.Findings[0]); !ok || text(got) != want {
			t.Errorf("%s, %+v: %t\n got %s\nwant %s", task, changes, ok, text(got), want)
		}
		return text(got) != text(f)
	}
	return false
}

// otherValues are values near a row's and far from it.
func otherValues(v any) []any {
	switch x := v.(type) {
	case float64:
		return []any{x * 1.2, x * 0.8, x * 3, x * 0.1}
	case []any:
		if len(x) == 2 {
			a, okA := x[0].(float64)
			b, okB := x[1].(float64)
			if okA && okB {
				return []any{[]any{a + (b-a)/4, b}, []any{a, b - (b-a)/3}}
			}
		}
	case string:
		return []any{"above", "at_least", "all", "target"}
	}
	return nil
}
