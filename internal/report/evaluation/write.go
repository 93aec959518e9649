package evaluation

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
)

// head are the lines that every form of the report begins with.
func (d *Document) head() []string {
	s := d.Input.Summary
	lines := []string{s.Paper}
	if d.Simulated() {
		lines = append(lines, "Simulated: stand-ins answered. These figures say nothing about a model.")
	}
	if !d.Complete() {
		lines = append(lines, "Not complete: "+cxreasonbench.UndeterminedWords(d.undeterminedCases())+".")
	}
	lines = append(lines, "Rules: "+s.Rules.String()+". Benchmark: "+s.Benchmark.Rules+", "+report.Number(s.Benchmark.Cases)+" cases. Scored "+d.scoring()+".")
	if notice, _ := ClassNotice(s.Benchmark.DataUse); notice != "" {
		lines = append(lines, notice)
	}
	if d.Input.Reproduction != "" {
		lines = append(lines, "Reproduction "+d.Input.Reproduction+", result "+d.Input.Result+".")
	}
	if d.Options.Compare {
		lines = append(lines, "Compared with the paper: "+d.TallyWords()+".")
	}
	for _, words := range d.MissingWords() {
		lines = append(lines, "Not here: "+words+".")
	}
	return lines
}

// MissingWords says which tables are missing, a line for each reason.
func (d *Document) MissingWords() []string {
	var lines []string
	for i, m := range d.Missing {
		if slices.ContainsFunc(d.Missing[:i], func(x Missing) bool { return x.Why == m.Why }) {
			continue
		}
		var numbers []string
		for _, x := range d.Missing[i:] {
			if x.Why == m.Why {
				numbers = append(numbers, fmt.Sprint(x.Number))
			}
		}
		word := "tables "
		if len(numbers) == 1 {
			word = "table "
		}
		lines = append(lines, word+strings.Join(numbers, ", ")+": "+m.Why)
	}
	return lines
}

func (d *Document) scoring() string {
	if j := d.Input.Summary.Judge; j != nil {
		return "by the judge " + j.Title
	}
	return "by the parser, without a judge"
}

// TallyWords counts the verdicts in words.
func (d *Document) TallyWords() string {
	var parts []string
	for _, v := range report.Verdicts() {
		parts = append(parts, report.Number(d.Tally[v])+" "+v.String())
	}
	return strings.Join(parts, ", ")
}

// ClassNotice says what the class of the data means for whoever holds the report. local says
// that it must stay on this machine.
func ClassNotice(class string) (words string, local bool) {
	switch class {
	case "synthetic":
		return "Synthetic pictures: they show no person.", false
	case "public":
		return "Made from public data.", false
	case "public_attribution":
		return "Made from public data that asks for attribution: name the data set where you show this.", false
	case "":
		class = "not stated"
	}
	return "Made from credentialed data (class " + class + "): this report stays on this machine, and is sent to no one and to no service.", true
}

// Tables returns every table of the report in order. With cells a list of its figures follows
// each of the paper's formulas.
func (d *Document) Tables(cells bool) []*report.Table {
	var out []*report.Table
	for _, s := range d.Sections {
		for i, t := range s.Tables {
			out = append(out, t)
			if cells && (!s.Pairs || i%2 == 0) {
				out = append(out, t.CellTable())
			}
		}
	}
	return out
}

// WriteMarkdown writes the report as Markdown.
func (d *Document) WriteMarkdown(w io.Writer, cells bool) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "# %s\n\n", d.Input.Summary.Name)
	for _, line := range d.head() {
		fmt.Fprintf(b, "%s\n\n", line)
	}
	for _, s := range d.Sections {
		fmt.Fprintf(b, "## %s\n\n%s\n\n", s.Title, s.Lead)
		for i, t := range s.Tables {
			if err := t.WriteMarkdown(b); err != nil {
				return err
			}
			b.WriteByte('\n')
			if cells && (!s.Pairs || i%2 == 0) {
				list := t.CellTable()
				list.Formulas, list.Notes = nil, nil // they stand above
				if err := list.WriteMarkdown(b); err != nil {
					return err
				}
				b.WriteByte('\n')
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Evaluations are those of the summary with every figure, as tables take them.
func (d *Document) Evaluations() []cxreasonbench.Evaluation { return d.evaluations }

// Cells lists what the figures in the report's tables of the paper are about.
func (d *Document) Cells() []cxreasonbench.CellRef {
	list := cxreasonbench.Cells(d.evaluations)
	if len(d.Options.Tables) == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(r cxreasonbench.CellRef) bool { return !slices.Contains(d.Options.Tables, r.Ref.Table) })
}

// WriteText writes the report for a terminal.
func (d *Document) WriteText(w io.Writer) error {
	for _, s := range d.Sections {
		for _, t := range s.Tables {
			if err := t.WriteText(w); err != nil {
				return err
			}
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// WriteCSV writes every figure of the report as a line of one CSV. A figure's line holds its
// textbook reading too, so the textbook tables are not repeated.
func (d *Document) WriteCSV(w io.Writer) error {
	var tables []*report.Table
	for _, s := range d.Sections {
		for i, t := range s.Tables {
			if !s.Pairs || i%2 == 0 {
				tables = append(tables, t)
			}
		}
	}
	return report.WriteCells(w, tables)
}

// WriteLaTeX writes every table for a document that loads report.LaTeXPackages. The head
// stands in comments.
func (d *Document) WriteLaTeX(w io.Writer, cells bool) error {
	b := &strings.Builder{}
	b.WriteString("% Needs " + report.LaTeXPackages + ".\n")
	for _, line := range d.head() {
		fmt.Fprintf(b, "%% %s\n", strings.ReplaceAll(line, "\n", " "))
	}
	for _, t := range d.Tables(cells) {
		b.WriteByte('\n')
		if err := t.WriteLaTeX(b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// money writes amounts for people.
func money(list []contract.Money) string {
	var parts []string
	for _, m := range list {
		parts = append(parts, fmt.Sprintf("%.2f %s", float64(m.Micro)/1e6, m.Currency))
	}
	return strings.Join(parts, ", ")
}
