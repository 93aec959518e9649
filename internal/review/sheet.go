package review

import (
	"context"

	"cxrepro/activities"
	"cxrepro/internal/chexstruct"
)

// Options say how many cases a sheet shows. Zero fields take their defaults; counts are
// over everything, whatever is shown.
type Options struct {
	// PerStratum is the most tiles of one stratum on a page. Default 12.
	PerStratum int
	// Bins is the number of value ranges. Default 8.
	Bins int
	// PerBin is the most tiles per value range. Default 1 in a whole sheet, 6 on the page
	// of one rule.
	PerBin int
	// side is the longer side of a tile; tests draw small ones.
	side int
}

func (o Options) withDefaults(perBin int) Options {
	if o.PerStratum <= 0 {
		o.PerStratum = 12
	}
	if o.Bins <= 0 {
		o.Bins = 8
	}
	if o.PerBin <= 0 {
		o.PerBin = perBin
	}
	if o.side == 0 {
		o.side = tileSide
	}
	return o
}

// Made says what a sheet consists of.
type Made struct {
	// Pages and Tiles count what was written; Unseen the cases without a picture.
	Pages, Tiles, Unseen int
}

// Build writes a review sheet: an overview, a page and a page of value ranges per task, a
// page per step of the global filter, and a contact sheet for each page of tiles.
//
// Errors: those of the input and of the sink. A picture that is out of reach is a tile that
// says so.
func Build(ctx context.Context, in activities.ReportInput, sink Sink, o Options) (Made, error) {
	s, err := readAll(ctx, in)
	if err != nil {
		return Made{}, err
	}
	return build(ctx, in, s, sink, o)
}

func build(ctx context.Context, in activities.ReportInput, s *scan, sink Sink, o Options) (Made, error) {
	o = o.withDefaults(1)
	b := &builder{in: in, scan: s, sink: sink, o: o, limits: limits{in.Rules}, maker: newMaker(in, s, sink, o.side)}
	b.plan()
	if err := b.maker.run(ctx); err != nil {
		return Made{}, err
	}
	if err := b.write(); err != nil {
		return Made{}, err
	}
	return Made{Pages: b.pages, Tiles: len(b.maker.tiles), Unseen: len(b.maker.gone)}, nil
}

// builder holds what the pages of one sheet share.
type builder struct {
	in     activities.ReportInput
	scan   *scan
	sink   Sink
	o      Options
	limits limits
	maker  *maker
	plans  []*pagePlan
	pages  int
}

// pagePlan is a page of tiles before they are made.
type pagePlan struct {
	file   string
	words  taskWords
	task   chexstruct.Task
	rule   chexstruct.Rule
	strata []stratumPlan
	ranges []rangePlan
}

type stratumPlan struct {
	name, badge, tone string
	total             int
	shown             []tileID
}

type rangePlan struct {
	key   seriesKey
	bins  []bin
	shown [][]tileID
}

// plan chooses the tiles of every page.
func (b *builder) plan() {
	for _, r := range filterRules {
		if len(b.scan.filter[r]) == 0 {
			continue // the preset does not look
		}
		p := &pagePlan{file: "filter-" + fileOf(r)[len("global-"):] + ".html", words: filterText[r], task: chexstruct.Global, rule: r}
		b.strata(p, []string{strataFailed, strataPassed}, b.scan.filter[r], func(name string) (string, string) {
			if name == strataFailed {
				return "failed", toneFailed
			}
			return "passed", toneNormal
		})
		b.plans = append(b.plans, p)
	}
	for _, t := range b.scan.tasks {
		p := &pagePlan{file: t.String() + ".html", words: taskText[t], task: t}
		b.strata(p, strataOf(t), b.scan.strata[t], func(name string) (string, string) { return stratumWords(t, name) })
		b.plans = append(b.plans, p)
	}
	for _, p := range b.plans {
		b.ranges(p)
		b.contact(p)
	}
}

func (b *builder) strata(p *pagePlan, names []string, members map[string][]int32, words func(string) (string, string)) {
	for _, name := range names {
		st := stratumPlan{name: name, total: len(members[name])}
		st.badge, st.tone = words(name)
		for _, o := range pick(members[name], b.o.PerStratum) {
			st.shown = append(st.shown, tileID{o, p.task, p.rule})
		}
		b.maker.want(st.shown...)
		p.strata = append(p.strata, st)
	}
}

// ranges plans the value ranges of a page: those of its rule, or of all rules of its task.
func (b *builder) ranges(p *pagePlan) {
	for _, key := range b.scan.keysOf(p.task) {
		if p.task == chexstruct.Global && key.rule != p.rule {
			continue
		}
		p.ranges = append(p.ranges, b.rangeOf(p, key))
	}
}

// rangeOf cuts a series into ranges and chooses the examples of each.
func (b *builder) rangeOf(p *pagePlan, key seriesKey) rangePlan {
	r := rangePlan{key: key, bins: b.scan.series[key].bins(b.o.Bins)}
	for i := range r.bins {
		var ids []tileID
		for _, o := range r.bins[i].examples(b.o.PerBin) {
			ids = append(ids, tileID{o, p.task, p.rule})
		}
		b.maker.want(ids...)
		r.shown = append(r.shown, ids)
	}
	return r
}

// contact chooses the tiles of the page's contact sheet: as many of each stratum as share
// the room evenly.
func (b *builder) contact(p *pagePlan) {
	for _, id := range p.contact() {
		b.maker.contact[id] = true
	}
}

func (p *pagePlan) contact() []tileID {
	takes := make([]int, len(p.strata))
	for room := contactMost; room > 0; {
		grown := false
		for i, st := range p.strata {
			if room > 0 && takes[i] < len(st.shown) {
				takes[i]++
				room--
				grown = true
			}
		}
		if !grown {
			break
		}
	}
	var ids []tileID
	for i, st := range p.strata {
		for _, at := range spread(len(st.shown), takes[i]) {
			ids = append(ids, st.shown[at])
		}
	}
	return ids
}
