package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	questions "cxrepro/internal/xragent/bench"
)

func newXragentBenchCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "bench",
		Short: "Import X-Ragent's benchmarks, write synthetic ones, make its tables",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usageError("see `"+c.CommandPath()+" --help`", "xragent bench needs a subcommand: import, fixture or tables")
		},
	}
	c.AddCommand(newBenchImportCommand(a), newBenchFixtureCommand(a), newBenchTablesCommand(a))
	return c
}

func newBenchImportCommand(a *app) *cobra.Command {
	var o questions.Options
	items := false
	c := &cobra.Command{
		Use:   "import BENCHMARK FOLDER",
		Short: "Read a benchmark as published, and check its totals",
		Long: `Reads chestagentbench, chexbench or slake_closed from the folder of its release (docs/
xragent-benchmarks.md shows the layouts) and checks totals, columns, label groups, options, keys
and pictures. Everything that is wrong is listed, with code, file, row, field and the way out.

--counts any takes a subset or a fixture: totals are reported instead of checked, everything else
is checked as ever. --items prints the questions as JSON lines instead of the counts.

With --json one object: benchmark, files, counted[{what, n, published}], groups, keys, pictures,
shown, notes; on failure {"problems":[{code, file, row, field, detail}]}.

Exit codes: 0 ok; 1 the files are not what was published; 2 usage.`,
		Example: `  cxrepro xragent bench import chestagentbench /data/chest-agent-bench
  cxrepro xragent bench import slake_closed /data/Slake1.0 --json`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := importBench(args[0], args[1], o)
			if err != nil {
				return a.importFailed(err)
			}
			if items {
				enc := json.NewEncoder(a.out)
				for i := range set.Items {
					if err := enc.Encode(set.Items[i]); err != nil {
						return err
					}
				}
				return nil
			}
			if a.JSON() {
				return a.printJSON(set.Report)
			}
			return a.printImported(set)
		},
	}
	c.Flags().StringVar(&o.Counts, "counts", "", "any: take a subset or a fixture of another size")
	c.Flags().BoolVar(&items, "items", false, "print the questions as JSON lines")
	return c
}

// importBench reads a benchmark by its name from a folder.
func importBench(name, folder string, o questions.Options) (*questions.Set, error) {
	b, err := questions.Parse(name)
	if err != nil {
		return nil, &exitError{Code: exitUsage, Err: err}
	}
	if err := o.Validate(); err != nil {
		return nil, &exitError{Code: exitUsage, Err: err}
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return nil, usageError("name the folder of the release", "xragent bench: %s is no folder", folder)
	}
	return questions.Import(b, openFolder(folder), o)
}

// importFailed lists what is wrong, for programs on standard output as well.
func (a *app) importFailed(err error) error {
	var e *questions.ImportError
	if errors.As(err, &e) && a.JSON() {
		if err := a.printJSON(struct {
			Problems []questions.Problem `json:"problems"`
		}{e.Problems}); err != nil {
			return err
		}
	}
	return err
}

func (a *app) printImported(set *questions.Set) error {
	r := set.Report
	fmt.Fprintf(a.out, "%s: %s, %s (shown %d times)\n\n", set.Benchmark.Title(), plural(len(set.Items), "question", "questions"), plural(r.Pictures, "picture", "pictures"), r.Shown)
	for _, c := range r.Counted {
		mark := ""
		if c.Differs() {
			mark = "  differs"
		}
		fmt.Fprintf(a.out, "  %-34s %6d  published %6d%s\n", c.What, c.N, *c.Published, mark)
	}
	for _, list := range []struct {
		title  string
		counts []questions.Counted
	}{{"sets of labels", r.Groups}, {"right answers", r.Keys}} {
		if len(list.counts) == 0 {
			continue
		}
		fmt.Fprintf(a.out, "\n  %s\n", list.title)
		for _, c := range list.counts {
			fmt.Fprintf(a.out, "  %-46s %6d\n", c.What, c.N)
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(a.out, "\n  note: %s\n", n)
	}
	return nil
}

func newBenchFixtureCommand(a *app) *cobra.Command {
	var o questions.FixtureOptions
	out := ""
	c := &cobra.Command{
		Use:   "fixture BENCHMARK --out DIR",
		Short: "Write a synthetic benchmark in its published form",
		Long: `Writes chestagentbench, chexbench or slake_closed with the published numbers of questions, columns
and pictures, in the layout of its release: drawn pictures, few different ones under many names, and
questions of our own whose right answers are drawn. Nothing in it is about a patient. The same seed
gives the same bytes everywhere.

Exit codes: 0 ok; 1 failed; 2 usage.`,
		Example: `  cxrepro xragent bench fixture chestagentbench --out /tmp/cab
  cxrepro xragent bench fixture chexbench --questions 60 --out /tmp/chex   # import it with --counts any`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := questions.Parse(args[0])
			switch {
			case err != nil:
				return &exitError{Code: exitUsage, Err: err}
			case out == "":
				return usageError("name a folder with --out DIR", "xragent bench fixture: no output folder")
			}
			if err := unusedFolder("xragent bench fixture", out); err != nil {
				return err
			}
			w := &countedFolder{outFolder: outFolder(out)}
			if err := questions.Fixture(b, o, w); err != nil {
				return err
			}
			if a.JSON() {
				return a.printJSON(map[string]any{"benchmark": b, "folder": out, "files": w.files})
			}
			_, err = fmt.Fprintf(a.out, "%s: %s in %s\n", b.Title(), plural(w.files, "file", "files"), out)
			return err
		},
	}
	fl := c.Flags()
	fl.StringVar(&out, "out", "", "folder to write (new or empty)")
	fl.Uint64Var(&o.Seed, "seed", 1, "seed")
	fl.IntVar(&o.Questions, "questions", 0, "number of questions; 0 is the published one")
	fl.IntVar(&o.Long, "long", 256, "longer side of the pictures in pixels, at least 160")
	return c
}

// countedFolder counts the files that are written below a folder.
type countedFolder struct {
	outFolder
	files int
}

// WriteFile implements questions.Writer.
func (w *countedFolder) WriteFile(name string, data []byte) error {
	w.files++
	return w.outFolder.WriteFile(name, data)
}
