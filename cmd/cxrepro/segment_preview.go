package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"strings"

	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
)

// Sizes of an overlay picture, in pixels.
const (
	previewSide   = 1024 // longer side of the radiograph
	previewLegend = 216  // width of the strip at its right
	previewLine   = 2.2  // width of an outline
	previewFew    = 60   // above so many structures only those that the tasks use are drawn
)

// A previewGroup is drawn in one colour; the first group that takes a structure has it.
type previewGroup struct {
	title string
	takes func(name string) bool
	line  color.RGBA
	fill  float64 // opacity of the area
}

func named(parts ...string) func(string) bool {
	return func(name string) bool {
		for _, p := range parts {
			if strings.Contains(name, p) {
				return true
			}
		}
		return false
	}
}

var previewGroups = []previewGroup{
	{"lungs", func(n string) bool { return strings.HasSuffix(n, "lung") || strings.Contains(n, "lobe") }, color.RGBA{90, 190, 255, 255}, 0.10},
	{"heart", named("heart", "ventricle", "atrium"), color.RGBA{255, 95, 95, 255}, 0.16},
	{"aorta", named("aort"), color.RGBA{255, 150, 70, 255}, 0.16},
	{"trachea", named("trachea"), color.RGBA{60, 235, 215, 255}, 0.12},
	{"mediastinum", named("mediastin"), color.RGBA{255, 205, 90, 255}, 0},
	{"diaphragm", named("diaphragm"), color.RGBA{255, 120, 200, 255}, 0.08},
	{"vertebrae", named("vertebra", "spine"), color.RGBA{235, 235, 235, 255}, 0},
	{"clavicles", named("clavicle"), color.RGBA{130, 220, 130, 255}, 0.10},
	{"scapulae", named("scapula"), color.RGBA{195, 140, 255, 255}, 0.06},
	{"ribs", named("rib"), color.RGBA{240, 240, 130, 255}, 0},
	{"other", func(string) bool { return true }, color.RGBA{150, 170, 180, 255}, 0},
}

// drawSegmented returns a PNG of the picture with the outlines of its structures.
func drawSegmented(m *cxr.Image, masks *anatomy.Masks, title string) ([]byte, error) {
	scale := float64(previewSide) / float64(max(m.Width, m.Height))
	w, h := max(1, int(float64(m.Width)*scale+0.5)), max(1, int(float64(m.Height)*scale+0.5))
	out := image.NewRGBA(image.Rect(0, 0, w+previewLegend, max(h, 420)))
	draw.Draw(out, out.Bounds(), image.NewUniform(color.RGBA{18, 20, 24, 255}), image.Point{}, draw.Src)
	grey := &image.Gray{Pix: m.Pix, Stride: m.Width, Rect: image.Rect(0, 0, m.Width, m.Height)}
	xdraw.BiLinear.Scale(out, image.Rect(0, 0, w, h), grey, grey.Bounds(), draw.Src, nil)

	shown := masks.Present()
	note := ""
	if shown.Len() > previewFew {
		note = fmt.Sprintf("%d found; drawn: those the tasks use", shown.Len())
		shown = shown.And(anatomy.TaskSet())
	}
	counts := make([]int, len(previewGroups))
	for g := len(previewGroups) - 1; g >= 0; g-- { // lungs and heart last, on top
		for _, s := range shown.List() {
			if groupOf(s.Name()) == g {
				counts[g]++
				outline(out, w, h, masks, s, previewGroups[g])
			}
		}
	}
	if err := drawLegend(out, w, title, note, masks, counts); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, out); err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	return b.Bytes(), nil
}

func groupOf(name string) int {
	for i, g := range previewGroups {
		if g.takes(name) {
			return i
		}
	}
	return len(previewGroups) - 1
}

