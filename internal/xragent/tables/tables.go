package tables

import (
	"fmt"
	"slices"

	"cxrepro/internal/report"
	"cxrepro/internal/xragent/analysis"
)

// Comparison is what the paper prints of a figure, and what came of comparing.
type Comparison struct {
	Printed string
	// Derived says that it was computed from printed figures.
	Derived bool
	Verdict report.Verdict
	Why     string
}

// Setting is a named value: of the paper with where it is printed, or of ours.
type Setting struct{ Name, Value, Where string }

// Beside says what stands beside our figures.
type Beside interface {
	// Figure returns the comparison of a figure by its id.
	Figure(id string) (Comparison, bool)
	// Constants are the settings that the paper prints.
	Constants() ([]Setting, error)
}

// Input is what tables are made of.
type Input struct {
	Analysis *analysis.Analysis
	// Figures are those of the analysis; nil computes them.
	Figures map[string]analysis.Figure
	// Corpus counts training examples by the ids of the paper's figures ("corpus.sft_total"); nil
	// where nothing was built.
	Corpus map[string]int
	// Settings are values of ours by the names of the paper's constants; nil where nothing was trained.
	Settings map[string]string
	// Beside holds published figures; nil leaves them out.
	Beside Beside
	// Simulated marks results of stand-ins; Scorer names what read the answers.
	Simulated bool
	Scorer    string
}

// Numbers lists the tables.
func Numbers() []int { return []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11} }

// titles are the tables' titles. The text cites some by another number than the caption has.
//
// Source: [paper] captions and citations, where the text has them.
var titles = map[int]string{
	1:  "Table 1. Main results",
	2:  "Table 2 (cited in the text as Tab. 3). Training pipeline",
	3:  "Table 3 (the text cites the table above by this number, and this one by none). Reward terms",
	4:  "Table 4 (cited in the text as Tab. 5). When tools are called",
	5:  "Table 5 (the text cites it as Tab. 5, too). Parts of the training data",
	6:  "Table 6. Validity gate on ChestAgentBench",
	7:  "Table 7. Settings",
	8:  "Table 8. Questions and training examples",
	9:  "Table 9. Prompts of the base model",
	10: "Table 10. Modules at inference",
	11: "Table 11. Who decides to measure",
}

// All returns Tables 1 to 11, then ours: noise, calls per tool, withheld reasons, and answers that
// flip between gate on and off.
//
// Errors: published figures that cannot be read, a table that contradicts itself.
func All(in Input) ([]*report.Table, error) {
	b := &builder{in: in, figures: in.Figures}
	if b.figures == nil {
		b.figures = in.Analysis.Figures()
	}
	b.main()
	b.pipeline()
	b.rewards()
	b.selective()
	b.data()
	b.validity()
	if err := b.settings(); err != nil {
		return nil, err
	}
	b.counts()
	b.prompts()
	b.modules()
	b.measuring()
	b.noise()
	b.calls()
	b.withheld()
	b.flips()
	for _, t := range b.list {
		if wrong := t.Check(); len(wrong) > 0 {
			return nil, fmt.Errorf("tables: %s: %v", t.Name, wrong)
		}
	}
	return b.list, nil
}

// Names of formulas.
const (
	formulaShare = "share"
	formulaMacro = "macro"
	formulaMean3 = "mean_of_three"
	formulaDelta = "delta"
	formulaFloor = "floor"
	formulaRatio = "ratio"
	formulaCount = "count"
	formulaExact = "mcnemar_exact"
	formulaFlips = "flips"
)

var formulas = []report.Formula{
	{ID: formulaShare, Text: "right answers of questions that have an outcome, in per cent; unparsed replies are wrong. Over repeats the mean"},
	{ID: formulaMacro, Text: "unweighted mean of the shares of OpenI, Rad-ReStruct and SLAKE"},
	{ID: formulaMean3, Text: "unweighted mean of the three benchmarks"},
	{ID: formulaDelta, Text: "difference of two means, in points"},
	{ID: formulaFloor, Text: "noise floor of a difference: the larger spread, largest minus smallest repeat, of its two sides, in points"},
	{ID: formulaRatio, Text: "quotient of two shares, or of two counts"},
	{ID: formulaCount, Text: "a number of questions, calls, examples or pictures"},
	{ID: formulaExact, Text: "two-sided p of McNemar's exact test over questions that both sides answered"},
	{ID: formulaFlips, Text: "pairs of repeats of one question with different correctness, of all such pairs, in per cent"},
}

