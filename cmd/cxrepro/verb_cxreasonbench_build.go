package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/dataset"
)

// benchmarkFlags are the flags of `cxreasonbench build`.
type benchmarkFlags struct {
	cases, out, data, run    string
	preset, sample, pictures string
	set, thresholds          []string
	perTask, total, workers  int
	seed                     uint64
}

func newBenchmarkBuildCommand(a *app) *cobra.Command {
	var f benchmarkFlags
	c := &cobra.Command{
		Use:   "build --cases DIR --out DIR, or build --run ID --out DIR",
		Short: "Build the benchmark from measured radiographs, or write that of a reproduction",
		Long: `Measures every case file of a folder, draws cases for each of the twelve tasks, and writes
questions and pictures in the official layout, so that the authors' evaluation programs can
read them: dx_by_dicoms.json, qa/, segmask_bodypart/, pnt_on_cxr/, and the radiographs under
files/. Beside it cxrepro-benchmark.json says how it came about, and cxrepro-items.jsonl holds
every question with letters, meanings and rules.

A case can be asked about where it passed the task's quality control and enough structures of
other tasks are drawn on it. Without --data a radiograph's path is its file name; with it, the
path is that of the data set's tables.

The same cases, seed and preset give the same questions and pictures.

With --run the benchmark of a reproduction is written as it was asked, with its class
of use in cxrepro-dataset.json; the other flags but --out and --workers say nothing then.

Exit codes: 0 ok; 1 failed; 2 usage; 3 done, some case files could not be read or a task has
fewer cases than asked for.`,
		Example: `  cxrepro phantom generate --n 60 --seed 1 --cases --out P
  cxrepro cxreasonbench build --cases P/truth --data P/mimic-cxr-jpg --per-task 10 --out B \
    --threshold global.mask_count.mask_num_min=25
  cxrepro cxreasonbench build --run latest --out B`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.run == "" {
				return a.buildBenchmark(c.Context(), f)
			}
			if err := f.checkRun(c.Flags()); err != nil {
				return err
			}
			return a.exportBenchmark(c.Context(), f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.cases, "cases", "", "folder of case files with their pictures")
	fl.StringVar(&f.run, "run", "", "a reproduction with a benchmark, instead of --cases: its id, at least six digits of it, its experiment's name, or latest")
	fl.StringVar(&f.out, "out", "", "folder to write (new or empty)")
	fl.StringVar(&f.data, "data", "", "folder of the data set that the cases come from, for the radiographs' paths")
	fl.StringVar(&f.preset, "preset", cxreasonbench.Corrected.String(), "reading of the method: as_released, corrected")
	fl.StringArrayVar(&f.set, "set", nil, "set one switch: name=value")
	fl.StringArrayVar(&f.thresholds, "threshold", nil, "override one row of the measurements: row=value (repeatable)")
	fl.StringVar(&f.sample, "sample", cxreasonbench.SampleBalanced.String(), "how cases are drawn: balanced, random")
	fl.StringVar(&f.pictures, "pictures", "", "how pictures are drawn: native, official (default: official for as_released)")
	fl.IntVar(&f.perTask, "per-task", 100, "cases for each task")
	fl.IntVar(&f.total, "total", 0, "cases in all, divided evenly, instead of --per-task")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of every draw")
	fl.IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "cases worked on at a time")
	return c
}

// maskCountRow is how many structures the global filter wants.
const maskCountRow = "global.mask_count.mask_num_min"

// checkRun refuses flags that mean nothing beside --run.
func (f *benchmarkFlags) checkRun(given *pflag.FlagSet) error {
	var wrong error
	given.Visit(func(g *pflag.Flag) {
		switch g.Name {
		case "cases", "data", "preset", "set", "threshold", "sample", "pictures", "per-task", "total", "seed":
			wrong = usageError("drop it; the reproduction's spec says it", "--%s does not go with --run", g.Name)
		}
	})
	switch {
	case wrong != nil:
		return wrong
	case f.out == "":
		return usageError("see `cxrepro cxreasonbench build --help`", "--out DIR is missing")
	case f.workers < 1:
		return usageError("give numbers of 1 or more", "--workers %d", f.workers)
	}
	return f.emptyOut()
}

