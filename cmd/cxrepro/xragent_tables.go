package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"cxrepro/internal/claims"
	tables "cxrepro/internal/report"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/analysis"
	questions "cxrepro/internal/xragent/bench"
	paper "cxrepro/internal/xragent/tables"
)

// benchTablesFlags are the flags of `xragent bench tables`.
type benchTablesFlags struct {
	data, outcomes, baselines, runs []string
	counts, scorer, format          string
	simulated                       bool
}

func newBenchTablesCommand(a *app) *cobra.Command {
	var f benchTablesFlags
	c := &cobra.Command{
		Use:   "tables --run RUN|ID... | --data BENCHMARK=FOLDER... [--outcomes FILE]... [--baseline NAME=FILE]...",
		Short: "Print Tables 1 to 11 of the paper from runs, or from outcomes in files",
		Long: `Takes questions and outcomes from reproductions of agents (--run, as many as there are
configurations and benchmarks), or reads benchmarks and outcomes from files (one xragent.Outcome as
JSON a line), and adds results of other
systems (JSON lines of item and reply, or answer; named xr.baseline.NAME and marked as made
elsewhere), and prints Tables 1 to 11 in the paper's form with what its text prints beside every
figure, then the noise floor, calls per tool, withheld reasons and answers that flip between gate on
and off.

--scorer reads every reply anew: strict (the last answer tag; for baselines a documented cascade), or
medrax_compat, which credits the first letter it finds and serves comparison only. Outcomes without
a reply keep their answer.

With --json one object: scorer, figures{id: {value, k, n, low, high, open, why}}, claims[{id, printed,
ours, verdict, why}], relations, flips.

Exit codes: 0 ok; 1 a file cannot be read; 2 usage; 3 questions are open.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.benchTables(c.Context(), f) },
	}
	fl := c.Flags()
	fl.StringArrayVar(&f.runs, "run", nil, "reproduction of an agent, may be repeated")
	fl.StringArrayVar(&f.data, "data", nil, "BENCHMARK=FOLDER of a release or a fixture, may be repeated")
	fl.StringArrayVar(&f.outcomes, "outcomes", nil, "file of outcomes, may be repeated")
	fl.StringArrayVar(&f.baselines, "baseline", nil, "NAME=FILE of results made elsewhere, may be repeated")
	fl.StringVar(&f.counts, "counts", "", "any: take benchmarks of another size")
	fl.StringVar(&f.scorer, "scorer", "strict", "strict or medrax_compat")
	fl.StringVar(&f.format, "format", "text", "text, md, csv or latex")
	fl.BoolVar(&f.simulated, "simulated", false, "stand-ins answered; every table says so")
	return c
}

func (a *app) benchTables(ctx context.Context, f benchTablesFlags) error {
	scorer, err := questions.ParseScorer(f.scorer)
	if err != nil {
		return &exitError{Code: exitUsage, Err: err}
	}
	read := agentRead{simulated: f.simulated}
	if len(f.runs) > 0 {
		if len(f.data)+len(f.outcomes) > 0 {
			return usageError("runs bring their questions and outcomes; leave --data and --outcomes out", "xragent bench tables: --run with files")
		}
		read, err = a.agentRuns(ctx, f.runs)
	} else {
		read.items, err = a.benchItems(f)
	}
	if err != nil {
		return err
	}
	fromFiles, err := readOutcomes(f, read.items, scorer)
	if err != nil {
		return err
	}
	outcomes := append(applied(read.outcomes, read.items, scorer), fromFiles...)
	r, err := newAgentReport(read.items, outcomes, scorer.String(), read.simulated, read.blocked)
	if err != nil {
		return err
	}
	if a.JSON() {
		err = a.printJSON(r.document())
	} else {
		err = r.write(a.out, f.format)
	}
	if err != nil {
		return err
	}
	return r.open()
}

// benchItems imports every benchmark that was named.
func (a *app) benchItems(f benchTablesFlags) ([]xragent.Item, error) {
	if len(f.data) == 0 {
		return nil, usageError("name runs with --run, or benchmarks with --data, such as --data chestagentbench=/data/chest-agent-bench", "xragent bench tables: no benchmark")
	}
	roots, err := parseData(f.data)
	if err != nil {
		return nil, err
	}
	var items []xragent.Item
	for _, d := range roots {
		set, err := importBench(d.name, d.path, questions.Options{Counts: f.counts})
		if err != nil {
			return nil, a.importFailed(err)
		}
		items = append(items, set.Items...)
	}
	return items, nil
}

// applied reads every reply anew with a scorer.
func applied(outcomes []xragent.Outcome, items []xragent.Item, s questions.Scorer) []xragent.Outcome {
	byID := map[string]*xragent.Item{}
	for i := range items {
		byID[items[i].ID] = &items[i]
	}
	for i, o := range outcomes {
		if item := byID[o.Item]; item != nil {
			outcomes[i] = s.Apply(item, o, questions.FormOf(o.Arm))
		}
	}
	return outcomes
}

// readOutcomes reads outcomes of ours and of others.
func readOutcomes(f benchTablesFlags, items []xragent.Item, s questions.Scorer) ([]xragent.Outcome, error) {
	var out []xragent.Outcome
	for _, file := range f.outcomes {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, usageError("--outcomes FILE", "%v", err)
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, maxTrajectory)
		for n := 1; lines.Scan(); n++ {
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			var o xragent.Outcome
			if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, n, err)
			}
			out = append(out, o)
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	out = applied(out, items, s)
	for _, b := range f.baselines {
		name, file, ok := strings.Cut(b, "=")
		if !ok || name == "" || file == "" {
			return nil, usageError("write --baseline NAME=FILE", "--baseline %q is not NAME=FILE", b)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, usageError("--baseline NAME=FILE", "%v", err)
		}
		list, err := questions.ReadExternal(file, data, analysis.Baselines+name, items, s)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// agentReport is what outcomes of X-Ragent say, beside what the paper prints.
type agentReport struct {
	analysis  *analysis.Analysis
	figures   map[string]analysis.Figure
	checked   *claims.Checked
	scorer    string
	simulated bool
}

// newAgentReport counts outcomes and holds them against the paper; blocked says why no claim stands.
func newAgentReport(items []xragent.Item, outcomes []xragent.Outcome, scorer string, simulated bool, blocked string) (*agentReport, error) {
	an, err := analysis.New(items, outcomes)
	if err != nil {
		return nil, err
	}
	r := &agentReport{analysis: an, figures: an.Figures(), scorer: scorer, simulated: simulated}
	r.checked, err = claims.Check(claims.Input{Agent: claims.ResultsOf(r.figures), AgentBlocked: blocked})
	return r, err
}

// tables lays every table out.
func (r *agentReport) tables() ([]*tables.Table, error) {
	return paper.All(paper.Input{Analysis: r.analysis, Figures: r.figures, Beside: r.checked, Simulated: r.simulated, Scorer: r.scorer})
}

// write prints every table.
func (r *agentReport) write(w io.Writer, format string) error {
	list, err := r.tables()
	if err != nil {
		return err
	}
	if format == "csv" {
		return tables.WriteCells(w, list)
	}
	for i, t := range list {
		write := map[string]func(io.Writer) error{"text": t.WriteText, "md": t.WriteMarkdown, "latex": t.WriteLaTeX}[format]
		if write == nil {
			return usageError("the formats are text, md, csv, latex", "no format is called %q", format)
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := write(w); err != nil {
			return err
		}
	}
	return nil
}

// open says that figures are missing questions.
func (r *agentReport) open() error {
	n := 0
	for _, config := range r.analysis.Configs() {
		for _, at := range analysis.Wholes() {
			if s := r.analysis.Score(config, at.Benchmark, at.Column); s.Why == "" {
				n += s.Open()
			}
		}
	}
	if n == 0 {
		return nil
	}
	return &exitError{Code: exitQuarantined, Err: fmt.Errorf("%s have no outcome, and are in no denominator", plural(n, "question", "questions")), Hint: "claims about them are undetermined until they have one"}
}

// document is the report for programs.
func (r *agentReport) document() any {
	type figure struct {
		Value *float64 `json:"value"`
		K     int      `json:"k"`
		N     int      `json:"n"`
		Low   *float64 `json:"low,omitempty"`
		High  *float64 `json:"high,omitempty"`
		Open  int      `json:"open,omitempty"`
		Why   string   `json:"why,omitempty"`
	}
	type claim struct {
		ID      string `json:"id"`
		Printed string `json:"printed"`
		Ours    string `json:"ours,omitempty"`
		Verdict string `json:"verdict"`
		Why     string `json:"why,omitempty"`
	}
	figures, list := map[string]figure{}, []claim{}
	for id, f := range r.figures {
		x := figure{K: f.Counted.K, N: f.Counted.N, Open: f.Open, Why: f.Why}
		if f.Known {
			x.Value = &f.Value
		}
		if f.HasInterval {
			x.Low, x.High = &f.Low, &f.High
		}
		figures[id] = x
	}
	for _, c := range r.checked.Results {
		if c.Claim.Paper == claims.XRagent {
			list = append(list, claim{c.Claim.ID, c.Claim.Printed, c.Ours, c.Verdict.String(), c.Why})
		}
	}
	flips := r.analysis.Flipped(analysis.Default, "xr.gate.off", questions.ChestAgentBench)
	return map[string]any{"scorer": r.scorer, "simulated": r.simulated, "figures": figures, "claims": list, "relations": r.checked.Relations, "flips": flips}
}
