package evaluation

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
)

//go:embed page
var pageFiles embed.FS

// pageTemplate is part of the program; a fault in it is a fault of the program, and every test
// that renders loads it.
var pageTemplate = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"number": report.Number,
}).ParseFS(pageFiles, "page/page.html"))

// pageFormat changes when a page of the same result would look different.
const pageFormat = "1"

// Mark names result and form of a page; it stands in the first kilobyte of the file, so that a
// page that is there need not be made again. A page of some tables only bears another mark.
func (d *Document) Mark() string {
	compared := "alone"
	if d.Options.Compare {
		compared = "compared"
	}
	if n := len(d.Options.Tables); n > 0 {
		compared += fmt.Sprintf(" %d tables", n)
	}
	return d.Input.Result + " " + compared + " " + pageFormat
}

// pageData is what the template sees.
type pageData struct {
	*Document
	Name, Paper    string
	Rules          string
	Notice         string
	Local          bool
	Simulated      bool
	SimulatedNames string
	Undetermined   string
	Facts          []fact
	Verdicts       []verdictChip
	Plots          []plot
	Funnels        []funnelGroup
	BothSamplings  bool
	PaperTables    []pageTable
	Others         []pageSection
	Script         template.JS
	Style          template.CSS
	Data           template.JS
	Transcripts    *Transcripts
}

type fact struct{ Name, Value string }

type verdictChip struct {
	Class, Sign, Words string
	N                  int
}

type plot struct {
	Title string
	SVG   template.HTML
}

type funnelGroup struct {
	Model, Sampling, Class string
	Simulated              bool
	Plots                  []plot
}

type pageTable struct {
	ID, Title, Short string
	Open             bool
	HTML             template.HTML
}

type pageSection struct {
	ID, Title, Lead string
	Tables          []pageTable
}

