package experiments

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/internal/xragent"
)

// TestNamedConfigurations: every named configuration of X-Ragent has a spec that runs it: its policy
// under its arm, at least three repeats, and a model card that is refused until somebody pins it.
func TestNamedConfigurations(t *testing.T) {
	for _, c := range xragent.Configurations() {
		file := filepath.Join("xragent", c.Name+".yaml")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		s, err := Parse(file, data)
		if err != nil {
			t.Error(err)
			continue
		}
		if want := strings.NewReplacer(".", "-", "_", "-").Replace(c.Name); s.Name != want {
			t.Errorf("%s: name %q, want %q", file, s.Name, want)
		}
		if len(s.Agent.Policies) != 1 {
			t.Errorf("%s: %d policies", file, len(s.Agent.Policies))
			continue
		}
		p := s.Agent.Policies[0]
		if arms := s.Agent.ArmsOf(0); len(arms) != 1 || arms[0] != c.Arm || p.Role != c.Policy {
			t.Errorf("%s: policy %s under %v, want %s under %s", file, p.Role, arms, c.Policy, c.Arm)
		}
		// Two configurations of one policy and one arm share a name in the tables.
		if got := xragent.ConfigurationOf(p.Role, c.Arm); got != c.Name && got != "xr.default" {
			t.Errorf("%s counts in %s", file, got)
		}
		if s.Agent.Repeats < 3 || s.Agent.Scorer != "strict" {
			t.Errorf("%s: %d repeats, scorer %s", file, s.Agent.Repeats, s.Agent.Scorer)
		}
		for _, layout := range QuestionLayouts()[1:] {
			if _, err := Parse(file, data, "dataset.layout="+layout); err != nil {
				t.Errorf("%s on %s: %v", file, layout, err)
			}
		}
		for _, name := range []string{p.Card, s.Agent.Lookup} {
			if name != "" {
				refused(t, filepath.Join("xragent", name))
			}
		}
	}
	for _, file := range []string{"xragent/xr.baseline.gpt-4o.yaml"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(file, data)
		if err != nil {
			t.Fatal(err)
		}
		if got := xragent.ConfigurationOf(s.Agent.Policies[0].Role, s.Agent.ArmsOf(0)[0]); got != "xr.baseline.gpt-4o" {
			t.Errorf("%s counts in %s", file, got)
		}
	}
}

// refused holds that a card parses and says why nobody knows what answers.
func refused(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return
	}
	card, err := ParseModelCard(file, data)
	if err != nil {
		t.Error(err)
		return
	}
	var unpinned *UnpinnedError
	if err := card.Pinned(); !errors.As(err, &unpinned) || !strings.Contains(err.Error(), "identity.weights") {
		t.Errorf("%s: %v, want it to be refused with the way out", file, err)
	}
}
