package review

import (
	"fmt"
	"html/template"

	"cxrepro/internal/chexstruct"
)

// shared is what every page shows.
type shared struct {
	Name, Paper, Rules string
	Class              string
	Notice             string
	Warn               bool
	Filter, Tasks      []link
}

type link struct{ File, Title string }

func (b *builder) shared() shared {
	sh := shared{Name: b.in.Summary.Name, Paper: b.in.Summary.Paper, Rules: b.in.Summary.Rules, Class: b.in.Plan.DataUse}
	sh.Notice, sh.Warn = classNotice(b.in.Plan.DataUse)
	for _, p := range b.plans {
		l := link{p.file, p.words.Title}
		if p.task == chexstruct.Global {
			sh.Filter = append(sh.Filter, l)
		} else {
			sh.Tasks = append(sh.Tasks, l)
		}
	}
	return sh
}

// classNotice says what the data's class means for whoever holds the sheet.
func classNotice(class string) (words string, warn bool) {
	switch class {
	case "synthetic":
		return "Synthetic pictures: they show no person.", false
	case "public":
		return "Made from public data.", false
	case "public_attribution":
		return "Made from public data that asks for attribution: name the data set where you show these pictures.", false
	}
	if class == "" {
		class = "not stated"
	}
	return "Made from credentialed data (class " + class + "): it must not leave this machine, be passed on, or be sent to any service.", true
}

// pageData is what the template of a page of tiles sees.
type pageData struct {
	shared
	File, Title, Question, How, Limit string
	Legend                            []swatch
	Total                             int
	TotalWords                        string
	Strata                            []stratumData
	Ranges                            []rangeData
	Contact                           string
	RangeFile                         string
	Filtering                         bool
}

type stratumData struct {
	Name, Badge, Tone string
	Total             int
	Share             float64
	Shown             int
	Tiles             []*tile
}

type rangeData struct {
	Name, Part, What, Must, Counts string
	// Pass and Fail are what the two parts of a range's count are called.
	Pass, Fail string
	Plot       template.HTML
	Bins       []binData
}

type binData struct {
	Low, High  string
	Pass, Fail int
	Tiles      []*tile
}

// write renders every page once its tiles are made.
func (b *builder) write() error {
	sh := b.shared()
	for _, p := range b.plans {
		if err := b.writePage(sh, p); err != nil {
			return fmt.Errorf("page %s: %w", p.file, err)
		}
	}
	if err := b.writeIndex(sh); err != nil {
		return err
	}
	if err := b.sink.Put("verdicts.csv", b.verdictForm()); err != nil {
		return err
	}
	return b.sink.Put("style.css", styleCSS)
}

func (b *builder) writePage(sh shared, p *pagePlan) error {
	d := pageData{shared: sh, File: p.file, Title: p.words.Title, Question: p.words.Question, How: p.words.How, Legend: p.words.Legend, Filtering: p.task == chexstruct.Global}
	if d.Filtering {
		d.Limit, d.TotalWords = "passes: "+b.limits.must(p.rule), "images"
		d.Ranges = b.rangeData(p)
	} else {
		d.Limit, d.TotalWords = b.limits.limit(p.task, 0), "images kept by the global filter"
		d.RangeFile = "ranges-" + p.file
	}
	for _, st := range p.strata {
		d.Total += st.total
	}
	for _, st := range p.strata {
		sd := stratumData{Name: st.name, Badge: st.badge, Tone: st.tone, Total: st.total, Shown: len(st.shown)}
		if d.Total > 0 {
			sd.Share = float64(st.total) / float64(d.Total)
		}
		for _, id := range st.shown {
			sd.Tiles = append(sd.Tiles, b.maker.tiles[id])
		}
		d.Strata = append(d.Strata, sd)
	}
	if ids := p.contact(); len(ids) > 0 {
		d.Contact = "contact/" + p.file[:len(p.file)-len(".html")] + ".png"
		tiles := make([]*tile, len(ids))
		for i, id := range ids {
			tiles[i] = b.maker.tiles[id]
		}
		data, err := contactFor(b.o.side).sheet(p.words.Title+": "+p.words.Question, sh.Name+", rules "+sh.Rules+". "+sh.Notice, tiles)
		if err != nil {
			return err
		}
		if err := b.sink.Put(d.Contact, data); err != nil {
			return err
		}
	}
	if err := b.render(p.file, "page.html", d); err != nil {
		return err
	}
	if d.Filtering {
		return nil
	}
	d.Ranges = b.rangeData(p)
	return b.render(d.RangeFile, "ranges.html", d)
}

