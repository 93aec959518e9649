package review

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"cxrepro/activities"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/geom"
	"cxrepro/internal/overlay"
)

// tileID names a tile: an image and a diagnostic task, or Global and a filter step.
type tileID struct {
	ordinal int
	task    chexstruct.Task
	rule    chexstruct.Rule
}

// tile is one case on one page.
type tile struct {
	Case int
	View string
	// Base and Layer are files of the sheet; both are Width x Height pixels.
	Base, Layer   string
	Width, Height int
	// Gone says why there is no picture; empty when there is one.
	Gone    string
	Part    bool
	Removed bool
	Verdict verdict
	// Small is the tile flattened and reduced, for contact sheets.
	small *overlay.Canvas
}

// Name is how people speak of the case.
func (t *tile) Name() string { return fmt.Sprintf("Case %d", t.Case) }

// maker makes the tiles that pages asked for, each once.
type maker struct {
	in     activities.ReportInput
	scan   *scan
	sink   Sink
	limits limits
	wanted map[tileID]bool
	tiles  map[tileID]*tile
	// contact are the tiles whose reduced form is kept.
	contact map[tileID]bool
	gone    map[int]bool
	// side is the longer side of a tile in pixels.
	side int
}

func newMaker(in activities.ReportInput, s *scan, sink Sink, side int) *maker {
	return &maker{in: in, scan: s, sink: sink, side: side, limits: limits{in.Rules}, wanted: map[tileID]bool{}, tiles: map[tileID]*tile{}, contact: map[tileID]bool{}, gone: map[int]bool{}}
}

func (m *maker) want(ids ...tileID) {
	for _, id := range ids {
		m.wanted[id] = true
	}
}

// product is what one image gave: files in order, and tiles.
type product struct {
	names []string
	files map[string][]byte
	ids   []tileID
	tiles []*tile
}

func (p *product) put(name string, data []byte) {
	if _, dup := p.files[name]; !dup {
		p.names = append(p.names, name)
		p.files[name] = data
	}
}

// run makes every wanted tile. Images are worked on side by side; files are written in the
// order of the images.
func (m *maker) run(ctx context.Context) error {
	byImage := map[int][]tileID{}
	for id := range m.wanted {
		byImage[id.ordinal] = append(byImage[id.ordinal], id)
	}
	ordinals := make([]int, 0, len(byImage))
	for o, ids := range byImage {
		ordinals = append(ordinals, o)
		slices.SortFunc(ids, func(a, b tileID) int {
			if a.task != b.task {
				return int(a.task) - int(b.task)
			}
			return int(a.rule) - int(b.rule)
		})
	}
	slices.Sort(ordinals)
	side := max(1, runtime.GOMAXPROCS(0))
	for batch := range slices.Chunk(ordinals, 4*side) {
		made := make([]*product, len(batch))
		entries, err := m.entries(ctx, batch)
		if err != nil {
			return err
		}
		g, gctx := errgroup.WithContext(ctx)
		g.SetLimit(side)
		for i, o := range batch {
			g.Go(func() (err error) {
				if err := gctx.Err(); err != nil {
					return err
				}
				made[i], err = m.image(gctx, entries[i], byImage[o])
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		for _, p := range made {
			for _, name := range p.names {
				if err := m.sink.Put(name, p.files[name]); err != nil {
					return err
				}
			}
			for k, id := range p.ids {
				m.tiles[id] = p.tiles[k]
				if p.tiles[k].Gone != "" {
					m.gone[p.tiles[k].Case] = true
				}
			}
		}
	}
	return nil
}

// entries loads the entries of ordinals, which are sorted, window by window.
func (m *maker) entries(ctx context.Context, ordinals []int) ([]contract.Entry, error) {
	out := make([]contract.Entry, len(ordinals))
	loaded := -1
	var w activities.ReportWindow
	for i, o := range ordinals {
		n, k := m.scan.window(o)
		if n != loaded {
			var err error
			if w, err = m.in.Window(ctx, n); err != nil {
				return nil, err
			}
			loaded = n
		}
		out[i] = w.Entries[k]
	}
	return out, nil
}

// image makes the tiles of one image.
func (m *maker) image(ctx context.Context, e contract.Entry, ids []tileID) (*product, error) {
	sections := []chexstruct.Task{chexstruct.Global}
	for _, id := range ids {
		if id.task.Diagnostic() {
			sections = append(sections, id.task)
		}
	}
	o, err := open(ctx, m.in, e, sections)
	if err != nil {
		return nil, err
	}
	p := &product{files: map[string][]byte{}}
	wholeBase := &drawn{}
	for _, id := range ids {
		t, err := m.tile(o, id, p, wholeBase)
		if err != nil {
			return nil, fmt.Errorf("tile of image %s: %w", e.Image.Short(), err)
		}
		p.ids, p.tiles = append(p.ids, id), append(p.tiles, t)
		m.in.Progress()
	}
	return p, nil
}

// drawn is the base of the whole picture, which several tiles of an image share.
type drawn struct{ base *overlay.Base }

func (m *maker) tile(o *opened, id tileID, p *product, shared *drawn) (*tile, error) {
	view, _ := cxr.ParseView(o.entry.View)
	t := &tile{Case: o.entry.Case, View: o.entry.View, Gone: o.why, Removed: !o.res.Global.Keep()}
	name := fmt.Sprintf("img/case-%d", o.entry.Case)
	part := whole(&o.in)
	suffix := ""
	if id.task.Diagnostic() {
		f := o.res.Finding(id.task)
		part = figures[id.task].part(&o.in, f)
		t.Verdict = m.limits.verdict(f, view)
		suffix = "-" + id.task.String()
	} else {
		t.Verdict = m.limits.filterVerdict(o.res.Global, id.rule)
		suffix = "-" + fileOf(id.rule)
	}
	base, err := m.base(o, part, shared)
	if err != nil {
		return nil, err
	}
	t.Part = part != whole(&o.in)
	t.Base, t.Layer = name+".jpg", name+suffix+".png"
	if t.Part {
		t.Base = name + suffix + ".jpg"
	}
	layer := o.draw(base, part, id)
	t.Width, t.Height = base.Bounds()
	if _, dup := p.files[t.Base]; !dup {
		data, err := base.JPEG(jpegQuality)
		if err != nil {
			return nil, err
		}
		p.put(t.Base, data)
	}
	data, err := layer.LayerPNG()
	if err != nil {
		return nil, err
	}
	p.put(t.Layer, data)
	if m.contact[id] {
		t.small, err = contactFor(m.side).reduced(base, layer)
	}
	return t, err
}

func (m *maker) base(o *opened, part geom.Box, shared *drawn) (*overlay.Base, error) {
	if part != whole(&o.in) {
		return o.base(part, m.side)
	}
	if shared.base == nil {
		var err error
		if shared.base, err = o.base(part, m.side); err != nil {
			return nil, err
		}
	}
	return shared.base, nil
}
