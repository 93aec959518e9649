package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cxrepro/internal/chexstruct"
)

func newChexstructCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "chexstruct",
		Short: "Measure chest anatomy the way CheXStruct does",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usageError("see `"+c.CommandPath()+" --help`", "chexstruct needs a subcommand: assess, export, review, thresholds")
		},
	}
	c.AddCommand(newAssessCommand(a), newChexstructExportCommand(a), newReviewCommand(a), newThresholdsCommand(a))
	return c
}

// assessOptions are the flags of chexstruct assess.
type assessOptions struct {
	masks  caseFiles
	image  string
	tasks  []string
	preset string
	set    []string
}

func newAssessCommand(a *app) *cobra.Command {
	var o assessOptions
	c := &cobra.Command{
		Use:   "assess --masks CASE.json... [--image FILE] [--task TASK]...",
		Short: "Measure, check and label the cases of mask files",
		Long: `Measures every case file (format chexstruct-case-1) for the diagnostic tasks, the global
filter and the X-Ragent measurements. A picture that a case names is read from beside it.

With --json one compact line per case, in order: case, global, tasks, xragent.

Exit codes: 0 every case was assessed, also where quality control fails; 1 a case could
not be read (the others are printed); 2 usage.`,
		Example: `  cxrepro chexstruct assess --masks case_01.json case_02.json --json
  cxrepro chexstruct assess --masks case_01.json --task carina_angle --set carina_angle.angle_std.max=15`,
		RunE: func(c *cobra.Command, args []string) error { return runAssess(c.Context(), a, &o, args) },
	}
	f := c.Flags()
	o.masks.positional = f.NArg
	f.Var(&o.masks, "masks", "case file; more may follow without a flag of their own")
	f.StringVar(&o.image, "image", "", "picture of the one case, instead of the one it names")
	f.StringArrayVar(&o.tasks, "task", nil, "only this diagnostic task; repeatable")
	f.StringVar(&o.preset, "preset", chexstruct.Corrected.String(), presetHelp())
	f.StringArrayVar(&o.set, "set", nil, "override a threshold or switch, row=value; repeatable")
	return c
}

func presetHelp() string {
	names := make([]string, 0, len(chexstruct.Presets()))
	for _, p := range chexstruct.Presets() {
		names = append(names, p.String())
	}
	return "reading of the method: " + strings.Join(names, ", ")
}

// caseFiles collects --masks values together with how many plain arguments preceded each,
// so that "--masks a b --masks c" keeps its order.
type caseFiles struct {
	positional func() int
	files      []caseFile
}

type caseFile struct {
	path  string
	after int
}

var _ pflag.Value = (*caseFiles)(nil)

func (c *caseFiles) String() string { return "" }
func (c *caseFiles) Type() string   { return "CASE.json..." }

func (c *caseFiles) Set(v string) error {
	if v == "" {
		return errors.New("the name of a case file is empty")
	}
	c.files = append(c.files, caseFile{path: v, after: c.positional()})
	return nil
}

// with merges the plain arguments in, in the order of the command line.
func (c *caseFiles) with(args []string) []string {
	var list []string
	next := 0
	for _, f := range c.files {
		list = append(list, args[next:f.after]...)
		list = append(list, f.path)
		next = f.after
	}
	return append(list, args[next:]...)
}

func runAssess(ctx context.Context, a *app, o *assessOptions, args []string) error {
	files := o.masks.with(args)
	if len(o.masks.files) == 0 {
		return usageError("name the case files: --masks CASE.json...", "no case files")
	}
	if o.image != "" && len(files) != 1 {
		return usageError("drop --image (a picture that a case names is found beside it) or give one case", "one picture for %d cases", len(files))
	}
	tasks, err := parseTasks(o.tasks)
	if err != nil {
		return err
	}
	rules, err := parseRules(o.preset, o.set)
	if err != nil {
		return err
	}
	bad := 0
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return &exitError{Code: exitCancelled, Err: fmt.Errorf("assess: %w", err)}
		}
		result, err := assessFile(file, o.image, rules, tasks)
		if err != nil {
			bad++
			fmt.Fprintf(a.err, "cxrepro: error: %v\n", err)
			continue
		}
		if err := printResult(a, result, rules); err != nil {
			return err
		}
	}
	if bad > 0 {
		return &exitError{Code: exitFailed, Err: fmt.Errorf("%d of %d cases could not be assessed", bad, len(files))}
	}
	return nil
}

// parseTasks returns the sections to compute: the filter, the bundle, and the named tasks
// or all of them.
func parseTasks(names []string) ([]chexstruct.Task, error) {
	if len(names) == 0 {
		return chexstruct.Sections(), nil
	}
	tasks := []chexstruct.Task{chexstruct.Global, chexstruct.XRagent}
	for _, name := range names {
		t, ok := chexstruct.ParseTask(name)
		if !ok || !t.Diagnostic() {
			return nil, usageError(fmt.Sprintf("tasks are %v", chexstruct.Tasks()), "no diagnostic task is called %q", name)
		}
		if !slices.Contains(tasks, t) {
			tasks = append(tasks, t)
		}
	}
	return tasks, nil
}