func (b *builder) rangeData(p *pagePlan) []rangeData {
	var out []rangeData
	for _, r := range p.ranges {
		out = append(out, b.oneRange(r))
	}
	return out
}

func (b *builder) oneRange(r rangePlan) rangeData {
	d := rangeData{
		Name: r.key.name(), Part: r.key.partName(), What: upperFirst(r.key.what()), Must: "Must be " + b.limits.seriesMust(r.key),
		Pass: "pass", Fail: "fail",
	}
	if r.key.rule == 0 {
		d.Must, d.Pass, d.Fail = "Label: "+b.limits.seriesMust(r.key), "labelled", "without label"
	}
	d.Counts = countText(b.scan.series[r.key], d.Pass, d.Fail)
	d.Plot = template.HTML(histogram(r.bins, b.limits.lines(r.key), d.Pass, d.Fail)) // of our own numbers only
	for i, n := range r.bins {
		bd := binData{Low: figureText(n.Low), High: figureText(n.High), Pass: n.Pass, Fail: n.Fail}
		for _, id := range r.shown[i] {
			bd.Tiles = append(bd.Tiles, b.maker.tiles[id])
		}
		d.Bins = append(d.Bins, bd)
	}
	return d
}

// indexData is what the overview's template sees.
type indexData struct {
	shared
	Account string
	Tables  []template.HTML
	Cards   []card
	Unseen  int
	Most    int
}

// card is one page on the overview.
type card struct {
	File, RangeFile, Title, Question string
	Total                            int
	Filtering                        bool
	Strata                           []stratumData
}

func (b *builder) writeIndex(sh shared) error {
	d := indexData{shared: sh, Account: Account(b.in.Summary), Unseen: len(b.maker.gone), Most: b.o.PerStratum}
	for _, t := range Tables(b.in.Summary) {
		d.Tables = append(d.Tables, template.HTML(t.HTML())) // escaped by the table itself
	}
	for _, p := range b.plans {
		c := card{File: p.file, Title: p.words.Title, Question: p.words.Question, Filtering: p.task == chexstruct.Global}
		if !c.Filtering {
			c.RangeFile = "ranges-" + p.file
		}
		for _, st := range p.strata {
			c.Total += st.total
		}
		for _, st := range p.strata {
			if st.total > 0 {
				c.Strata = append(c.Strata, stratumData{Name: st.name, Badge: st.badge, Tone: st.tone, Total: st.total, Share: float64(st.total) / float64(c.Total)})
			}
		}
		d.Cards = append(d.Cards, c)
	}
	return b.render("index.html", "index.html", d)
}

// verdictForm is a table for a reviewer to fill in: every shown case of every task.
func (b *builder) verdictForm() []byte {
	rows := []Verdict{}
	seen := map[[2]int]bool{}
	for _, p := range b.plans {
		if p.task == chexstruct.Global {
			continue
		}
		for _, st := range p.strata {
			for _, id := range st.shown {
				t := b.maker.tiles[id]
				if key := [2]int{t.Case, int(p.task)}; !seen[key] {
					seen[key] = true
					rows = append(rows, Verdict{Case: t.Case, Task: p.task})
				}
			}
		}
	}
	return encodeVerdicts(rows)
}
