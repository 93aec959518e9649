package contract

import (
	"reflect"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
	"cxrepro/internal/cxreasonbench"
)

func sum(text string) artifacts.Digest { return artifacts.Sum([]byte(text)) }

var decoding = Decoding{Version: 1, MaxBytes: 1000, MaxPixels: 2000}

func inference() Inference {
	return Inference{Model: sum("model"), Settings: sum("settings"), Provider: "cpu", Preprocessing: "segment-1/nearest", Decoder: 1}
}

// TestPinnedKeys fails when the key of a step changes for equal inputs. Then every record of
// that step is lost to look-ups: raise the step's version instead, and pin the new key.
func TestPinnedKeys(t *testing.T) {
	for name, c := range map[string]struct {
		doc    artifacts.KeyDoc
		pinned string
	}{
		"pixel-facts":     {PixelFactsKey(sum("image"), decoding), "pixel-facts/sha256:1a64c7b3e4279164c4e3eac09b0ab65a83ca35e41ff1c4eacad7c66c0b2cd3a3"},
		"segment":         {SegmentKey(sum("image"), inference()), "segment/sha256:a08a668068befbbd221946cab8a40df348032cb4b30a899000f040a387175774"},
		"import-masks":    {ImportMasksKey(sum("masks"), "case", 512, 512), "import-masks/sha256:c878b177d597b3e661322fbca1fbe584202d07fe3da9e1e7bb7627f494b8b31d"},
		"assess":          {AssessKey(sum("window"), "cardiomegaly", map[string]any{"cardiomegaly.label.PA_min": 0.5, "b": []any{1, 2.5}}), "assess/sha256:395cd1f657d9f238472c6bc977fed2971d95c3f65219f14c4472af53178b4de0"},
		"summarise":       {SummariseKey(sum("results"), map[string]any{"name": "x"}, sum("expected")), "summarise/sha256:e008cb781c065d67a6b5f481faf09d501189fb0e218494c3a9e7f35098b2471d"},
		"measure-picture": {MeasureKey(sum("image"), measuring()), "measure-picture/sha256:3c09e6ee56786d53b5010426b823570d2f92f65fafd344eeec607323cef55d8b"},
		"tool":            {ToolKey("roi_crop", 1, map[string]any{"box": []int{0, 0, 500, 1000}}, sum("image"), artifacts.Digest{}), "tool/sha256:7e0ee35742f5a020ddc49aac0642baa36a8fa93d4c4e3441bd4296970d9074bd"},
		"tabulate-agent":  {TabulateAgentKey(sum("questions"), []artifacts.Digest{sum("set")}, map[string]any{"name": "x"}), "tabulate-agent/sha256:ea88333bc1d12155584d110479f8c1f969dc4f91bbb8bfeee09242e9101d88e0"},
		"reproduction":    {ReproductionKey(sum("plan"), sum("manifest")), "reproduction/sha256:d71bda31f30e1e7921a365ef389c51059fb37ada9b0976cff81e96315b930597"},
	} {
		key, err := c.doc.Key()
		if err != nil {
			t.Fatal(err)
		}
		if key.String() != c.pinned {
			t.Errorf("%s: key is\n%s, pinned\n%s", name, key, c.pinned)
		}
	}
}