func parseRules(preset string, set []string) (*chexstruct.Rules, error) {
	p, ok := chexstruct.ParsePreset(preset)
	if !ok {
		return nil, usageError(fmt.Sprintf("presets are %v", chexstruct.Presets()), "no preset is called %q", preset)
	}
	overrides := map[string]any{}
	for _, s := range set {
		name, value, err := chexstruct.ParseOverride(s)
		if err != nil {
			return nil, usageError("--set row=value, for example --set trachea.height.min=0.12", "%v", err)
		}
		overrides[name] = value
	}
	rules, err := chexstruct.NewRules(p, overrides)
	if err != nil {
		return nil, usageError("`cxrepro chexstruct thresholds` lists every row", "%v", err)
	}
	return rules, nil
}

// assessFile reads one case with its picture and measures it.
func assessFile(file, image string, rules *chexstruct.Rules, tasks []chexstruct.Task) (*chexstruct.Result, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, &chexstruct.CaseError{File: file, Err: err}
	}
	c, err := chexstruct.ParseCase(filepath.ToSlash(file), data)
	if err != nil {
		return nil, err
	}
	field, picture := "image", ""
	if c.Image != "" {
		picture = filepath.Join(filepath.Dir(file), c.Image)
	}
	if image != "" {
		field, picture = "", image
		c.Image = image
	}
	if picture != "" {
		pixels, err := os.ReadFile(picture)
		if err == nil {
			err = c.SetPicture(pixels)
		}
		if err != nil {
			return nil, &chexstruct.CaseError{File: file, Field: field, Err: err}
		}
	}
	result, err := chexstruct.Assess(c.Input, rules, tasks)
	if err != nil {
		return nil, &chexstruct.CaseError{File: file, Err: err}
	}
	result.Case = c.Name
	return result, nil
}

func printResult(a *app, r *chexstruct.Result, rules *chexstruct.Rules) error {
	if !a.JSON() {
		return writeResultTable(a.out, r, rules)
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("case %s: %w", r.Case, err)
	}
	_, err = a.out.Write(append(line, '\n'))
	return err
}

// writeResultTable prints one case for people.
func writeResultTable(out io.Writer, r *chexstruct.Result, rules *chexstruct.Rules) error {
	fmt.Fprintf(out, "%s  (%s)\n", r.Case, rules)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  task\tstatus\tlabel\tindex\twhy")
	verdict := "kept"
	if !r.Global.Keep() {
		verdict = "filtered"
	}
	fmt.Fprintf(w, "  global filter\t%s\t\t\t%s\n", verdict, joinRules(r.Global.Failed()))
	for i := range r.Findings {
		f := &r.Findings[i]
		index := f.Rounded
		if index.Kind() == chexstruct.KindNone {
			index = f.Index
		}
		why := string(f.Reason)
		if failed := f.Failed(); f.Status != chexstruct.StatusNotEvaluable && len(failed) > 0 {
			why = joinRules(failed)
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", f.Task, f.Status, f.Label, plainValue(index), why)
	}
	if b := r.XRagent; b.Exposed {
		for _, m := range []struct {
			name string
			g    *chexstruct.Graded
		}{{"ctr", b.CTR}, {"lung asymmetry", b.Asymmetry}, {"thoracic shift", b.Shift}} {
			fmt.Fprintf(w, "  x-ragent %s\texposed\t%s\t%.2f\t%s\n", m.name, m.g.Category, m.g.Value, m.g.Side)
		}
	} else {
		fmt.Fprintf(w, "  x-ragent\twithheld\t\t\t%s\n", b.Reason)
	}
	return w.Flush()
}

func joinRules(rules []chexstruct.Rule) string {
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.String()
	}
	return strings.Join(names, " ")
}

// plainValue prints a value without brackets and quotes.
func plainValue(v chexstruct.Value) string {
	if v.Kind() == chexstruct.KindNone {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return strings.ReplaceAll(strings.Trim(string(b), `[]"`), ",", " / ")
}

func newThresholdsCommand(a *app) *cobra.Command {
	var preset string
	var set []string
	c := &cobra.Command{
		Use:   "thresholds",
		Short: "List the threshold table under a preset",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			rules, err := parseRules(preset, set)
			if err != nil {
				return err
			}
			if a.JSON() {
				return json.NewEncoder(a.out).Encode(map[string]any{"version": chexstruct.TableVersion(), "preset": rules.Preset(),
					"overrides": rules.Overrides(), "rows": rules.Rows()})
			}
			fmt.Fprintf(a.out, "version %s, %s\n", chexstruct.TableVersion(), rules)
			w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			for _, r := range rules.Rows() {
				fmt.Fprintf(w, "%s\t%v\n", r.Name, r.Value)
			}
			return w.Flush()
		},
	}
	c.Flags().StringVar(&preset, "preset", chexstruct.Corrected.String(), presetHelp())
	c.Flags().StringArrayVar(&set, "set", nil, "override a threshold or switch, row=value; repeatable")
	return c
}
