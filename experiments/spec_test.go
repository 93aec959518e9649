package experiments

import (
	"errors"
	"os"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/anatomy"
)

func demo(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("chexstruct-demo/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCommittedSpecsParse(t *testing.T) {
	for _, name := range []string{"chexstruct-demo/spec.yaml", "chexstruct/spec.yaml", "radiographs/spec.yaml"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(name, data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(s.Tasks) != 13 {
			t.Errorf("%s: %d tasks, want the twelve and xragent", name, len(s.Tasks))
		}
	}
}

// TestExpectedIsThePaper holds the sums that the paper's appendix states: 235,747 images
// stay of 243,334.
func TestExpectedIsThePaper(t *testing.T) {
	data, err := os.ReadFile("chexstruct/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse("chexstruct/spec.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	if s.Expected.Images-s.Expected.Kept != 7587 || len(s.Expected.Tasks) != 12 {
		t.Errorf("removed %d in %d tasks, want 7587 in 12", s.Expected.Images-s.Expected.Kept, len(s.Expected.Tasks))
	}
}

func TestBadSpecs(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown field", "preset: corrected", "preset: corrected\nprset: x", `demo.yaml:6: unknown field "prset"; known fields: agent, benchmark, dataset, evaluation, expected, masks, name, paper, preset, switches, tasks, thresholds`},
		{"unknown nested", "  split: all", "  split: all\n  splt: all", `demo.yaml:28: dataset: unknown field "splt"; known fields: boxes,`},
		{"wrong type", "views: [PA, AP]", "views: PA", `demo.yaml:26: dataset.views: want a list, got the text "PA"`},
		{"number for text", "name: phantom", "name: 12", `demo.yaml:24: dataset.name: want a text, got the number 12`},
		{"text for number", "max_bytes: 67108864", "max_bytes: big", `dataset.limits.max_bytes: want a whole number, got the text "big"`},
		{"missing number", ", max_pixels: 36000000", "", "dataset.limits.max_pixels: is missing; every spec states it"},
		{"missing section", "masks:\n  source: onnx\n  card: ../models/phantomseg.yaml\n  provider: cpu\n", "", "masks: is missing"},
		{"threshold of the wrong type", "mask_num_min: 25", "mask_num_min: many", `demo.yaml:8: thresholds.global.mask_count.mask_num_min: threshold global.mask_count.mask_num_min: want `},
		{"unknown row", "mask_num_min: 25", "mask_num: 25", `demo.yaml:8: thresholds.global.mask_count.mask_num: no threshold or switch is called "global.mask_count.mask_num"; nearest: global.mask_count.mask_num_min`},
		{"unknown task", "  - rotation", "  - rotaton", `tasks[2]: no task is called "rotaton"`},
		{"twice", "  - rotation", "  - inclusion", `tasks[2]: "inclusion" stands twice`},
		{"preset", "preset: corrected", "preset: fixed", `demo.yaml:5: preset: no preset is called "fixed"`},
		{"class", "data_use: synthetic", "data_use: free", `dataset.data_use: data-use class "free" is not one of`},
		{"view", "views: [PA, AP]", "views: [PA, XX]", `demo.yaml:26: dataset.views[1]: "XX" is not one of`},
		{"provider", "provider: cpu", "provider: tpu", `masks.provider: "tpu" is not one of cpu, cuda`},
		{"not yaml", "preset: corrected", "preset: [", "demo.yaml:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := string(demo(t))
			if !strings.Contains(text, c.old) {
				t.Fatalf("the demo spec lacks %q", c.old)
			}
			_, err := Parse("demo.yaml", []byte(strings.Replace(text, c.old, c.new, 1)))
			var se *SpecError
			if !errors.As(err, &se) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant it to contain %s", err, c.want)
			}
		})
	}
}

func TestEveryProblemIsReported(t *testing.T) {
	text := strings.Replace(string(demo(t)), "split: all", "split: all\n  one: 1\n  two: 2", 1)
	_, err := Parse("demo.yaml", []byte(text))
	var se *SpecError
	if !errors.As(err, &se) || len(se.Problems) != 2 {
		t.Errorf("got %v, want two problems", err)
	}
}