// emptyOut refuses a folder that holds something.
func (f *benchmarkFlags) emptyOut() error {
	if entries, err := os.ReadDir(f.out); err == nil && len(entries) > 0 {
		return usageError("name a new or an empty folder", "--out %s is not empty", f.out)
	}
	return nil
}

// recipe checks the flags and makes them a recipe.
func (f *benchmarkFlags) recipe() (r cxreasonbench.Recipe, quotas []int, err error) {
	for _, d := range []struct{ name, value string }{{"cases", f.cases}, {"out", f.out}} {
		if d.value == "" {
			return r, nil, usageError("see `cxrepro cxreasonbench build --help`", "--%s DIR is missing", d.name)
		}
	}
	if f.perTask < 1 || f.total < 0 || f.workers < 1 {
		return r, nil, usageError("give numbers of 1 or more", "--per-task %d, --total %d, --workers %d", f.perTask, f.total, f.workers)
	}
	if r.Rules, err = cxreasonbenchRules(f.preset, f.set); err != nil {
		return r, nil, err
	}
	if err := r.Sample.UnmarshalText([]byte(f.sample)); err != nil {
		return r, nil, usageError("--sample balanced or --sample random", "%v", err)
	}
	if f.pictures == "" {
		f.pictures = cxreasonbench.ProfileNative.String()
		if r.Rules.Preset() == cxreasonbench.AsReleased {
			f.pictures = cxreasonbench.ProfileOfficial.String()
		}
	}
	if err := r.Profile.UnmarshalText([]byte(f.pictures)); err != nil {
		return r, nil, usageError("--pictures native or --pictures official", "%v", err)
	}
	r.Seed = f.seed
	quotas = cxreasonbench.Quotas(f.total)
	if f.total == 0 {
		for i := range quotas {
			quotas[i] = f.perTask
		}
	}
	return r, quotas, f.emptyOut()
}

// benchmarkBuild is a benchmark under construction.
type benchmarkBuild struct {
	app     *app
	flags   benchmarkFlags
	recipe  cxreasonbench.Recipe
	measure *chexstruct.Rules
	// paths are the radiographs' official paths by case id, nil without a data set.
	paths map[string]string

	mu    sync.Mutex
	files map[string]string // case id to case file
	bad   int
	// filtered counts the radiographs that the global filter refused.
	filtered int
	// shown are the structure pictures that the questions show, by case id.
	shown map[string]map[string]bool
}

func (a *app) buildBenchmark(ctx context.Context, f benchmarkFlags) error {
	recipe, quotas, err := f.recipe()
	if err != nil {
		return err
	}
	preset := chexstruct.Corrected
	if recipe.Rules.Preset() == cxreasonbench.AsReleased {
		preset = chexstruct.AsReleased
	}
	rules, err := parseRules(preset.String(), f.thresholds)
	if err != nil {
		return err
	}
	b := &benchmarkBuild{app: a, flags: f, recipe: recipe, measure: rules, files: map[string]string{}, shown: map[string]map[string]bool{}}
	if err := b.readPaths(); err != nil {
		return err
	}
	candidates, err := b.candidates(ctx)
	if err != nil {
		return err
	}
	plans, err := cxreasonbench.PlanBenchmark(recipe, candidates, quotas)
	if err != nil {
		return err
	}
	w := &cxreasonbench.LayoutWriter{Write: b.write}
	if err := b.writeQuestions(w, plans); err != nil {
		return err
	}
	if err := b.drawPictures(ctx, plans); err != nil {
		return err
	}
	manifest := cxreasonbench.NewManifest(recipe, cxreasonbench.Prompts(), plans, w.Tally())
	if err := w.Close(manifest); err != nil {
		return err
	}
	return b.tell(manifest, quotas)
}

// readPaths learns the radiographs' paths from the data set's tables.
func (b *benchmarkBuild) readPaths() error {
	if b.flags.data == "" {
		return nil
	}
	m, err := dataset.OpenMIMIC(os.DirFS(b.flags.data), dataset.MIMICOptions{
		Selection: dataset.Selection{Views: []cxr.ViewPosition{cxr.ViewPA, cxr.ViewAP}}, NoChecksums: true})
	if err != nil {
		return fmt.Errorf("build: data set %s: %w", b.flags.data, err)
	}
	b.paths = map[string]string{}
	for row, err := range m.Rows(0, -1) {
		if err != nil {
			return fmt.Errorf("build: data set %s: %w", b.flags.data, err)
		}
		b.paths[row.Source.ID] = strings.TrimPrefix(row.Source.Path, "files/")
	}
	return nil
}

