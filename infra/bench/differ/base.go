package differ

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"strings"

	"cxrepro/infra/bench/dense"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/phantom"
)

// Golden reads every case file of a folder.
func Golden(fsys fs.FS) ([]*dense.Case, error) {
	names, err := fs.Glob(fsys, "*.json")
	if err != nil {
		return nil, err
	}
	var out []*dense.Case
	for _, n := range names {
		if !strings.HasPrefix(path.Base(n), "open_") {
			continue
		}
		c, err := dense.ReadCase(fsys, n)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no case file open_*.json there")
	}
	return out, nil
}

// Phantoms renders n phantoms at about w pixels across, with boxes taken from the masks.
func Phantoms(seed uint64, n, w int) ([]*dense.Case, error) {
	var out []*dense.Case
	for i := range n {
		p := phantom.New(seed, i, phantom.Options{})
		fw, fh := p.Film()
		pic, err := p.Picture(w, int(float64(w)*fh/fw))
		if err != nil {
			return nil, err
		}
		c := &dense.Case{Name: fmt.Sprintf("phantom_%d_%d", seed, i), W: pic.Image.Width, H: pic.Image.Height, View: p.View().String(), NativeWidth: 2544,
			Boxes: map[string][4]int{}, Masks: map[string]*dense.Plane{}, Picture: &dense.Picture{W: pic.Image.Width, H: pic.Image.Height, Grey: pic.Image.Pix}}
		for _, s := range pic.Masks.Present().List() {
			c.Masks[s.Name()] = &dense.Plane{W: c.W, H: c.H, Pix: pic.Masks.Mask(s).Dense()}
		}
		c.Boxes["cardiac silhouette"] = boxOf(c.Masks[anatomy.Heart.Name()])
		c.Boxes["upper mediastinum"] = boxOf(c.Masks[anatomy.UpperMediastinum.Name()])
		out = append(out, c)
	}
	return out, nil
}

// boxOf is the bounding box of a mask; of nothing, the first pixel.
func boxOf(p *dense.Plane) [4]int {
	if p == nil {
		return [4]int{}
	}
	b, some := [4]int{p.W, p.H, 0, 0}, false
	for y := range p.H {
		for x := range p.W {
			if p.At(x, y) {
				b, some = [4]int{min(b[0], x), min(b[1], y), max(b[2], x), max(b[3], y)}, true
			}
		}
	}
	if !some {
		return [4]int{}
	}
	return b
}

// scaled brings a case to another grid by nearest pixels.
func scaled(c *dense.Case, w, h int) *dense.Case {
	out := &dense.Case{Name: c.Name, W: w, H: h, View: c.View, NativeWidth: c.NativeWidth, Boxes: map[string][4]int{}, Masks: map[string]*dense.Plane{}}
	xs, ys := nearest(c.W, w), nearest(c.H, h)
	pick := func(pix []uint8) []uint8 {
		small := make([]uint8, w*h)
		for y := range h {
			for x := range w {
				small[y*w+x] = pix[ys[y]*c.W+xs[x]]
			}
		}
		return small
	}
	for name, p := range c.Masks {
		out.Masks[name] = &dense.Plane{W: w, H: h, Pix: pick(p.Pix)}
	}
	if c.CheXmask != nil {
		out.CheXmask = &dense.Plane{W: w, H: h, Pix: pick(c.CheXmask.Pix)}
	}
	for name, b := range c.Boxes {
		out.Boxes[name] = [4]int{b[0] * w / c.W, b[1] * h / c.H, b[2] * w / c.W, b[3] * h / c.H}
	}
	out.Picture = &dense.Picture{W: w, H: h, Grey: pick(c.Picture.Grey)}
	return out
}

func nearest(from, to int) []int {
	at := make([]int, to)
	for i := range at {
		at[i] = (2*i + 1) * from / (2 * to)
	}
	return at
}

// names lists the masks of a case in a fixed order: those that the tasks read come first.
func names(c *dense.Case) []string {
	var out []string
	for _, s := range anatomy.All() {
		if _, ok := c.Masks[s.Name()]; ok {
			out = append(out, s.Name())
		}
	}
	return out
}

// clone copies a case deeply enough to change it.
func clone(c *dense.Case) *dense.Case {
	out := *c
	out.Boxes, out.Masks = maps.Clone(c.Boxes), map[string]*dense.Plane{}
	for name, p := range c.Masks {
		out.Masks[name] = &dense.Plane{W: p.W, H: p.H, Pix: append([]uint8(nil), p.Pix...)}
	}
	out.Picture = &dense.Picture{W: c.Picture.W, H: c.Picture.H, Grey: append([]uint8(nil), c.Picture.Grey...)}
	return &out
}

// sides picks a grid: mostly small, now and then tiny or as it was.
func sides(r *rand.Rand, c *dense.Case) (w, h int) {
	switch k := r.IntN(100); {
	case k < 4:
		return 1 + r.IntN(8), 1 + r.IntN(8)
	case k < 15:
		return 12 + r.IntN(40), 12 + r.IntN(40)
	case k < 80:
		w = 56 + r.IntN(100)
	case k < 97:
		w = 150 + r.IntN(120)
	default:
		return c.W, c.H
	}
	h = c.H * w / c.W
	if r.IntN(3) == 0 {
		h = h * (70 + r.IntN(60)) / 100
	}
	return w, max(h, 1)
}