func TestSet(t *testing.T) {
	plan := func(sets ...string) string {
		t.Helper()
		s, err := Parse("demo.yaml", demo(t), sets...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPlan(s, &Model{Name: "m"})
		if err != nil {
			t.Fatal(err)
		}
		d, err := p.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d.String()
	}
	base := plan()
	same := []string{
		"thresholds.global.mask_count.mask_num_min=25.0", "dataset.views=[AP, PA]", "masks.card=elsewhere/card.yaml",
		"tasks=[xragent, inclusion, inspiration, rotation, projection, cardiomegaly, mediastinal_widening, carina_angle, trachea_deviation, aortic_knob_enlargement, ascending_aorta_enlargement, descending_aorta_tortuous, descending_aorta_enlargement]",
	}
	for _, set := range same {
		if plan(set) != base {
			t.Errorf("--set %s changed the experiment; it says the same", set)
		}
	}
	for _, set := range []string{
		"thresholds.cardiomegaly.label.PA_min=0.55", "preset=as_released", "dataset.views=[PA]", "dataset.split=test",
		"dataset.sampling={limit: 10, order: hash}", "dataset.sampling.limit=3", "masks.provider=cuda", "dataset.limits.max_pixels=1000000",
	} {
		if set == "dataset.sampling.limit=3" {
			if _, err := Parse("demo.yaml", demo(t), set); err == nil {
				t.Errorf("--set %s: sampling without an order was accepted", set)
			}
			continue
		}
		if plan(set) == base {
			t.Errorf("--set %s changed nothing", set)
		}
	}
}

func TestSetTakesOptionalFieldsOut(t *testing.T) {
	s, err := Parse("demo.yaml", demo(t), "dataset.lungs=none", "dataset.lungs_min_dice=null", "dataset.sampling={limit: 1, order: table}", "dataset.sampling=null")
	if err != nil {
		t.Fatal(err)
	}
	if s.Dataset.LungsMinDice != nil || s.Dataset.Sampling != nil {
		t.Errorf("%+v: want neither a limit of quality nor a sampling", s.Dataset)
	}
}

func TestBadSets(t *testing.T) {
	for set, want := range map[string]string{
		"preset":                       "want path=value",
		"dataset.nam=x":                `unknown field "nam" in dataset; known fields:`,
		"dataset.views=PA":             `want a list, got the text "PA"`,
		"thresholds.no.such.row=1":     `no threshold or switch is called "no.such.row"`,
		"thresholds.rotation.label.x=": "has no value",
		"name.first=x":                 `name has no field "first"`,
		"dataset.limits=null":          `want fields (max_bytes, max_pixels), got nothing`,
		"dataset.limits.max_bytes=-1":  "want a positive number",
		"thresholds.projection.label.overlap_split=[1,2]": "want ",
	} {
		_, err := Parse("demo.yaml", demo(t), set)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--set "+set) {
			t.Errorf("--set %s: got %v, want it to name the argument and to contain %q", set, err, want)
		}
	}
}

// TestPlanDigestIsPinned fails when the encoding of a plan changes: then every
// reproduction id changes, and planFormat must be raised.
func TestPlanDigestIsPinned(t *testing.T) {
	s, err := Parse("demo.yaml", demo(t))
	if err != nil {
		t.Fatal(err)
	}
	s.Thresholds, s.Tasks, s.Paper = map[string]any{"cardiomegaly.label.PA_min": 0.55}, []string{"cardiomegaly"}, "p"
	ref := func(text string) artifacts.Ref {
		return artifacts.Ref{Digest: artifacts.Sum([]byte(text)), Size: 1, MediaType: "x"}
	}
	p, err := NewPlan(s, &Model{Name: "m", Card: ref("card"), Weights: ref("weights")})
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Digest()
	if err != nil {
		t.Fatal(err)
	}
	const pinned = "sha256:1535b38a65e4566a26611926e0e3aebc7e77e4129a126ea84a1a2a6e0411cc58"
	if d.String() != pinned {
		t.Errorf("plan digest is %s, pinned %s", d, pinned)
	}
}

func TestCheckMasks(t *testing.T) {
	s, err := Parse("demo.yaml", demo(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckMasks(s, anatomy.TaskSet()); err != nil {
		t.Errorf("with an override: %v", err)
	}
	s.Thresholds = nil
	if err := CheckMasks(s, anatomy.AllSet()); err != nil {
		t.Errorf("a source of all structures: %v", err)
	}
	if err := CheckMasks(s, anatomy.TaskSet()); err == nil || !strings.Contains(err.Error(), "global.mask_count.mask_num_min") {
		t.Errorf("got %v, want the row named", err)
	}
}
