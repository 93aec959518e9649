package cxreasonbench

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// packChanged parses the program's pack with one text changed.
func packChanged(t *testing.T, change func(map[string]any)) error {
	t.Helper()
	data, err := os.ReadFile("prompts/pack.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var pack map[string]any
	if err := yaml.Unmarshal(data, &pack); err != nil {
		t.Fatal(err)
	}
	change(pack)
	if data, err = yaml.Marshal(pack); err != nil {
		t.Fatal(err)
	}
	_, err = ParsePack(data)
	return err
}

// textsIn calls with every text below a node: its name in the pack, the text, and how to set it.
func textsIn(node any, name string, call func(name, text string, set func(string))) {
	switch x := node.(type) {
	case map[string]any:
		for key, v := range x {
			at := strings.TrimPrefix(name+"."+key, ".")
			if text, ok := v.(string); ok {
				call(at, text, func(s string) { x[key] = s })
			} else {
				textsIn(v, at, call)
			}
		}
	case []any:
		for i, v := range x {
			if text, ok := v.(string); ok {
				call(fmt.Sprintf("%s[%d]", name, i), text, func(s string) { x[i] = s })
			}
		}
	}
}

// TestPlaceholders holds of every text of the pack that it takes no placeholder beside its own,
// and that it does not do without one of them; the error names text and placeholder.
func TestPlaceholders(t *testing.T) {
	if err := packChanged(t, func(map[string]any) {}); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	packChanged(t, func(pack map[string]any) {
		textsIn(pack, "", func(name, text string, _ func(string)) { texts[name] = text })
	})
	change := func(name, text string) error {
		return packChanged(t, func(pack map[string]any) {
			textsIn(pack, "", func(at, _ string, set func(string)) {
				if at == name {
					set(text)
				}
			})
		})
	}
	kinds := []string{"{foo}", "{Foo_2}", "{ unknown }", "{}", "{größe}", "{mean-value}"}
	n := 0
	for name, text := range texts {
		wrong := kinds[n%len(kinds)]
		n++
		if err := change(name, text+" "+wrong); err == nil || !strings.Contains(err.Error(), name+":") || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s with %s: %v", name, wrong, err)
		}
		for _, p := range anyPlace.FindAllString(text, -1) {
			if err := change(name, strings.ReplaceAll(text, p, "x")); err == nil || !strings.Contains(err.Error(), name+": the placeholder "+p+" is missing") {
				t.Errorf("%s without %s: %v", name, p, err)
			}
		}
	}
	if n < 150 {
		t.Errorf("%d texts", n)
	}
	for _, c := range []struct{ name, text, want string }{
		{"texts.view", "A {view} view of the {structure}.", "only {view}"},
		{"tasks.rotation.told_released", "Above {pa}.", "{limit} is missing"},
		{"tasks.rotation.told_released", "Above {limit}, not {pa}.", "only {limit}"},
		{"tasks.inclusion.told", "All of {limit}.", "no placeholders"},
		{"tasks.rotation.told_released", "", "{limit} is missing"},
		{"judge.prompts.final", texts["judge.prompts.final"] + " The answer is {answer}.", "judge.prompts.final: nothing fills the placeholder {answer}"},
	} {
		if err := change(c.name, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for name, text := range map[string]string{
		"tasks.cardiomegaly.told_released": "At {ap}, or {pa}.", "tasks.rotation.question": "Is {x, y} or {1} or {\"a\": 1} right?",
	} {
		if err := change(name, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
