package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cxrepro/internal/cxr"
	"cxrepro/internal/dataset"
)

// datasetCheckFlags are the flags of `dataset check`.
type datasetCheckFlags struct {
	views         []string
	split, depth  string
	orphans, path bool
	problems      int
}

func newDatasetCheckCommand(a *app) *cobra.Command {
	var f datasetCheckFlags
	c := &cobra.Command{
		Use:   "check DIR",
		Short: "Look over a folder in the layout of MIMIC-CXR-JPG",
		Long: `Accounts for every row of the metadata table (in = kept + filtered + quarantined), lists
what is wrong with single pictures, and remarks on the folder as a whole.

--depth says how far to look: tables; files (presence); headers (format and size, from
the first bytes of each file); digests (every byte, against SHA256SUMS.txt); pixels
(every file decoded). --orphans also walks files/ for pictures without a row.

Problems name case numbers, the rows of the metadata table from 1; --paths names the
files as well, which identifies them.

With --json one object is printed: depth, tables, name, data_use, views, accounting {in,
kept, filtered, quarantined}, problems [{case, outcome, detail, path?}], notes. Exit
codes: 0 ok; 1 failed, or no image is left; 2 usage; 3 some items are quarantined.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.checkDataset(f, args[0]) },
	}
	fl := c.Flags()
	fl.StringSliceVar(&f.views, "view", []string{"PA", "AP"}, "view positions that are wanted")
	fl.StringVar(&f.split, "split", "all", "split that is wanted: all, train, validate or test")
	fl.StringVar(&f.depth, "depth", "headers", "tables, files, headers, digests or pixels")
	fl.BoolVar(&f.orphans, "orphans", false, "look for pictures without a row")
	fl.BoolVar(&f.path, "paths", false, "name the files of problems")
	fl.IntVar(&f.problems, "max", 20, "problems to list")
	return c
}

func (f *datasetCheckFlags) options() (dataset.CheckOptions, error) {
	o := dataset.CheckOptions{Orphans: f.orphans, MaxProblems: f.problems}
	var err error
	if o.Depth, err = dataset.ParseDepth(f.depth); err != nil {
		return o, usageError("give --depth one of these", "dataset check: %v", err)
	}
	for _, text := range f.views {
		var v cxr.ViewPosition
		if err := v.UnmarshalText([]byte(text)); err != nil {
			return o, usageError("give --view one or more of these, joined by commas", "dataset check: %v", err)
		}
		o.Selection.Views = append(o.Selection.Views, v)
	}
	if f.split != "all" {
		if o.Selection.Split, err = dataset.ParseSplit(f.split); err != nil {
			return o, usageError("give --split all, train, validate or test", "dataset check: %v", err)
		}
	}
	if f.problems < 1 {
		return o, usageError("give --max of at least 1", "dataset check: --max %d", f.problems)
	}
	return o, nil
}

func (a *app) checkDataset(f datasetCheckFlags, dir string) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return usageError("give the folder that holds files/ and the tables", "dataset check: %s is no folder", dir)
	}
	last := time.Now()
	o.Progress = func(rows int) {
		if now := time.Now(); now.Sub(last) > 2*time.Second {
			last = now
			fmt.Fprintf(a.err, "dataset check: %d rows\n", rows)
		}
	}
	r, err := dataset.Check(openFolder(dir), o)
	if err != nil {
		return datasetFailure(err)
	}
	if a.JSON() {
		err = json.NewEncoder(a.out).Encode(checkJSON(r, f.path))
	} else {
		err = printCheck(a.out, dir, r, f.path)
	}
	if err != nil {
		return err
	}
	if r.Accounting.Total(dataset.StatusKept) == 0 {
		return &exitError{Code: exitFailed, Err: errors.New("dataset check: no image is left, so no experiment can run on this folder"),
			Hint: "see what was filtered and quarantined above; check --view, --split and the folder"}
	}
	if n := r.Accounting.Total(dataset.StatusQuarantined); n > 0 {
		return &exitError{Code: exitQuarantined, Err: fmt.Errorf("dataset check: %d items are quarantined", n),
			Hint: "an experiment goes on without them and says so; --paths names the files"}
	}
	return nil
}

// datasetFailure adds the hint that a reader gives.
func datasetFailure(err error) error {
	e := &exitError{Code: exitFailed, Err: fmt.Errorf("dataset check: %w", err)}
	var te *dataset.TableError
	if errors.As(err, &te) {
		e.Hint = te.Hint
	}
	return e
}

// problemJSON is a problem as --json prints it.
type problemJSON struct {
	dataset.CaseProblem
	Path string `json:"path,omitempty"`
}

func checkJSON(r *dataset.CheckReport, paths bool) any {
	out := struct {
		*dataset.CheckReport
		Problems []problemJSON `json:"problems"`
	}{r, make([]problemJSON, len(r.Problems))}
	for i, p := range r.Problems {
		out.Problems[i].CaseProblem = p
		if paths {
			out.Problems[i].Path = p.Path
		}
	}
	return out
}

func printCheck(w io.Writer, dir string, r *dataset.CheckReport, paths bool) error {
	var b strings.Builder
	name := r.Name
	if name == "" {
		name = "no declaration"
	}
	fmt.Fprintf(&b, "%s: %s, data use %s\n", dir, name, r.DataUse)
	fmt.Fprintf(&b, "tables      %s\n", strings.Join(r.Tables, ", "))
	views := make([]string, 0, len(r.Views))
	for v, n := range r.Views {
		views = append(views, fmt.Sprintf("%s %d", v, n))
	}
	slices.Sort(views)
	fmt.Fprintf(&b, "views       %s\n", strings.Join(views, ", "))
	fmt.Fprintf(&b, "looked at   %s\n", r.Depth)
	fmt.Fprintf(&b, "accounting  %s\n", r.Accounting.String())
	for _, o := range dataset.Outcomes() {
		if n := r.Accounting.Count(o); n > 0 && o != dataset.Kept {
			fmt.Fprintf(&b, "            %-12s %-22s %d\n", o.Status(), o, n)
		}
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "problem     case %d: %s: %s\n", p.Case, p.Outcome, p.Detail)
		if paths && p.Path != "" {
			fmt.Fprintf(&b, "            %s\n", p.Path)
		}
	}
	if more := r.Accounting.Total(dataset.StatusQuarantined) - int64(len(r.Problems)); more > 0 {
		fmt.Fprintf(&b, "            and %d more (--max)\n", more)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note        %s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
