package experiments

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cxrepro/artifacts"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/lvlm"
)

// evaluated is the demo spec with a benchmark and an evaluation.
func evaluated(t *testing.T) string {
	t.Helper()
	return string(demo(t)) + `
switches:
  dialogue.review_rounds: ask_all
  build.deal: quota
benchmark: {source: build, cases: 24, sample: balanced, pictures: native, seed: 7}
evaluation:
  models: [a.yaml, b.yaml]
  judge: judge.yaml
  scoring: judge
  sampling: [draws3, greedy]
  paths: [path2, path1]
  seed: 1
  bootstrap: 100
`
}

const released = `
name: released
paper: p
preset: as_released
dataset: {name: chexstruct-cxreasonbench, layout: cxreasonbench, data_use: credentialed}
benchmark: {source: release, radiographs: mimic-cxr-jpg}
`

func TestBadBenchmarks(t *testing.T) {
	for _, c := range []struct{ name, spec, old, new, want string }{
		{"preset of the measurements", "e", "preset: corrected", "preset: as_published", "e.yaml:5: preset: preset as_published is a reading of the measurements alone; a benchmark has the presets [as_released corrected]"},
		{"unknown switch", "e", "build.deal", "build.dael", `switches.build.dael: cxreasonbench: no switch is called "build.dael"; the switches are`},
		{"value of a switch", "e", "ask_all", "ask", "switches.dialogue.review_rounds: cxreasonbench: switch dialogue.review_rounds cannot be \"ask\"; its values are ask_all, stop"},
		{"switches without benchmark", "e", "benchmark: {source: build, cases: 24, sample: balanced, pictures: native, seed: 7}", "", "switches: does not go with an experiment without benchmark"},
		{"evaluation without benchmark", "e", "benchmark: {source: build, cases: 24, sample: balanced, pictures: native, seed: 7}", "", "evaluation: needs a benchmark section"},
		{"source", "e", "source: build", "source: made", `benchmark.source: "made" is not one of build, release`},
		{"too few", "e", "cases: 24", "cases: 11", "benchmark.cases: 11 cases; want at least 12"},
		{"sample", "e", "balanced", "even", `benchmark.sample: "even" is not one of balanced, random`},
		{"pictures", "e", "native", "large", `benchmark.pictures: "large" is not one of native, official`},
		{"no seed", "e", ", seed: 7", "", "benchmark.seed: is missing"},
		{"counts of a build", "e", "seed: 7", "seed: 7, counts: any", "benchmark.counts: does not go with benchmark.source build"},
		{"a task too few", "e", "  - rotation\n", "", "tasks: rotation is missing; a benchmark asks about all twelve tasks"},
		{"more than the rule deals", "r2", "", "", "are more than 100 a task"},
		{"no judge", "e", "  judge: judge.yaml\n", "", "evaluation.judge: is missing; scoring judge needs"},
		{"judge of the parser", "e", "scoring: judge", "scoring: parser", "evaluation.judge: does not go with scoring parser"},
		{"no models", "e", "[a.yaml, b.yaml]", "[]", "evaluation.models: want at least one model card"},
		{"a model twice", "e", "[a.yaml, b.yaml]", "[a.yaml, a.yaml]", `evaluation.models[1]: "a.yaml" stands twice`},
		{"sampling", "e", "[draws3, greedy]", "[draws5]", `evaluation.sampling[0]: "draws5" is not one of greedy, draws3`},
		{"path 2 alone", "e", "[path2, path1]", "[path2]", "evaluation.paths: path2 goes on from path1"},
		{"bootstrap", "e", "bootstrap: 100", "bootstrap: 0", "evaluation.bootstrap: want 1 to 1000000 resamples"},
		{"retry", "e", "bootstrap: 100", "bootstrap: 100\n  retry: {outcomes: [throttled], round: 1}", `evaluation.retry.outcomes[0]: "throttled" is not one of judge_unparsable, refusal,`},
		{"retry round", "e", "bootstrap: 100", "bootstrap: 100\n  retry: {outcomes: [refusal], round: 0}", "evaluation.retry.round: want 1 for the first"},
		{"tasks of a release", "r", "paper: p", "paper: p\ntasks: [rotation]", "tasks: does not go with benchmark.source release"},
		{"limits of a release", "r", "layout: cxreasonbench", "layout: cxreasonbench, limits: {max_bytes: 1, max_pixels: 1}", "dataset.limits: does not go with benchmark.source release"},
		{"layout of a release", "r", "layout: cxreasonbench", "layout: mimic-cxr-jpg", `dataset.layout: "mimic-cxr-jpg" is not one of cxreasonbench`},
		{"no radiographs", "r", ", radiographs: mimic-cxr-jpg", "", "benchmark.radiographs:"},
		{"seed of a release", "r", "source: release", "source: release, seed: 1", "benchmark.seed: does not go with benchmark.source release"},
		{"counts", "r", "source: release", "source: release, counts: most", `benchmark.counts: "most" is not one of any`},
		{"no masks", "e", "masks:\n  source: onnx\n  card: ../models/phantomseg.yaml\n  provider: cpu\n", "", "masks: is missing; every spec states it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := map[string]string{"e": evaluated(t), "r": released,
				"r2": strings.NewReplacer("cases: 24", "cases: 1201", "preset: corrected", "preset: as_released", "  build.deal: quota\n", "").Replace(evaluated(t))}[c.spec]
			changed := strings.Replace(text, c.old, c.new, 1)
			if changed == text && c.old != "" {
				t.Fatalf("the spec lacks %q", c.old)
			}
			_, err := Parse("e.yaml", []byte(changed))
			var se *SpecError
			if !errors.As(err, &se) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant it to contain %s", err, c.want)
			}
		})
	}
}