// outline blends one structure's area and edge into the picture. The mask's grid is
// coarser than the picture: its edge is the half-way line of the mask smoothed over three
// grid pixels, drawn with the distance to it as its own antialiasing.
func outline(out *image.RGBA, w, h int, masks *anatomy.Masks, s anatomy.Structure, g previewGroup) {
	f := newField(masks, s)
	box, ok := masks.Mask(s).Box()
	if !ok {
		return
	}
	sx, sy := float64(masks.GridW)/float64(w), float64(masks.GridH)/float64(h)
	x0, x1 := max(0, int(float64(box.X0-2)/sx)), min(w-1, int(float64(box.X1+3)/sx))
	y0, y1 := max(0, int(float64(box.Y0-2)/sy)), min(h-1, int(float64(box.Y1+3)/sy))
	for y := y0; y <= y1; y++ {
		for x := x0; x <= x1; x++ {
			gx, gy := (float64(x)+0.5)*sx-0.5, (float64(y)+0.5)*sy-0.5
			v := f.at(gx, gy)
			dx, dy := (f.at(gx+0.5, gy)-f.at(gx-0.5, gy))*sx, (f.at(gx, gy+0.5)-f.at(gx, gy-0.5))*sy
			opacity := 0.0
			if v > 0.5 {
				opacity = g.fill
			}
			if slope := math.Hypot(dx, dy); slope > 1e-6 {
				distance := math.Abs(v-0.5) / slope
				opacity = max(opacity, 0.92*min(1, max(0, previewLine/2+0.5-distance)))
			}
			if opacity > 0 {
				blend(out, x, y, g.line, opacity)
			}
		}
	}
}

func blend(out *image.RGBA, x, y int, c color.RGBA, opacity float64) {
	p := out.Pix[out.PixOffset(x, y):]
	for i, v := range [3]uint8{c.R, c.G, c.B} {
		p[i] = uint8(float64(p[i])*(1-opacity) + float64(v)*opacity + 0.5)
	}
}

// field is a mask smoothed over 3 x 3 grid pixels, read between them.
type field struct {
	w, h int
	v    []float64
}

func newField(masks *anatomy.Masks, s anatomy.Structure) field {
	m := masks.Mask(s)
	f := field{w: masks.GridW, h: masks.GridH, v: make([]float64, masks.GridW*masks.GridH)}
	for y := range f.h {
		for _, r := range m.Row(y) {
			for x := max(0, int(r.X0)-1); x < min(f.w, int(r.X1)+1); x++ {
				n := min(x+2, int(r.X1)) - max(x-1, int(r.X0)) // run pixels among x-1, x, x+1
				for dy := -1; dy <= 1; dy++ {
					if yy := y + dy; yy >= 0 && yy < f.h {
						f.v[yy*f.w+x] += float64(n) / 9
					}
				}
			}
		}
	}
	return f
}

func (f field) at(x, y float64) float64 {
	x, y = min(max(x, 0), float64(f.w-1)), min(max(y, 0), float64(f.h-1))
	i, j := int(x), int(y)
	i2, j2 := min(i+1, f.w-1), min(j+1, f.h-1)
	fx, fy := x-float64(i), y-float64(j)
	top := f.v[j*f.w+i]*(1-fx) + f.v[j*f.w+i2]*fx
	bottom := f.v[j2*f.w+i]*(1-fx) + f.v[j2*f.w+i2]*fx
	return top*(1-fy) + bottom*fy
}

// drawLegend names the colours at the right of the picture.
func drawLegend(out *image.RGBA, x0 int, title, note string, masks *anatomy.Masks, counts []int) error {
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return fmt.Errorf("overlay: font: %w", err)
	}
	large, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 17, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		return fmt.Errorf("overlay: font: %w", err)
	}
	defer large.Close()
	small, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 13, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		return fmt.Errorf("overlay: font: %w", err)
	}
	defer small.Close()
	text := func(face font.Face, x, y int, c color.Color, s string) {
		d := font.Drawer{Dst: out, Src: image.NewUniform(c), Face: face, Dot: fixed.P(x, y)}
		d.DrawString(s)
	}
	bright, dim := color.RGBA{235, 238, 242, 255}, color.RGBA{150, 158, 168, 255}
	x, y := x0+16, 32
	text(large, x, y, bright, title)
	y += 22
	text(small, x, y, dim, fmt.Sprintf("%d of %d structures found", masks.Present().Len(), masks.Declared.Len()))
	if note != "" {
		y += 18
		text(small, x, y, dim, note)
	}
	y += 30
	for i, g := range previewGroups {
		if counts[i] == 0 {
			continue
		}
		draw.Draw(out, image.Rect(x, y-9, x+22, y-5), image.NewUniform(g.line), image.Point{}, draw.Src)
		text(large, x+34, y, bright, g.title)
		text(small, x+150, y, dim, fmt.Sprint(counts[i]))
		y += 26
	}
	text(small, x, y+14, dim, "R: the patient's right")
	text(small, x, y+32, dim, "is the picture's left")
	return nil
}