// candidates measures every case file and returns a source for each task it passed.
func (b *benchmarkBuild) candidates(ctx context.Context) ([]cxreasonbench.Source, error) {
	names, err := filepath.Glob(filepath.Join(b.flags.cases, "*.json"))
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(n string) bool {
		return strings.HasSuffix(n, ".truth.json") || filepath.Base(n) == "summary.json"
	})
	if len(names) == 0 {
		return nil, usageError("`cxrepro phantom generate --cases` writes some", "no case files in %s", b.flags.cases)
	}
	var list []cxreasonbench.Source
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(b.flags.workers)
	for _, name := range names {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			sources, err := b.measureCase(name)
			b.mu.Lock()
			defer b.mu.Unlock()
			if err != nil {
				b.bad++
				fmt.Fprintf(b.app.err, "cxrepro: error: %v\n", err)
				return nil
			}
			list = append(list, sources...)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(x, y cxreasonbench.Source) int { return strings.Compare(x.Case, y.Case) })
	return list, nil
}

// measureCase returns a source for each task that a case passed.
func (b *benchmarkBuild) measureCase(name string) ([]cxreasonbench.Source, error) {
	c, result, err := b.load(name)
	if err != nil {
		return nil, err
	}
	if !result.Global.Keep() {
		b.mu.Lock()
		b.filtered++
		b.mu.Unlock()
		return nil, nil
	}
	var passed []cxreasonbench.Task
	for _, f := range result.Findings {
		if f.Status == chexstruct.StatusOK {
			passed = append(passed, f.Task)
		}
	}
	path, known := b.paths[c.ID]
	if !known {
		path = filepath.Base(c.Image)
		if b.paths != nil {
			return nil, fmt.Errorf("case %s: the tables of %s do not name it as a frontal radiograph", c.Name, b.flags.data)
		}
	}
	b.mu.Lock()
	other, twice := b.files[c.ID]
	b.files[c.ID] = name
	b.mu.Unlock()
	if twice {
		return nil, fmt.Errorf("case %s: its id is that of %s, too", name, other)
	}
	var list []cxreasonbench.Source
	for i := range result.Findings {
		f := &result.Findings[i]
		reading, err := cxreasonbench.ReadingOf(c.ID, f)
		if err != nil {
			continue // not measured: no candidate
		}
		list = append(list, cxreasonbench.Source{Task: f.Task, Case: c.ID, Radiograph: path, View: c.Input.View,
			Reading: reading, Label: f.Label, Overlays: cxreasonbench.OverlaysOf(passed)})
	}
	return list, nil
}

// load reads a case with its picture and measures it.
func (b *benchmarkBuild) load(name string) (*chexstruct.Case, *chexstruct.Result, error) {
	c, err := chexstruct.ReadCase(os.DirFS(filepath.Dir(name)), filepath.Base(name))
	if err != nil {
		return nil, nil, err
	}
	if c.Image == "" {
		return nil, nil, fmt.Errorf("case %s: it names no picture", name)
	}
	if c.ID == "" || strings.ContainsAny(c.ID, "/\\") || strings.HasPrefix(c.ID, ".") {
		return nil, nil, fmt.Errorf("case %s: id %q cannot name a file", name, c.ID)
	}
	tasks := append([]cxreasonbench.Task{chexstruct.Global}, chexstruct.Tasks()...)
	result, err := chexstruct.Assess(c.Input, b.measure, tasks)
	if err != nil {
		return nil, nil, fmt.Errorf("case %s: %w", name, err)
	}
	return c, result, nil
}

// writeQuestions writes the question files.
func (b *benchmarkBuild) writeQuestions(w *cxreasonbench.LayoutWriter, plans []cxreasonbench.TaskPlan) error {
	for _, p := range plans {
		for i, s := range p.Cases {
			built, err := cxreasonbench.BuildItems(b.recipe.Rules, b.recipe.Seed, cxreasonbench.Prompts(), s, p.Formats[i])
			if err != nil {
				return err
			}
			for _, it := range built {
				b.shows(it)
			}
			if err := w.Case(p.Task, s.Case, built); err != nil {
				return err
			}
		}
	}
	return nil
}