func TestPinnedIDs(t *testing.T) {
	for got, want := range map[string]string{
		SpecID(sum("plan")):                           "64879f7d6b960a01",
		IngestID(sum("plan"), sum("rows")):            "i-18913e7eccb3e13c",
		ReproductionID(sum("plan"), sum("manifest")):  "d19fcd2f89d6cd7d",
		StageWorkflowID("abc", StageSegment, 3):       "cxrepro/abc/segment/3",
		ReproductionOf("cxrepro/abc/segment/3"):       "abc",
		ReproductionOf("cxrepro/launch/abc/ingest"):   "",
		ReproductionOf(ReproductionWorkflowID("def")): "def",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestAnyFieldChangesTheKey changes every field of what a key is made of, one at a time.
func TestAnyFieldChangesTheKey(t *testing.T) {
	key := func(d artifacts.KeyDoc) artifacts.Key {
		t.Helper()
		k, err := d.Key()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	differ := func(what string, a, b artifacts.KeyDoc) {
		t.Helper()
		if key(a) == key(b) {
			t.Errorf("another %s gives the same key", what)
		}
	}
	for name, other := range variants(t, inference()) {
		differ("inference "+name, SegmentKey(sum("image"), inference()), SegmentKey(sum("image"), other))
	}
	for name, other := range variants(t, decoding) {
		differ("decoding "+name, PixelFactsKey(sum("image"), decoding), PixelFactsKey(sum("image"), other))
	}
	differ("image", SegmentKey(sum("image"), inference()), SegmentKey(sum("other"), inference()))
	differ("image", PixelFactsKey(sum("image"), decoding), PixelFactsKey(sum("other"), decoding))
	masks := ImportMasksKey(sum("masks"), "case", 5, 6)
	differ("mask file", masks, ImportMasksKey(sum("other"), "case", 5, 6))
	differ("kind", masks, ImportMasksKey(sum("masks"), "json", 5, 6))
	differ("width", masks, ImportMasksKey(sum("masks"), "case", 6, 6))
	differ("height", masks, ImportMasksKey(sum("masks"), "case", 5, 5))
	rows := map[string]any{"a": 1.0}
	assess := AssessKey(sum("window"), "rotation", rows)
	differ("window", assess, AssessKey(sum("other"), "rotation", rows))
	differ("task", assess, AssessKey(sum("window"), "projection", rows))
	differ("row", assess, AssessKey(sum("window"), "rotation", map[string]any{"a": 1.5}))
	differ("row name", assess, AssessKey(sum("window"), "rotation", map[string]any{"b": 1.0}))
	title := map[string]any{"name": "x"}
	tables := SummariseKey(sum("results"), title, sum("expected"))
	differ("results", tables, SummariseKey(sum("other"), title, sum("expected")))
	differ("title", tables, SummariseKey(sum("results"), map[string]any{"name": "y"}, sum("expected")))
	differ("expected", tables, SummariseKey(sum("results"), title, artifacts.Digest{}))
}

// variants returns copies of v with one field changed each.
func variants[T any](t *testing.T, v T) map[string]T {
	t.Helper()
	out := map[string]T{}
	for i := range reflect.TypeFor[T]().NumField() {
		other := v
		f := reflect.ValueOf(&other).Elem().Field(i)
		switch f.Kind() {
		case reflect.String:
			f.SetString(f.String() + "x")
		case reflect.Int, reflect.Int64:
			f.SetInt(f.Int() + 1)
		case reflect.Array:
			f.Index(0).SetUint(f.Index(0).Uint() + 1)
		default:
			t.Fatalf("field %s of kind %s: teach this test", reflect.TypeFor[T]().Field(i).Name, f.Kind())
		}
		out[reflect.TypeFor[T]().Field(i).Name] = other
	}
	return out
}

// TestRowsEnterTheTasksThatReadThem holds the list of shared rows: a threshold enters
// exactly the keys of the tasks that read it.
func TestRowsEnterTheTasksThatReadThem(t *testing.T) {
	touched := func(row string, value any) []string {
		t.Helper()
		base, err := chexstruct.NewRules(chexstruct.Corrected, nil)
		if err != nil {
			t.Fatal(err)
		}
		other, err := chexstruct.NewRules(chexstruct.Corrected, map[string]any{row: value})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, task := range chexstruct.Sections() {
			a, errA := AssessKey(sum("window"), task.String(), base.KeyParams(task)).Key()
			b, errB := AssessKey(sum("window"), task.String(), other.KeyParams(task)).Key()
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if a != b {
				out = append(out, task.String())
			}
		}
		return out
	}
	for row, c := range map[string]struct {
		value any
		want  []string
	}{
		"trachea.height.min":              {0.2, []string{"trachea_deviation", "aortic_knob_enlargement", "ascending_aorta_enlargement", "descending_aorta_enlargement"}},
		"inclusion.apex_y_diff.max":       {0.06, []string{"inclusion", "cardiomegaly", "mediastinal_widening", "ascending_aorta_enlargement"}},
		"cardiomegaly.heart_box.iou_high": {0.7, []string{"cardiomegaly", "ascending_aorta_enlargement"}},
		"cardiomegaly.label.PA_min":       {0.55, []string{"cardiomegaly"}},
		"descending_aorta.height.min":     {0.3, []string{"descending_aorta_tortuous", "descending_aorta_enlargement"}},
		"global.mask_count.mask_num_min":  {25, []string{"global"}},
		"rotation.clavicle_x.range":       {[]any{0.7, 2.0}, []string{"rotation"}},
		"xragent.ctr.enlarged_min":        {0.51, []string{"xragent"}},
	} {
		got := touched(row, c.value)
		if !sameSet(got, c.want) {
			t.Errorf("%s enters the keys of %v, want %v", row, got, c.want)
		}
	}
}

func sameSet(a, b []string) bool {
	in := map[string]int{}
	for _, s := range a {
		in[s]++
	}
	for _, s := range b {
		in[s]--
	}
	for _, n := range in {
		if n != 0 {
			return false
		}
	}
	return true
}

func TestCounts(t *testing.T) {
	var c []Count
	for _, name := range []string{"b", "a", "b", "c", "a"} {
		c = AddCount(c, name, 1)
	}
	c = AddCounts(c, []Count{{"a", 2}, {"d", 0}})
	if want := []Count{{"a", 4}, {"b", 2}, {"c", 1}}; !reflect.DeepEqual(c, want) {
		t.Errorf("got %v, want %v", c, want)
	}
	var s []StepCount
	s = AddStep(s, StepCount{Step: "y", Needed: 1, Run: 1, Repeated: 1, Causes: []Count{{"expired", 1}}, Bytes: 5, Busy: 1})
	s = AddSteps(s, []StepCount{{Step: "x", Needed: 2, Reused: 2}, {Step: "y", Needed: 3, Run: 2, Reused: 1, Repeated: 2, Causes: []Count{{"expired", 2}}, Bytes: 1}})
	want := []StepCount{{Step: "x", Needed: 2, Reused: 2}, {Step: "y", Needed: 4, Run: 3, Reused: 1, Repeated: 3, Causes: []Count{{"expired", 3}}, Bytes: 6, Busy: 1}}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got %v\nwant %v", s, want)
	}
}

func TestReceiptChecks(t *testing.T) {
	good := Receipt{
		Images: ReceiptImages{In: 10, Kept: 7, Filtered: []Count{{"view", 2}}, Quarantined: []Count{{"truncated", 1}}, GlobalKept: 6, GlobalRemoved: 1},
		Steps:  ReceiptSteps{Needed: 5, Run: 3, Reused: 2},
	}
	if wrong := good.Check(); wrong != nil {
		t.Errorf("a good receipt: %v", wrong)
	}
	for name, spoil := range map[string]func(*Receipt){
		"a lost image":        func(r *Receipt) { r.Images.In++ },
		"a step of nowhere":   func(r *Receipt) { r.Steps.Run++ },
		"a filter that leaks": func(r *Receipt) { r.Images.GlobalKept-- },
	} {
		bad := good
		spoil(&bad)
		if len(bad.Check()) != 1 {
			t.Errorf("%s: %v, want one complaint", name, bad.Check())
		}
	}
}

// TestBenchmarkKeys pins the keys of a benchmark's steps and holds what changes that of a case:
// everything that its questions and pictures are made from, but not the label, which only the
// draw reads, and no switch of the dialogue.
func TestBenchmarkKeys(t *testing.T) {
	rules := func(overrides map[string]string) cxreasonbench.Rules {
		r, err := cxreasonbench.NewRules(cxreasonbench.Corrected, overrides)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	recipe := cxreasonbench.Recipe{Rules: rules(nil), Sample: cxreasonbench.SampleBalanced, Profile: cxreasonbench.ProfileNative, Seed: 1}
	drawn := func() *DrawnCase {
		return &DrawnCase{
			Source: cxreasonbench.Source{Task: chexstruct.Cardiomegaly, Case: "c", Radiograph: "p/c.jpg", View: cxr.ViewPA,
				Reading: cxreasonbench.Reading{Number: 0.5}, Label: chexstruct.LabelNormal,
				Overlays: []cxreasonbench.Overlay{{Task: chexstruct.Cardiomegaly, Structure: "heart"}}},
			Formats: cxreasonbench.CaseFormats{Path1: cxreasonbench.Formats{Criteria: cxreasonbench.FormatBasic, Structures: cxreasonbench.FormatBasic},
				RePath1: cxreasonbench.Formats{Criteria: cxreasonbench.FormatTwoRound, Structures: cxreasonbench.FormatPartial}},
			Entry: Entry{Image: sum("image"), Facts: artifacts.Ref{Digest: sum("facts")}, ID: "c", Case: 7},
			Masks: artifacts.Ref{Digest: sum("masks")},
		}
	}
	build := func(c *DrawnCase, r cxreasonbench.Recipe) string {
		t.Helper()
		key, err := BuildCaseKey(c, r, sum("prompts"), map[string]any{"cardiomegaly.label.PA_min": 0.5}).Key()
		if err != nil {
			t.Fatal(err)
		}
		return key.String()
	}
	base := build(drawn(), recipe)
	for name, change := range map[string]func(*DrawnCase, *cxreasonbench.Recipe){
		"reading":  func(c *DrawnCase, _ *cxreasonbench.Recipe) { c.Source.Reading.Number = 0.51 },
		"view":     func(c *DrawnCase, _ *cxreasonbench.Recipe) { c.Source.View = cxr.ViewAP },
		"overlays": func(c *DrawnCase, _ *cxreasonbench.Recipe) { c.Source.Overlays = nil },
		"path":     func(c *DrawnCase, _ *cxreasonbench.Recipe) { c.Source.Radiograph = "q/c.jpg" },
		"formats":  func(c *DrawnCase, _ *cxreasonbench.Recipe) { c.Formats.Path1.Criteria = cxreasonbench.FormatTwoRound },
		"image":    func(c *DrawnCase, _ *cxreasonbench.Recipe) { c.Entry.Image = sum("other") },
		"masks":    func(c *DrawnCase, _ *cxreasonbench.Recipe) { c.Masks.Digest = sum("other") },
		"facts":    func(c *DrawnCase, _ *cxreasonbench.Recipe) { c.Entry.Facts.Digest = sum("other") },
		"lung":     func(c *DrawnCase, _ *cxreasonbench.Recipe) { c.Entry.Lung.Digest = sum("lung") },
		"boxes":    func(c *DrawnCase, _ *cxreasonbench.Recipe) { c.Entry.Boxes = map[string][4]int{"b": {1, 2, 3, 4}} },
		"seed":     func(_ *DrawnCase, r *cxreasonbench.Recipe) { r.Seed = 2 },
		"profile":  func(_ *DrawnCase, r *cxreasonbench.Recipe) { r.Profile = cxreasonbench.ProfileOfficial },
		"build rule": func(_ *DrawnCase, r *cxreasonbench.Recipe) {
			r.Rules = rules(map[string]string{"build.rib_options": "number"})
		},
	} {
		c, r := drawn(), recipe
		change(c, &r)
		if build(c, r) == base {
			t.Errorf("another %s gives the same key", name)
		}
	}
	c, r := drawn(), recipe
	c.Source.Label, c.Entry.Case, r.Sample = chexstruct.LabelEnlarged, 8, cxreasonbench.SampleRandom
	r.Rules = rules(map[string]string{"dialogue.review_rounds": "ask_all", "judge.verdict": "substring"})
	if build(c, r) != base {
		t.Error("label, number, draw or a rule of the dialogue change the key of a case")
	}
	for pinned, doc := range map[string]artifacts.KeyDoc{
		"build-case/sha256:a05de6176d3eef8d39544c13b2c14b19e4f415e0a25f36c7d1148c246d8b5083":  BuildCaseKey(drawn(), recipe, sum("prompts"), map[string]any{"cardiomegaly.label.PA_min": 0.5}),
		"draw-cases/sha256:782706a4ab663f8944b602d769e53a5838c7d89f4c309c4ba39f204ff5d17099":  DrawCasesKey(sum("manifest"), sum("rows"), recipe, []int{1, 2}),
		"import-case/sha256:9872b7c9e4c8b44574b80af5d50f372fec76272f4245392371d67a722c2e38f0": ImportCaseKey(chexstruct.Rotation, "c", sum("questions"), sum("learned"), map[string]artifacts.Digest{"p.png": sum("p")}),
	} {
		if key, err := doc.Key(); err != nil || key.String() != pinned {
			t.Errorf("key is\n%s, pinned\n%s (%v)", key, pinned, err)
		}
	}
}

func measuring() Measuring {
	return Measuring{View: inference(), Segmentation: inference(), Calibration: sum("limits"), Profile: "calibrated", AdmitAP: true, Rules: "corrected", Gate: 1}
}

// TestMeasuringChangesTheKey: whatever a measurement depends on is in its key.
func TestMeasuringChangesTheKey(t *testing.T) {
	key := func(m Measuring) string {
		k, err := MeasureKey(sum("image"), m).Key()
		if err != nil {
			t.Fatal(err)
		}
		return k.String()
	}
	seen := map[string]int{key(measuring()): -1}
	for i, change := range []func(m *Measuring){
		func(m *Measuring) { m.View.Model = sum("other") },
		func(m *Measuring) { m.View.Preprocessing = "other" },
		func(m *Measuring) { m.Segmentation.Settings = sum("other") },
		func(m *Measuring) { m.Segmentation.Provider = "cuda" },
		func(m *Measuring) { m.Calibration = sum("other") },
		func(m *Measuring) { m.Profile = "table" },
		func(m *Measuring) { m.AdmitAP = false },
		func(m *Measuring) { m.Rules = "corrected, x=1" },
		func(m *Measuring) { m.Gate = 2 },
	} {
		m := measuring()
		change(&m)
		if j, there := seen[key(m)]; there {
			t.Errorf("changes %d and %d share a key", i, j)
		}
		seen[key(m)] = i
	}
	a, _ := ToolKey("region_parse", 1, map[string]any{"target": "heart"}, sum("image"), sum("masks")).Key()
	b, _ := ToolKey("region_parse", 1, map[string]any{"target": "heart"}, sum("image"), sum("other")).Key()
	if a == b {
		t.Error("other masks give the same observation")
	}
}
