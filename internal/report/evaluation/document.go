package evaluation

import (
	"fmt"
	"slices"
	"strings"

	"cxrepro/internal/claims"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
	"cxrepro/internal/report/scoring"
)

// Input is what a report is made from.
type Input struct {
	Summary *contract.EvaluationSummary
	// Reproduction and Result identify it; Result is its result digest.
	Reproduction string
	Result       string
	// Hours is the time that answers took, by evaluation and task; nil where it is not known.
	Hours []Hours
	// Calls is the account of calls; nil where it is not known.
	Calls *contract.ReceiptCalls
	Cost  []contract.Money
	// Claims is what came of the published figures, those that Options.Stated adds included, for
	// the comparison with them; nil to check them here.
	Claims *claims.Checked
}

// Hours is the time that the endpoints took for one task of one evaluation.
type Hours struct {
	// Evaluation is its place in the summary.
	Evaluation int
	Task       cxreasonbench.Task
	// Seconds are those of the model and of the judge, Calls the calls made, each once.
	ModelSeconds, JudgeSeconds float64
	ModelCalls, JudgeCalls     int
}

// Options choose what a report shows.
type Options struct {
	// Tables are numbers of the paper's tables; none means all that have data.
	Tables []int
	// Compare puts the published figures beside ours.
	Compare bool
	// Stated are published figures that stand in no table, for the comparison.
	Stated *claims.Stated
}

// Document is a report before it is rendered.
type Document struct {
	Input    Input
	Options  Options
	Sections []Section
	// Missing are the tables of the paper that are not in it, with the reason.
	Missing []Missing
	// Tally counts the verdicts on the claims that the report shows, each once.
	Tally map[report.Verdict]int
	// evaluations are those of the summary as tables take them.
	evaluations []cxreasonbench.Evaluation
	published   *cxreasonbench.Published
}

// Section is a part of a report. Its tables come in pairs where Pairs is set: the paper's
// formulas, then the textbook's.
type Section struct {
	ID, Title, Lead string
	Tables          []*report.Table
	Pairs           bool
}

// Missing is a table that is not there.
type Missing struct {
	Number int
	Why    string
}

// Build makes the report.
//
// Errors: a table number that the paper does not have results under.
func Build(in Input, o Options) (*Document, error) {
	d := &Document{Input: in, Options: o, Tally: map[report.Verdict]int{}}
	for i := range in.Summary.Evaluations {
		e := scoring.Scored(in.Summary.Rules, &in.Summary.Evaluations[i])
		e.Simulated = d.simulated(i)
		d.evaluations = append(d.evaluations, e)
	}
	if o.Compare || o.Stated != nil {
		if err := d.compare(); err != nil {
			return nil, err
		}
	}
	if err := d.paperTables(); err != nil {
		return nil, err
	}
	if len(o.Tables) > 0 {
		return d, nil
	}
	d.add("terminals", "Draws without an answer", "What became of every draw, by stage. A draw without an answer counts as wrong at its stage; a failure of the infrastructure is never counted.", d.terminals())
	d.add("undetermined", "Undetermined cases", "Cases that nothing came of: they are in no denominator, and the tables they belong to are not complete.", d.undetermined())
	d.add("readings", "Judge and parser", "Every reply was also read without a judge. How often both give the same score, and where they part ways.", d.agreement(), d.disagreements())
	d.add("forms", "How values are told", "Share of the final replies of measurement tasks that tell one number, a range only, several numbers, or none.", d.forms())
	d.add("sampling", "Greedy minus three draws", "Difference of the group figure over all tasks, in points (depth: in stages). Positive: greedy is better.", d.sampling())
	d.add("kinds", "Recognition against measurement", "Alignment and completion of Path 1 in the two groups of tasks: do the models align less where a number is asked for?", d.kinds())
	d.add("hours", "Time", "Hours that the endpoints took for the answers, by task and model: the sum over calls, whatever ran side by side.", d.hours())
	d.add("claims", "Claims in the text", "Figures that the paper states in its text only.", d.stated())
	return d, nil
}

// compare checks the published figures, unless that was done.
func (d *Document) compare() (err error) {
	if d.Input.Claims == nil {
		if d.Input.Claims, err = claims.Check(claims.Input{Summary: d.Input.Summary, Stated: d.Options.Stated}); err != nil {
			return err
		}
	}
	if !d.Options.Compare {
		return nil
	}
	d.Tally = d.Input.Claims.Tally(d.Options.Tables...)
	d.published, err = claims.PaperFigures()
	return err
}

// beside is what stands beside figures: nothing where none are compared.
func (d *Document) beside() cxreasonbench.Beside {
	if !d.Options.Compare {
		return nil
	}
	return d.Input.Claims
}

// add appends a section with the tables that exist.
func (d *Document) add(id, title, lead string, tables ...*report.Table) {
	tables = slices.DeleteFunc(tables, func(t *report.Table) bool { return t == nil || len(t.Rows) == 0 })
	if len(tables) > 0 {
		d.Sections = append(d.Sections, Section{ID: id, Title: title, Lead: lead, Tables: tables})
	}
}

