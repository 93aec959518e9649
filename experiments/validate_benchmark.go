package experiments

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxreasonbench"
)

// builtOnly are the fields that say how findings are made; a released benchmark has none.
var builtOnly = []string{"tasks", "masks", "dataset.views", "dataset.split", "dataset.boxes", "dataset.lungs", "dataset.limits"}

func (s *Spec) released() bool { return s.Benchmark != nil && s.Benchmark.Source == SourceRelease }

// written reports whether a field, or one below it, was given.
func (v *validation) written(field string) bool {
	for path := range v.Origin {
		if path == field || strings.HasPrefix(path, field+".") {
			return true
		}
	}
	return false
}

// stated reports fields that are missing.
func (v *validation) stated(fields ...string) bool {
	ok := true
	for _, f := range fields {
		if !v.written(f) {
			v.Add(f, "is missing; every spec states it")
			ok = false
		}
	}
	return ok
}

// absent reports fields that do not go with something else.
func (v *validation) absent(because string, fields ...string) {
	for _, f := range fields {
		if v.written(f) {
			v.Add(f, "does not go with %s", because)
		}
	}
}

// release checks what is left of data set and measurement where a benchmark is only read.
func (v *validation) release(s *Spec) {
	d := &s.Dataset
	v.root("dataset.name", d.Name)
	v.dataUse(d)
	v.oneOf("dataset.layout", d.Layout, LayoutCXRB)
	v.absent("benchmark.source release: nothing is measured", append(slices.Clone(builtOnly),
		"dataset.sampling", "dataset.lungs_min_dice", "thresholds", "expected")...)
}

// BenchmarkRules returns the rules of benchmark, dialogue, judge and scores under the spec's
// preset and switches.
//
// Errors: a preset that is of CheXStruct alone, an unknown switch or value.
func BenchmarkRules(s *Spec) (cxreasonbench.Rules, error) {
	p, ok := cxreasonbench.ParsePreset(s.Preset)
	if !ok {
		if _, measures := chexstruct.ParsePreset(s.Preset); measures {
			return cxreasonbench.Rules{}, fmt.Errorf("preset %s is a reading of the measurements alone; a benchmark has the presets %v", s.Preset, cxreasonbench.Presets())
		}
		return cxreasonbench.Rules{}, fmt.Errorf("no preset is called %q; a benchmark has the presets %v", s.Preset, cxreasonbench.Presets())
	}
	return cxreasonbench.NewRules(p, s.Switches)
}

// SwitchesOf is rules as Spec.Switches: what differs from the preset; nil for nothing.
func SwitchesOf(rules cxreasonbench.Rules) map[string]string {
	var out map[string]string
	for _, o := range rules.Overrides() {
		name, value, _ := strings.Cut(o, "=")
		if out == nil {
			out = map[string]string{}
		}
		out[name] = value
	}
	return out
}

// BenchmarkRecipe returns everything beside the findings that decides what a built benchmark
// asks, with the number of cases of each task in the order of the tables.
//
// Errors: those of [BenchmarkRules]; a spec that builds none.
func BenchmarkRecipe(s *Spec) (r cxreasonbench.Recipe, quotas []int, err error) {
	b := s.Benchmark
	if b == nil || b.Source != SourceBuild {
		return r, nil, fmt.Errorf("spec %s builds no benchmark", s.Name)
	}
	if r.Rules, err = BenchmarkRules(s); err != nil {
		return r, nil, err
	}
	if err = r.Sample.UnmarshalText([]byte(b.Sample)); err != nil {
		return r, nil, err
	}
	if err = r.Profile.UnmarshalText([]byte(b.Pictures)); err != nil {
		return r, nil, err
	}
	r.Seed = b.Seed
	return r, cxreasonbench.Quotas(b.Cases), nil
}

// benchmark checks the benchmark section with the switches, and brings the switches into normal
// form: those that say what the preset says anyway are left out.
func (v *validation) benchmark(s *Spec) {
	b := s.Benchmark
	if b == nil {
		v.absent("an experiment without benchmark", "switches")
		return
	}
	if rules, err := BenchmarkRules(s); err != nil {
		var name string
		var unknown *cxreasonbench.SwitchError
		if errors.As(err, &unknown) {
			name = "switches." + unknown.Name
		} else {
			name = "preset"
		}
		v.Add(name, "%v", err)
	} else {
		s.Switches = SwitchesOf(rules)
	}
	v.oneOf("benchmark.source", b.Source, SourceBuild, SourceRelease)
	switch b.Source {
	case SourceBuild:
		v.built(s, b)
	case SourceRelease:
		v.root("benchmark.radiographs", b.Radiographs)
		if b.Counts != "" {
			v.oneOf("benchmark.counts", b.Counts, CountsAny)
		}
		v.absent("benchmark.source release: the questions are there", "benchmark.cases", "benchmark.sample", "benchmark.pictures", "benchmark.seed")
	}
}