// WriteHTML writes the report as one HTML file. Nothing in it refers to anything outside it.
// Without transcripts the page has none to browse.
func (d *Document) WriteHTML(w io.Writer, t *Transcripts) error {
	data := d.pageData(t)
	script, err := pageFiles.ReadFile("page/page.js")
	if err != nil {
		return err
	}
	style, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return err
	}
	data.Script, data.Style = template.JS(script), template.CSS(style) // our own files
	if t != nil {
		text, err := json.Marshal(t) // escapes <, > and &
		if err != nil {
			return err
		}
		data.Data = template.JS(text)
	}
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, data); err != nil {
		return fmt.Errorf("render the report: %w", err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

func (d *Document) pageData(t *Transcripts) *pageData {
	s := d.Input.Summary
	data := &pageData{
		Document: d, Name: s.Name, Paper: s.Paper, Rules: s.Rules.String(),
		Simulated: d.Simulated(), Transcripts: t, Undetermined: cxreasonbench.UndeterminedWords(d.undeterminedCases()),
	}
	data.Notice, data.Local = ClassNotice(s.Benchmark.DataUse)
	var names []string
	for i, e := range s.Evaluations {
		if name := e.Model.Title; d.simulated(i) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	data.SimulatedNames = strings.Join(names, ", ")
	data.Facts = d.facts()
	if d.Options.Compare {
		for _, v := range report.Verdicts() {
			data.Verdicts = append(data.Verdicts, verdictChip{strings.ReplaceAll(v.String(), " ", "-"), v.Sign(), v.String(), d.Tally[v]})
		}
	}
	d.charts(data)
	for _, sec := range d.Sections {
		if sec.Pairs {
			data.PaperTables = paperTables(sec)
			continue
		}
		out := pageSection{ID: sec.ID, Title: sec.Title, Lead: sec.Lead}
		for _, t := range sec.Tables {
			bare := *t
			bare.Title = ""
			out.Tables = append(out.Tables, pageTable{ID: "table-" + t.Name, Title: t.Title, Open: len(t.Rows) <= longRows, HTML: template.HTML(bare.Grid())}) // escaped by the table itself
		}
		data.Others = append(data.Others, out)
	}
	return data
}

// longRows is the number of rows up to which a table is unfolded.
const longRows = 40

// paperTables are the tables in the paper's formulas; the textbook's readings are in their
// cells. The summaries are open, the others unfold.
func paperTables(sec Section) []pageTable {
	var out []pageTable
	for i := 0; i < len(sec.Tables); i += 2 {
		t := *sec.Tables[i]
		title := t.Title
		t.Title = ""
		short, _, _ := strings.Cut(strings.TrimPrefix(title, "Table "), ".")
		open := len(sec.Tables) <= 6 || i < 4
		out = append(out, pageTable{ID: t.Name, Title: title, Short: short, Open: open, HTML: template.HTML(t.Grid())}) // escaped by the table itself
	}
	return out
}

// charts draws the overview and the funnels.
func (d *Document) charts(data *pageData) {
	paths := map[cxreasonbench.Path]bool{}
	for i := range d.evaluations {
		e := &d.evaluations[i]
		model, sampling := label(&d.Input.Summary.Evaluations[i])
		g := funnelGroup{Model: model, Sampling: sampling, Class: "greedy", Simulated: e.Simulated}
		if e.Sampling == cxreasonbench.Stochastic {
			g.Class = "draws"
		}
		data.BothSamplings = data.BothSamplings || i > 0 && e.Sampling != d.evaluations[0].Sampling
		for _, p := range e.Paths {
			paths[p.Path] = true
			title := cxreasonbench.PathTitle(p.Path)
			g.Plots = append(g.Plots, plot{title, Funnel(model+", "+sampling+", "+title, p)})
		}
		data.Funnels = append(data.Funnels, g)
	}
	for _, p := range cxreasonbench.Paths() {
		if paths[p] {
			data.Plots = append(data.Plots, plot{cxreasonbench.PathTitle(p), d.Dots(p)})
		}
	}
}

// facts are the lines of the overview.
func (d *Document) facts() []fact {
	s := d.Input.Summary
	list := []fact{
		{"rules", s.Rules.String()},
		{"benchmark", fmt.Sprintf("%s cases, %s, rules %s", report.Number(s.Benchmark.Cases), s.Benchmark.Source, s.Benchmark.Rules)},
		{"scored", d.scoring()},
		{"data use", s.Benchmark.DataUse},
		{"intervals", fmt.Sprintf("95 %% bootstrap over cases, %s resamples", report.Number(s.Bootstrap))},
	}
	if d.Input.Reproduction != "" {
		list = append(list, fact{"reproduction", d.Input.Reproduction}, fact{"result", d.Input.Result})
	}
	if c := d.Input.Calls; c != nil {
		list = append(list, fact{"calls", fmt.Sprintf("%s needed = %s run + %s reused; %s requests sent", report.Number(c.Needed), report.Number(c.Run), report.Number(c.Reused), report.Number(c.Attempts))})
	}
	if len(d.Input.Cost) > 0 {
		list = append(list, fact{"cost", money(d.Input.Cost)})
	}
	seen := map[string]bool{}
	for _, e := range s.Evaluations {
		if !seen[e.Model.Name] {
			seen[e.Model.Name] = true
			list = append(list, fact{e.Model.Title, identityWords(e.Model)})
		}
	}
	if s.Judge != nil {
		list = append(list, fact{"judge", s.Judge.Title + ", " + identityWords(*s.Judge)})
	}
	return list
}

func identityWords(m contract.SummaryModel) string {
	id, what := m.Identity, ""
	switch {
	case !id.Weights.IsZero():
		what = "weights " + id.Weights.String()
	case id.Provider != "":
		what = id.Provider + " " + id.Snapshot
	}
	if id.Unpinned != "" {
		what = strings.TrimSpace(what + " not pinned: " + id.Unpinned)
	}
	what += ", adapter " + m.Adapter + ", pictures " + m.Pictures
	if m.Simulated {
		what += ", simulated"
	}
	return strings.TrimPrefix(what, ", ")
}
