package review

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cxrepro/activities"
	"cxrepro/internal/chexstruct"
)

// UnknownRuleError reports a name that is no rule with values in a reproduction.
type UnknownRuleError struct {
	Name string
	// Known are the names that have values.
	Known []string
}

func (e *UnknownRuleError) Error() string {
	return fmt.Sprintf("no rule called %q has values in this reproduction; there are: %s", e.Name, strings.Join(e.Known, ", "))
}

// homeOf are the tasks on whose drawings the shared rules are shown.
var homeOf = map[string]chexstruct.Task{
	"trachea":          chexstruct.TracheaDeviation,
	"descending_aorta": chexstruct.DescendingAortaEnlargement,
}

// find returns the series of a name: a rule ("trachea.width_std"), a task's own index
// ("cardiomegaly.label"), either with "/part" behind it for one of two figures. A rule of
// several tasks is taken from the task that it is named after.
func (s *scan) find(name string) ([]seriesKey, error) {
	var found []seriesKey
	known := map[string]bool{}
	for k := range s.series {
		known[k.name()] = true
		full := k.name()
		bare, _, _ := strings.Cut(full, "/")
		if full == name || bare == name {
			found = append(found, k)
		}
	}
	if len(found) == 0 {
		e := &UnknownRuleError{Name: name}
		for k := range known {
			e.Known = append(e.Known, k)
		}
		slices.Sort(e.Known)
		return nil, e
	}
	first, _, _ := strings.Cut(name, ".")
	home, ok := chexstruct.ParseTask(first)
	if !ok {
		home = homeOf[first]
	}
	task := found[0].task
	for _, k := range found {
		if k.task == home {
			task = home
		} else if task != home {
			task = min(task, k.task)
		}
	}
	found = slices.DeleteFunc(found, func(k seriesKey) bool { return k.task != task })
	slices.SortFunc(found, func(a, b seriesKey) int { return a.part - b.part })
	return found, nil
}

// RuleMade says what a page of one rule consists of.
type RuleMade struct {
	Made
	// Labels is the table to fill in, one line per shown case and range.
	Labels []byte
}

// BuildRule writes one page that shows examples per value range of one rule, and the table
// for a reviewer to fill in.
//
// Source: [paper A.4.1], review of thresholds by value ranges.
// Errors: *UnknownRuleError; those of Build.
func BuildRule(ctx context.Context, in activities.ReportInput, name string, sink Sink, o Options) (RuleMade, error) {
	s, err := readAll(ctx, in)
	if err != nil {
		return RuleMade{}, err
	}
	keys, err := s.find(name)
	if err != nil {
		return RuleMade{}, err
	}
	o = o.withDefaults(6)
	b := &builder{in: in, scan: s, sink: sink, o: o, limits: limits{in.Rules}, maker: newMaker(in, s, sink, o.side)}
	p := &pagePlan{file: "index.html", task: keys[0].task, rule: 0}
	p.words = taskText[p.task]
	if p.task == chexstruct.Global {
		p.rule = keys[0].rule
		p.words = filterText[p.rule]
	}
	for _, k := range keys {
		p.ranges = append(p.ranges, b.rangeOf(p, k))
	}
	if err := b.maker.run(ctx); err != nil {
		return RuleMade{}, err
	}
	d := pageData{shared: b.shared(), File: p.file, Title: name, Question: p.words.Title + ": " + p.words.Question, How: p.words.How, Legend: p.words.Legend}
	for _, r := range p.ranges {
		d.Ranges = append(d.Ranges, b.oneRange(r))
	}
	if err := b.render(p.file, "rule.html", d); err != nil {
		return RuleMade{}, err
	}
	made := RuleMade{Made: Made{Pages: b.pages, Tiles: len(b.maker.tiles), Unseen: len(b.maker.gone)}, Labels: b.labelForm(p)}
	if err := sink.Put("style.css", styleCSS); err != nil {
		return RuleMade{}, err
	}
	return made, sink.Put("labels.csv", made.Labels)
}

// labelForm is the table to fill in for the cases of a page.
func (b *builder) labelForm(p *pagePlan) []byte {
	var rows []RangeLabel
	for _, r := range p.ranges {
		for i, n := range r.bins {
			for _, id := range r.shown[i] {
				v, pass, _ := b.scan.series[r.key].value(id.ordinal)
				rows = append(rows, RangeLabel{Rule: r.key.name(), Bin: i + 1, Low: n.Low, High: n.High, Case: b.maker.tiles[id].Case, Value: v, Pass: pass})
			}
		}
	}
	return encodeLabels(rows)
}