// built checks a benchmark that is built from the experiment's findings.
func (v *validation) built(s *Spec, b *Benchmark) {
	v.stated("benchmark.cases", "benchmark.sample", "benchmark.pictures", "benchmark.seed")
	if n := len(cxreasonbench.Tasks()); v.written("benchmark.cases") && b.Cases < n {
		v.Add("benchmark.cases", "%d cases; want at least %d, one for each task", b.Cases, n)
	}
	var mode cxreasonbench.SampleMode
	if err := mode.UnmarshalText([]byte(b.Sample)); b.Sample != "" && err != nil {
		v.oneOf("benchmark.sample", b.Sample, cxreasonbench.SampleBalanced.String(), cxreasonbench.SampleRandom.String())
	}
	var profile cxreasonbench.Profile
	if err := profile.UnmarshalText([]byte(b.Pictures)); b.Pictures != "" && err != nil {
		v.oneOf("benchmark.pictures", b.Pictures, cxreasonbench.ProfileNative.String(), cxreasonbench.ProfileOfficial.String())
	}
	v.absent("benchmark.source build", "benchmark.radiographs", "benchmark.counts")
	for _, t := range cxreasonbench.Tasks() {
		if !slices.Contains(s.Tasks, t.String()) {
			v.Add("tasks", "%s is missing; a benchmark asks about all twelve tasks, and the wrong options of one are structures of the others", t)
		}
	}
	if s.Preset == cxreasonbench.AsReleased.String() && b.Cases > len(cxreasonbench.Tasks())*100 && s.Switches[string(cxreasonbench.BuildDeal)] != cxreasonbench.ByQuota {
		v.Add("benchmark.cases", "%d cases are more than 100 a task, for which the released rule has formats; set switches.%s: %s", b.Cases, cxreasonbench.BuildDeal, cxreasonbench.ByQuota)
	}
}

// maxBootstrap bounds the resamples of the intervals.
const maxBootstrap = 1_000_000

// evaluation checks the evaluation section and puts its lists into their own order.
func (v *validation) evaluation(s *Spec) {
	e := s.Evaluation
	if e == nil {
		return
	}
	if s.Benchmark == nil {
		v.Add("evaluation", "needs a benchmark section; it says which questions are asked")
	}
	for i, m := range e.Models {
		field := fmt.Sprintf("evaluation.models[%d]", i)
		if m == "" {
			v.Add(field, "is empty; name a model card")
		}
		if slices.Contains(e.Models[:i], m) {
			v.Add(field, "%q stands twice", m)
		}
	}
	if len(e.Models) == 0 {
		v.Add("evaluation.models", "want at least one model card")
	}
	v.oneOf("evaluation.scoring", e.Scoring, ScoringJudge, ScoringParser)
	switch {
	case e.Scoring == ScoringJudge && e.Judge == "":
		v.Add("evaluation.judge", "is missing; scoring judge needs the judge's model card")
	case e.Scoring == ScoringParser && e.Judge != "":
		v.Add("evaluation.judge", "does not go with scoring parser, which asks no judge")
	}
	v.choose("evaluation.sampling", e.Sampling, Greedy, Draws3)
	v.choose("evaluation.paths", e.Paths, cxreasonbench.Path1.String(), cxreasonbench.Path2.String())
	if len(e.Paths) > 0 && !slices.Contains(e.Paths, cxreasonbench.Path1.String()) {
		v.Add("evaluation.paths", "path2 goes on from path1; want [path1] or [path1, path2]")
	}
	if e.Bootstrap < 1 || e.Bootstrap > maxBootstrap {
		v.Add("evaluation.bootstrap", "want 1 to %d resamples, got %d", maxBootstrap, e.Bootstrap)
	}
	v.retry("evaluation.retry", e.Retry, true)
}

// choose checks a list of words, each at most once, and sorts it in the order of allowed.
func (v *validation) choose(field string, got []string, allowed ...string) {
	for i, g := range got {
		at := fmt.Sprintf("%s[%d]", field, i)
		v.oneOf(at, g, allowed...)
		if slices.Contains(got[:i], g) {
			v.Add(at, "%q stands twice", g)
		}
	}
	if len(got) == 0 {
		v.Add(field, "want at least one of %s", strings.Join(allowed, ", "))
	}
	slices.SortFunc(got, func(a, b string) int { return slices.Index(allowed, a) - slices.Index(allowed, b) })
}