func TestNormalForm(t *testing.T) {
	s, err := Parse("e.yaml", []byte(evaluated(t)))
	if err != nil {
		t.Fatal(err)
	}
	// build.deal quota is what the preset says anyway.
	if want := map[string]string{"dialogue.review_rounds": "ask_all"}; !maps.Equal(s.Switches, want) {
		t.Errorf("switches %v, want %v", s.Switches, want)
	}
	if e := s.Evaluation; e.Sampling[0] != Greedy || e.Paths[0] != "path1" {
		t.Errorf("sampling %v, paths %v: want them in their own order", e.Sampling, e.Paths)
	}
	if _, err := Parse("r.yaml", []byte(released)); err != nil {
		t.Error(err)
	}
}

func TestPin(t *testing.T) {
	parse := func(sets ...string) *Spec {
		t.Helper()
		s, err := Parse("e.yaml", []byte(evaluated(t)), sets...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ref := func(text string) artifacts.Ref {
		return artifacts.Ref{Digest: artifacts.Sum([]byte(text)), Size: 1, MediaType: "x"}
	}
	card := func(name string) ModelCard {
		c := ModelCard{Name: name, Identity: lvlm.Identity{Provider: "p", Snapshot: name}}
		c.Draws = &lvlm.Decoding{}
		return c
	}
	pins := Pins{Model: &Model{Name: "m"}, Models: []ModelCard{card("a"), card("b")}, Judge: &ModelCard{Name: "j"}, Prompts: ref("pack")}
	digest := func(s *Spec, pins Pins) string {
		t.Helper()
		p, err := Pin(s, pins)
		if err != nil {
			t.Fatal(err)
		}
		d, err := p.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d.String()
	}
	base := digest(parse(), pins)
	twin := pins
	twin.Models = []ModelCard{card("a"), card("a")}
	twin.Models[1].Name = "b"
	if _, err := Pin(parse(), twin); err == nil || !strings.Contains(err.Error(), "describe one model") {
		t.Errorf("two cards of one model: %v", err)
	}
	twin.Models[1].Pictures = "long1024"
	if _, err := Pin(parse(), twin); err != nil {
		t.Errorf("one model with pictures prepared in two ways: %v", err)
	}
	if digest(parse("evaluation.models=[x/a.yaml, b.yaml]", "evaluation.judge=other.yaml", "benchmark.prompts=mine.yaml"), pins) != base {
		t.Error("paths of cards and prompts changed the experiment")
	}
	change := func(name string, f func(*Pins)) {
		other := pins
		other.Models = append([]ModelCard{}, pins.Models...)
		f(&other)
		if digest(parse(), other) == base {
			t.Errorf("another %s changed nothing", name)
		}
	}
	change("pack", func(p *Pins) { p.Prompts = ref("other") })
	change("card", func(p *Pins) { p.Models[1].Pictures = "long1024" })
	change("judge", func(p *Pins) { p.Judge = &ModelCard{Name: "k"} })
	for _, c := range []struct {
		want   string
		change func(*Pins)
	}{
		{"evaluation.models: the spec names 2 cards, 1 were pinned", func(p *Pins) { p.Models = p.Models[:1] }},
		{"evaluation.judge", func(p *Pins) { p.Judge = nil }},
		{"benchmark", func(p *Pins) { p.Prompts = artifacts.Ref{} }},
		{"masks.card", func(p *Pins) { p.Model = nil }},
		{`"a" is the name of an earlier card`, func(p *Pins) { p.Models[1].Name = "a" }},
		{"card b says nothing of draws", func(p *Pins) { p.Models[1].Draws = nil }},
	} {
		other := pins
		other.Models = append([]ModelCard{}, pins.Models...)
		c.change(&other)
		if _, err := Pin(parse(), other); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want it to contain %q", err, c.want)
		}
	}
	s := parse()
	if _, err := Pin(s, pins); err != nil || len(s.Evaluation.Models) != 2 {
		t.Errorf("pinning changed the spec: %v, %v", s.Evaluation.Models, err)
	}
}

// TestDemoCards holds that the demo's cards parse, are simulated, and name the profile that
// their replies come from: another profile is another model.
func TestDemoCards(t *testing.T) {
	s := committed(t, "cxreasonbench-demo")
	profile, err := os.ReadFile("cxreasonbench-demo/profiles/demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := " of demo.yaml@" + artifacts.Sum(profile).Hex()[:12]
	for _, name := range append(s.Evaluation.Models, s.Evaluation.Judge) {
		path := "cxreasonbench-demo/" + name
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c, err := ParseModelCard(path, data)
		if err != nil {
			t.Fatal(err)
		}
		if !c.Simulated || c.Identity.Snapshot != c.Name+want || name != "models/"+c.Name+".yaml" {
			t.Errorf("%s: name %s, simulated %t, snapshot %s; the profile is %s", name, c.Name, c.Simulated, c.Identity.Snapshot, want)
		}
	}
	// What the demo measures it has from chexstruct-demo, so that both share their records.
	plain := committed(t, "chexstruct-demo")
	if d := cmp.Diff(plain.Dataset, s.Dataset) + cmp.Diff(plain.Masks, s.Masks) + cmp.Diff(plain.Thresholds, s.Thresholds) + cmp.Diff(plain.Tasks, s.Tasks); d != "" {
		t.Errorf("the demos differ in what they measure:\n%s", d)
	}
}

// TestAgentDemoCards holds the same of the demo of the agent.
func TestAgentDemoCards(t *testing.T) {
	s := committed(t, "xragent-demo")
	profile, err := os.ReadFile("xragent-demo/profiles/xragent.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := " of xragent.yaml@" + artifacts.Sum(profile).Hex()[:12]
	cards := []string{s.Agent.Lookup}
	for _, p := range s.Agent.Policies {
		cards = append(cards, p.Card)
	}
	for _, name := range cards {
		data, err := os.ReadFile("xragent-demo/" + name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := ParseModelCard(name, data)
		if err != nil {
			t.Fatal(err)
		}
		if !c.Simulated || c.Identity.Snapshot != c.Name+want || name != "models/"+c.Name+".yaml" {
			t.Errorf("%s: name %s, simulated %t, snapshot %s; the profile is %s", name, c.Name, c.Simulated, c.Identity.Snapshot, want)
		}
	}
}

func TestPaperSpec(t *testing.T) {
	s := committed(t, "cxreasonbench")
	if e := s.Evaluation; len(e.Models) != 10 || len(e.Sampling) != 2 || len(e.Paths) != 2 || s.Benchmark.Counts != "" {
		t.Errorf("%+v, %+v: the paper has ten models, two ways of sampling and three paths", e, s.Benchmark)
	}
	if rules, err := BenchmarkRules(s); err != nil || rules.String() != "as_released" {
		t.Errorf("rules %s, %v", rules, err)
	}
	// The cards are the paper's models and make a plan.
	figures, err := paperFigures()
	if err != nil {
		t.Fatal(err)
	}
	pack := artifacts.Ref{Digest: cxreasonbench.Prompts().Digest(), Size: 1, MediaType: cxreasonbench.PackMediaType}
	pins, titles := Pins{Prompts: pack}, []string{}
	for _, name := range append(slices.Clone(s.Evaluation.Models), s.Evaluation.Judge) {
		path := "cxreasonbench/" + name
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c, err := ParseModelCard(path, data)
		if err != nil {
			t.Fatal(err)
		}
		if pins.Judge = c; name != s.Evaluation.Judge {
			pins.Models, titles = append(pins.Models, *c), append(titles, c.Title)
		}
	}
	if d := cmp.Diff(slices.Sorted(slices.Values(figures.Models())), slices.Sorted(slices.Values(titles))); d != "" {
		t.Errorf("models (- paper, + cards):\n%s", d)
	}
	p, err := Pin(s, pins)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Evaluations(); len(got) != 20 || got[1].Name() != "gemini-2.5-pro/draws3" || got[1].Draws != 3 {
		t.Errorf("%d evaluations, the second is %s", len(got), got[1].Name())
	}
}

func committed(t *testing.T, name string) *Spec {
	t.Helper()
	data, err := os.ReadFile(name + "/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(name+"/spec.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// paperFigures are the published figures; package claims, which reads them for everyone else,
// imports this one.
func paperFigures() (*cxreasonbench.Published, error) {
	data, err := Files.ReadFile("cxreasonbench/claims/tables.json")
	if err != nil {
		return nil, err
	}
	return cxreasonbench.ParsePublished(data)
}
