package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cxrepro/internal/cxreasonbench"
	tables "cxrepro/internal/report"
	"cxrepro/internal/report/evaluation"
)

// reportFlags are the flags of `report`.
type reportFlags struct {
	format, compare, out, claims string
	tables                       []int
	cells, withPictures          bool
	cases, pictureMiB            int
}

func newReportCommand(a *app) *cobra.Command {
	var f reportFlags
	c := &cobra.Command{
		Use:   "report [RUN|ID] [--format md|csv|latex|html] [--compare paper]",
		Short: "Print the tables of an evaluation, beside the paper's",
		Long: `report prints what models reached: Tables 3, 4 and 8 to 28 of CXReasonBench in the paper's
order, each in the paper's formulas and from the same counts in a textbook's, then replies that
were none by stage, undetermined cases, judge against parser, how values are told, greedy minus
three draws, recognition against measurement, and hours by task. It makes no call to a model.

RUN is the name of an experiment, ID a reproduction's id or at least six digits of its
beginning; without either the one that ended last. Tables without data are named with the
reason.

--compare paper puts the published figure and a verdict beside every figure: reproduced (equal
as printed), within noise (inside our 95 % bootstrap interval over cases), off, or not
computable, with the reason in CSV, --cells and HTML.

--format html writes one file that refers to nothing outside it: tables with the origin of
every figure, plots of the stages, and a few dialogues of each task with their pictures. Without
--out it goes to <state>/reports/<reproduction>/evaluation.html and its path is printed.
Pictures of credentialed data are left out unless --with-pictures is given; such a file must
stay on this machine.

--cells lists every figure with its reference, t<table>/<row>/<column>, which ` + "`cxrepro lineage`" + `
takes; ":refined" behind it names the figure in parentheses, ":standard" the textbook reading.

With --json one object: reproduction_id, result_digest, simulated, complete, verdicts,
missing[{table,why}], out, format, with --cells cells[{ref,table,evaluation,model,sampling,path,row,column,
value,k,n,formula,why}], and summary, the document that the tables are made from.

Exit codes: 0 done; 2 usage, or no such reproduction or table; 3 done, with undetermined cases:
tables say that they are not complete; 6 store unreachable.`,
		Example: `  cxrepro report
  cxrepro report --compare paper --table 3 --table 4
  cxrepro report cxreasonbench-demo --format html --compare paper --out report.html
  cxrepro report --format csv --out figures.csv`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			which := latest
			if len(args) > 0 {
				which = args[0]
			}
			return a.report(c.Context(), which, f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.format, "format", "md", "md, csv, latex or html")
	fl.IntSliceVar(&f.tables, "table", nil, "number of a table of the paper; several may be given (default: all that have data, and the other parts)")
	fl.StringVar(&f.compare, "compare", "", "paper: put the published figures beside ours")
	fl.BoolVar(&f.cells, "cells", false, "list every figure with reference, k, n, formula and intervals after its table (md, latex, --json)")
	fl.StringVar(&f.out, "out", "", "file to write instead of standard output")
	fl.StringVar(&f.claims, "claims", "", "JSON file of published figures that stand in no table (docs/report.md)")
	fl.BoolVar(&f.withPictures, "with-pictures", false, "html: put in pictures of credentialed data, for a file that stays on this machine")
	fl.IntVar(&f.cases, "cases", 0, "html: most cases of a task whose dialogues are shown (default 3)")
	fl.IntVar(&f.pictureMiB, "picture-mib", 0, "html: most MiB that its pictures weigh (default 16)")
	return c
}

// reportFormats are the forms of a report.
var reportFormats = []string{"md", "csv", "latex", "html"}

func (f *reportFlags) check() error {
	switch {
	case !slices.Contains(reportFormats, f.format):
		return usageError("the formats are "+strings.Join(reportFormats, ", "), "no format is called %q", f.format)
	case f.compare != "" && f.compare != "paper":
		return usageError("use --compare paper", "--compare %s is not known", f.compare)
	case f.cells && (f.format == "csv" || f.format == "html"):
		return usageError("leave --cells out", "a report as %s has every figure's origin already", f.format)
	case f.format != "html" && (f.withPictures || f.cases != 0 || f.pictureMiB != 0):
		return usageError("add --format html", "--with-pictures, --cases and --picture-mib are about the HTML report")
	case f.cases < 0 || f.pictureMiB < 0:
		return usageError("give numbers above 0", "--cases %d, --picture-mib %d", f.cases, f.pictureMiB)
	}
	for _, n := range f.tables {
		if !slices.Contains(cxreasonbench.TableNumbers(), n) {
			return usageError(fmt.Sprintf("those with results of models are %v", cxreasonbench.TableNumbers()), "the paper's table %d is none of them", n)
		}
	}
	return nil
}

func (f *reportFlags) options() (evaluation.Options, error) {
	o := evaluation.Options{Tables: f.tables, Compare: f.compare != ""}
	if f.claims == "" {
		return o, nil
	}
	var err error
	o.Stated, err = readStated(f.claims)
	return o, err
}

// reported is what the verb prints with --json.
type reported struct {
	Reproduction string         `json:"reproduction_id"`
	ResultDigest string         `json:"result_digest"`
	Simulated    bool           `json:"simulated"`
	Complete     bool           `json:"complete"`
	Verdicts     map[string]int `json:"verdicts,omitempty"`
	Missing      []missingTable `json:"missing"`
	Out          string         `json:"out,omitempty"`
	Format       string         `json:"format"`
	Cells        []reportedCell `json:"cells,omitempty"`
	Summary      any            `json:"summary"`
}

// reportedCell is one figure by its reference: what it is about, and k, n and formula.
type reportedCell struct {
	Ref        tables.Ref             `json:"ref"`
	Table      int                    `json:"table"`
	Evaluation string                 `json:"evaluation"`
	Model      string                 `json:"model"`
	Sampling   cxreasonbench.Sampling `json:"sampling"`
	Path       cxreasonbench.Path     `json:"path"`
	// Row is a task or a group of tasks.
	Row     string   `json:"row"`
	Column  string   `json:"column"`
	Value   *float64 `json:"value"`
	K       int      `json:"k"`
	N       int      `json:"n"`
	Formula string   `json:"formula"`
	Why     string   `json:"why,omitempty"`
}

func reportedCells(d *evaluation.Document) []reportedCell {
	list := []reportedCell{}
	for _, r := range d.Cells() {
		f := r.Figure(d.Evaluations())
		c := reportedCell{
			Ref: r.Ref, Table: r.Ref.Table, Evaluation: d.Input.Summary.Evaluations[r.Evaluation].Name, Model: r.Model, Sampling: r.Sampling,
			Path: r.Path, Row: r.Row(), Column: r.Column.String(), K: f.K, N: f.N, Formula: f.Formula, Why: f.Why,
		}
		if f.Known {
			c.Value = &f.Value
		}
		list = append(list, c)
	}
	return list
}

type missingTable struct {
	Table int    `json:"table"`
	Why   string `json:"why"`
}

func (a *app) report(ctx context.Context, which string, f reportFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	store, r, err := a.openReported(ctx, which)
	if err != nil {
		return err
	}
	if hasAgentTables(r) {
		return a.reportAgent(ctx, store, r.receipt, f)
	}
	e, err := loadEvaluation(ctx, store, r.receipt)
	if err != nil {
		return err
	}
	d, err := e.document(ctx, o)
	if err != nil {
		return err
	}
	for _, words := range d.MissingWords() {
		a.say("not there: " + words)
	}
	var out bytes.Buffer
	if err := a.renderReport(ctx, e, d, f, &out); err != nil {
		return err
	}
	to := f.out
	if f.format == "html" && to == "" {
		to = a.reportFolder(e.receipt, "evaluation.html")
	}
	_, local := evaluation.ClassNotice(e.bench.DataUse)
	if to != "" {
		if err := writeReport(to, out.Bytes(), local); err != nil {
			return err
		}
	}
	if err := a.printReport(d, f, to, out.Bytes()); err != nil {
		return err
	}
	if !d.Complete() {
		return a.undetermined(e.receipt)
	}
	return nil
}

func (a *app) renderReport(ctx context.Context, e *evaluated, d *evaluation.Document, f reportFlags, w io.Writer) error {
	switch f.format {
	case "csv":
		return d.WriteCSV(w)
	case "latex":
		return d.WriteLaTeX(w, f.cells)
	case "html":
		t, err := e.transcripts(ctx, evaluation.Limits{Cases: f.cases, Bytes: f.pictureMiB << 20}, f.withPictures)
		if err != nil {
			return err
		}
		if t.Why != "" {
			a.say(t.Why)
		} else if t.LeftOut > 0 {
			a.say(fmt.Sprintf("%d pictures found no room; --picture-mib makes more", t.LeftOut))
		}
		return d.WriteHTML(w, t)
	}
	return d.WriteMarkdown(w, f.cells)
}

// printReport says where the report is, or prints it.
func (a *app) printReport(d *evaluation.Document, f reportFlags, to string, text []byte) error {
	if a.JSON() {
		out := reported{
			Reproduction: d.Input.Reproduction, ResultDigest: d.Input.Result, Simulated: d.Simulated(), Complete: d.Complete(),
			Missing: []missingTable{}, Out: to, Format: f.format, Summary: d.Input.Summary,
		}
		for _, m := range d.Missing {
			out.Missing = append(out.Missing, missingTable{m.Number, m.Why})
		}
		if f.cells {
			out.Cells = reportedCells(d)
		}
		if d.Options.Compare {
			out.Verdicts = map[string]int{}
			for _, v := range tables.Verdicts() {
				out.Verdicts[v.String()] = d.Tally[v]
			}
		}
		return json.NewEncoder(a.out).Encode(out)
	}
	if d.Options.Compare && (to != "" || f.format != "md") {
		a.say("compared with the paper: " + d.TallyWords())
	}
	if to != "" {
		fmt.Fprintln(a.out, to)
		return nil
	}
	_, err := a.out.Write(text)
	return err
}

// writeReport writes a file; one of data that must stay here is readable by its owner alone.
func writeReport(to string, data []byte, local bool) error {
	mode, folder := os.FileMode(0o644), os.FileMode(0o755)
	if local {
		mode, folder = 0o600, 0o700
	}
	err := os.MkdirAll(filepath.Dir(to), folder)
	if err == nil {
		err = os.WriteFile(to, data, mode)
	}
	if err == nil && local {
		err = os.Chmod(to, mode) // a file that was there before keeps its mode otherwise
	}
	if err != nil {
		return &exitError{Code: exitFailed, Err: fmt.Errorf("report: %w", err), Hint: "name another file with --out"}
	}
	return nil
}

// summaryTables are the tables that a run ends with.
var summaryTables = []int{3, 4}

// showEvaluation prints the paper's summary tables beside the published figures and writes the
// HTML report; it returns the path of the report. Tables 3 and 4 are those of greedy decoding.
func (a *app) showEvaluation(ctx context.Context, e *evaluated, w io.Writer) (string, error) {
	d, err := e.document(ctx, evaluation.Options{Compare: true, Tables: summaryTables})
	if err != nil {
		return "", err
	}
	if err := d.WriteText(w); err != nil {
		return "", err
	}
	if d, err = e.document(ctx, evaluation.Options{Compare: true}); err != nil {
		return "", err
	}
	to := a.reportFolder(e.receipt, "evaluation.html")
	if reportThere(to, d.Mark()) {
		return to, nil
	}
	t, err := e.transcripts(ctx, evaluation.Limits{Cases: 2}, false)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := d.WriteHTML(&out, t); err != nil {
		return "", err
	}
	_, local := evaluation.ClassNotice(e.bench.DataUse)
	return to, writeReport(to, out.Bytes(), local)
}

// reportThere reports whether a file is the page with a mark.
func reportThere(path, mark string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 1024)
	n, err := io.ReadFull(f, head)
	return (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) && bytes.Contains(head[:n], []byte(`content="`+mark+`"`))
}