// paperTables adds the tables of the paper, each in both formulas.
func (d *Document) paperTables() error {
	numbers := d.Options.Tables
	if len(numbers) == 0 {
		numbers = cxreasonbench.TableNumbers()
	}
	s := Section{ID: "tables", Title: "Tables of the paper", Pairs: true}
	s.Lead = "In the paper's order. Every table stands in the paper's formulas and, from the same counts, in a textbook's."
	for _, n := range numbers {
		why, err := cxreasonbench.TableMissing(n, d.evaluations)
		if err != nil {
			return err
		}
		if why != "" {
			d.Missing = append(d.Missing, Missing{n, why})
			continue
		}
		for _, standard := range []bool{false, true} {
			t, err := cxreasonbench.PaperTable(n, d.evaluations, cxreasonbench.TableOptions{Beside: d.beside(), Standard: standard})
			if err != nil {
				return err
			}
			t.Notes = append(t.Notes, d.unpinned()...)
			s.Tables = append(s.Tables, t)
		}
	}
	if len(s.Tables) > 0 {
		d.Sections = append(d.Sections, s)
	}
	return nil
}

// simulated reports whether a stand-in answered or judged in an evaluation.
func (d *Document) simulated(i int) bool {
	s := d.Input.Summary
	return s.Evaluations[i].Model.Simulated || s.Judge != nil && s.Judge.Simulated
}

// Simulated reports whether a stand-in answered anywhere.
func (d *Document) Simulated() bool {
	for i := range d.Input.Summary.Evaluations {
		if d.simulated(i) {
			return true
		}
	}
	return false
}

// Complete reports whether no case is undetermined and no task waits.
func (d *Document) Complete() bool {
	for _, e := range d.Input.Summary.Evaluations {
		if len(e.Undetermined)+len(e.Waiting) > 0 {
			return false
		}
	}
	return true
}

// undeterminedCases counts the cases that have no result somewhere, each once whatever the
// paths and models it is open in.
func (d *Document) undeterminedCases() int {
	open := map[int]bool{}
	for _, e := range d.evaluations {
		for _, cases := range e.Undetermined {
			for _, c := range cases {
				open[c] = true
			}
		}
	}
	return len(open)
}

// unpinned are notes about models whose weights nobody knows.
func (d *Document) unpinned() []string {
	var notes []string
	for _, e := range d.Input.Summary.Evaluations {
		if why := e.Model.Identity.Unpinned; why != "" {
			note := fmt.Sprintf("The weights of %s are not pinned: %s.", e.Model.Title, strings.TrimSuffix(why, "."))
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

// table begins a table of the report's own, with the marks that every table bears.
func (d *Document) table(name, title string, columns ...report.Column) *report.Table {
	t := &report.Table{Name: name, Title: title, Columns: columns}
	if d.Simulated() {
		t.Title += ", simulated"
	}
	if !d.Complete() {
		t.Title += ", not complete"
	}
	t.Notes = d.unpinned()
	return t
}

func left(name string) report.Column  { return report.Column{Name: name} }
func right(name string) report.Column { return report.Column{Name: name, Right: true} }

// label names an evaluation in a row.
func label(e *contract.SummaryEvaluation) (model, sampling string) {
	return e.Model.Title, samplingWords(e)
}

func samplingWords(e *contract.SummaryEvaluation) string {
	if e.Draws > 1 {
		return fmt.Sprintf("%d draws", e.Draws)
	}
	return "greedy"
}

// stageWords names a stage of a path as the paper does.
func stageWords(p cxreasonbench.Path, s cxreasonbench.Stage) string {
	number := map[cxreasonbench.Stage]string{
		cxreasonbench.StageInit: "initial question", cxreasonbench.StageCriteria: "Stage 1", cxreasonbench.StageRefined: "Stage 1.5",
		cxreasonbench.StageStructures: "Stage 2", cxreasonbench.StageMeasurement: "Stage 3", cxreasonbench.StageFinal: "Stage 4",
	}
	if p == cxreasonbench.Path2 {
		number = map[cxreasonbench.Stage]string{
			cxreasonbench.StageStructures: "Stage 1", cxreasonbench.StageMeasurement: "Stage 2", cxreasonbench.StageFinal: "Stage 3",
		}
	}
	what := map[cxreasonbench.Stage]string{
		cxreasonbench.StageCriteria: ": criterion", cxreasonbench.StageRefined: ": refined criterion", cxreasonbench.StageStructures: ": structures",
		cxreasonbench.StageMeasurement: ": measurement", cxreasonbench.StageFinal: ": diagnosis",
	}
	return number[s] + what[s]
}

func taskWords(t cxreasonbench.Task) string { return strings.ReplaceAll(t.String(), "_", " ") }