// shows notes the structure pictures that an item shows.
func (b *benchmarkBuild) shows(it cxreasonbench.Item) {
	if b.shown[it.Case] == nil {
		b.shown[it.Case] = map[string]bool{}
	}
	for _, q := range it.Questions {
		for _, p := range q.Pictures {
			if p.Kind == cxreasonbench.StructurePicture {
				b.shown[it.Case][p.Path] = true
			}
		}
	}
}

// drawPictures draws what the questions of the chosen cases show: structures, and one annotated
// picture for each task that a case was chosen for.
func (b *benchmarkBuild) drawPictures(ctx context.Context, plans []cxreasonbench.TaskPlan) error {
	chosen := map[string][]cxreasonbench.Source{}
	for _, p := range plans {
		for _, s := range p.Cases {
			chosen[s.Case] = append(chosen[s.Case], s)
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(b.flags.workers)
	for _, id := range slices.Sorted(maps.Keys(chosen)) {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return b.drawCase(b.files[id], chosen[id])
		})
	}
	return g.Wait()
}

func (b *benchmarkBuild) drawCase(name string, sources []cxreasonbench.Source) error {
	c, result, err := b.load(name)
	if err != nil {
		return err
	}
	picture, err := os.ReadFile(filepath.Join(filepath.Dir(name), c.Image))
	if err != nil {
		return err
	}
	img, err := cxr.Decode(picture, cxr.Limits{})
	if err != nil {
		return fmt.Errorf("case %s: %w", name, err)
	}
	if err := b.write("files/"+sources[0].Radiograph, picture); err != nil {
		return err
	}
	scene := &cxreasonbench.Scene{Image: img, Masks: c.Input.Masks, NonZero: c.Input.Facts.NonZero,
		CheXmaskRightLung: c.Input.CheXmaskRightLung, Marks: cxreasonbench.MarksOf(result)}
	for _, o := range sources[0].Overlays {
		if !b.shown[c.ID][o.Path(c.ID)] {
			continue
		}
		data, err := scene.DrawStructure(b.recipe.Rules, b.recipe.Profile, o)
		if err != nil {
			return fmt.Errorf("case %s: %w", c.Name, err)
		}
		if err := b.write(cxreasonbench.StructureFolder+o.Path(c.ID), data); err != nil {
			return err
		}
	}
	for _, s := range sources {
		data, err := scene.DrawAnnotated(b.recipe.Profile, s.Task)
		if err != nil {
			return fmt.Errorf("case %s: %w", c.Name, err)
		}
		if err := b.write(cxreasonbench.AnnotatedFolder+"/"+s.Task.String()+"/"+c.ID+".png", data); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file of the benchmark.
func (b *benchmarkBuild) write(name string, data []byte) error {
	return writeBelow(b.flags.out, name, data)
}

// tell prints what was built.
func (b *benchmarkBuild) tell(m cxreasonbench.Manifest, quotas []int) error {
	short := 0
	for i, t := range m.Tasks {
		if t.Cases < quotas[i] {
			short++
		}
	}
	if b.app.JSON() {
		data, err := json.Marshal(m)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.app.out, "%s\n", data)
	} else {
		for _, t := range m.Tasks {
			fmt.Fprintf(b.app.out, "%-30s %3d cases of %3d candidates, %d of the normal class%s\n", t.Task, t.Cases, t.Candidates, t.Normal, leftText(t.Left))
		}
		fmt.Fprintf(b.app.out, "%s: %d question-answer pairs (%d + %d + %d), prompts %d, preset %s, pictures %s\n",
			b.flags.out, m.Pairs, m.Tally.Path1, m.Tally.Path2, m.Tally.RePath1, m.Prompts.Version, m.Rules, m.Profile)
	}
	if b.bad > 0 || short > 0 {
		return &exitError{Code: exitQuarantined, Err: fmt.Errorf("%d case files could not be used; %d radiographs did not pass the global filter; %d tasks have fewer cases than asked for", b.bad, b.filtered, short),
			Hint: "give more cases, or a smaller --per-task; masks of fewer structures than the filter wants need --threshold " + maskCountRow + "=N"}
	}
	return nil
}

func leftText(left map[cxreasonbench.Ineligibility]int) string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(left)) {
		parts = append(parts, fmt.Sprintf("%d %s", left[reason], reason))
	}
	if len(parts) == 0 {
		return ""
	}
	return "; left out: " + strings.Join(parts, ", ")
}