// builder makes the tables one after the other.
type builder struct {
	in      Input
	figures map[string]analysis.Figure
	list    []*report.Table
	t       *report.Table
	whys    []string
}

// begin starts a table; the first two columns name the row and whose figures it holds.
func (b *builder) begin(number int, columns ...string) {
	b.open(titles[number], fmt.Sprintf("table-%d", number), []string{"", "whose"}, columns)
}

func (b *builder) open(title, name string, words, columns []string) {
	b.t = &report.Table{Title: title, Name: name}
	for _, w := range words {
		b.t.Columns = append(b.t.Columns, report.Column{Name: w})
	}
	for _, c := range columns {
		b.t.Columns = append(b.t.Columns, report.Column{Name: c, Right: true})
	}
	b.whys = nil
}

// end closes a table with the formulas that it uses, the reasons of what is missing, and notes.
func (b *builder) end(notes ...string) {
	used := map[string]bool{}
	for _, r := range b.t.Rows {
		for _, c := range r.Cells {
			used[c.Formula] = true
		}
	}
	for _, f := range formulas {
		if used[f.ID] {
			b.t.Formulas = append(b.t.Formulas, f)
		}
	}
	for _, w := range b.whys {
		b.t.Notes = append(b.t.Notes, "N/A: "+w+".")
	}
	b.t.Notes = append(b.t.Notes, notes...)
	if b.in.Simulated {
		b.t.Notes = append(b.t.Notes, "Simulated: stand-ins answered; nothing here is about a model.")
	}
	b.list = append(b.list, b.t)
}

// cell is a figure with how it is printed.
type cell struct {
	figure   analysis.Figure
	formula  string
	decimals int
	// id names the paper's figure; empty where the text has none.
	id string
	// signed prints a plus sign.
	signed bool
	// text stands in place of a figure; blank prints nothing.
	text  string
	words bool
}

// words is a cell without a figure.
func words(s string) cell { return cell{text: s, words: true} }

// render makes the cell and what the paper prints of it.
func (b *builder) render(c cell) (ours, paper report.Cell) {
	if c.words {
		return report.Text(c.text), report.Text("").Lighter()
	}
	if !c.figure.Known {
		if !slices.Contains(b.whys, c.figure.Why) {
			b.whys = append(b.whys, c.figure.Why)
		}
		ours = report.None(c.figure.Why)
	} else {
		form := "%.*f"
		if c.signed {
			form = "%+.*f"
		}
		ours = report.Figure(fmt.Sprintf(form, c.decimals, c.figure.Value), c.figure.Counted.K, c.figure.Counted.N, c.formula)
		d := report.Detail{Value: &c.figure.Value}
		if c.figure.HasInterval {
			d.Interval = &report.Range{Low: c.figure.Low, High: c.figure.High}
		}
		if p := c.figure.Counted; p.N > 0 {
			if low, high, ok := p.Wilson(wilsonZ); ok {
				share, _ := p.Value()
				d.Standard = &report.Range{Mid: share, Low: low, High: high}
			}
		}
		ours = ours.With(d)
	}
	paper = report.Text("-").Lighter()
	if c.id == "" && (c.formula == formulaCount || c.formula == formulaFloor || c.formula == formulaExact) {
		paper = report.Text("").Lighter()
	}
	if c.id == "" || b.in.Beside == nil {
		return ours, paper
	}
	x, ok := b.in.Beside.Figure(c.id)
	if !ok {
		return ours, paper
	}
	printed := x.Printed
	if x.Derived {
		printed += " (derived)"
	}
	if ours.Detail != nil {
		ours.Detail.Why = x.Why
	}
	return ours.Beside(printed, x.Verdict), report.Text(printed).Lighter()
}

// row adds our figures and, where published ones are asked for, what the paper prints below them.
func (b *builder) row(name string, cells ...cell) {
	ours, paper := []report.Cell{report.Text(name), report.Text("ours")}, []report.Cell{report.Text("").Lighter(), report.Text("paper").Lighter()}
	any := false
	for _, c := range cells {
		o, p := b.render(c)
		ours, paper = append(ours, o), append(paper, p)
		any = any || c.id != ""
	}
	b.t.AddHead(ours...)
	if any && b.in.Beside != nil {
		b.t.Add(paper...)
	}
}
