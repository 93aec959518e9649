package overlay

import (
	"image"
	"image/color"
	"math"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"cxrepro/internal/geom"
)

// Colours with one meaning each across pictures and reports.
var (
	Red    = color.RGBA{235, 64, 52, 255}   // what is measured
	Blue   = color.RGBA{66, 150, 250, 255}  // what it is compared with
	Green  = color.RGBA{64, 200, 110, 255}  // passes, or a second side
	Amber  = color.RGBA{250, 186, 50, 255}  // reference lines
	Violet = color.RGBA{190, 120, 250, 255} // reference boxes
	White  = color.RGBA{245, 246, 248, 255}
	Ink    = color.RGBA{12, 14, 18, 255}
)

// Text is how words are set: size in canvas pixels, colour, weight, and whether a dark
// halo keeps them readable on any background.
type Text struct {
	Size   float64
	Colour color.RGBA
	Bold   bool
	Halo   bool
}

// typefaces are the compiled-in fonts: regular, and bold.
var typefaces = sync.OnceValue(func() map[bool]*opentype.Font {
	fonts := map[bool]*opentype.Font{}
	for bold, data := range map[bool][]byte{false: goregular.TTF, true: gobold.TTF} {
		f, err := opentype.Parse(data)
		if err != nil {
			panic(err) // a fault of the program; a test parses them
		}
		fonts[bold] = f
	}
	return fonts
})

type faceKey struct {
	size float64
	bold bool
}

// letters caches the faces of one canvas.
type letters struct {
	faces map[faceKey]font.Face
}

func newLetters() *letters { return &letters{faces: map[faceKey]font.Face{}} }

func (l *letters) face(t Text) font.Face {
	k := faceKey{t.Size, t.Bold}
	if f, ok := l.faces[k]; ok {
		return f
	}
	f, err := opentype.NewFace(typefaces()[t.Bold], &opentype.FaceOptions{Size: t.Size, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		panic(err)
	}
	l.faces[k] = f
	return f
}

// Width returns how wide the words will be, in canvas pixels.
func (c *Canvas) Width(words string, t Text) float64 {
	return float64(font.MeasureString(c.letters.face(t), words)) / 64
}

// Words sets words with their baseline starting at a canvas position.
func (c *Canvas) Words(x, y float64, words string, t Text) {
	face := c.letters.face(t)
	put := func(dx, dy float64, col color.RGBA) {
		d := font.Drawer{Dst: c.rgba, Src: image.NewUniform(col), Face: face,
			Dot: fixed.Point26_6{X: fixed.Int26_6(math.Round((x + dx) * 64)), Y: fixed.Int26_6(math.Round((y + dy) * 64))}}
		d.DrawString(words)
	}
	if t.Halo {
		for _, o := range [][2]float64{{-1.5, 0}, {1.5, 0}, {0, -1.5}, {0, 1.5}, {-1, -1}, {1, 1}, {-1, 1}, {1, -1}} {
			put(o[0], o[1], Ink)
		}
	}
	put(0, 0, t.Colour)
}

// Side is where a tag stands from its point.
type Side uint8

// Sides. The zero value chooses Right.
const (
	Right Side = iota
	Left
	Above
	Below
	Centre
)

// Tag sets words on a dark plate beside a source position, pushed back where it would
// leave the canvas.
func (c *Canvas) Tag(p geom.Vec, side Side, words string, t Text) {
	r := c.TagBox(p, side, words, t)
	x, y := float64(r.Min.X), float64(r.Min.Y)
	c.plate(x, y, float64(r.Dx()), float64(r.Dy()), math.Round(t.Size*0.25))
	padX, padY := tagPadding(t)
	c.Words(x+padX, y+padY+math.Round(t.Size*0.88), words, t)
}

func tagPadding(t Text) (x, y float64) { return math.Round(t.Size * 0.35), math.Round(t.Size * 0.2) }

// TagBox returns the pixels of the canvas that [Canvas.Tag] would cover, so that a caller can
// choose a side that is free.
func (c *Canvas) TagBox(p geom.Vec, side Side, words string, t Text) image.Rectangle {
	q := c.Place(p)
	w, h := c.Bounds()
	padX, padY := tagPadding(t)
	width, height := math.Ceil(c.Width(words, t))+2*padX, math.Round(t.Size*1.1)+2*padY
	gap := math.Round(t.Size * 0.65)
	x, y := q.X-width/2, q.Y-height/2
	switch side {
	case Right:
		x = q.X + gap
	case Left:
		x = q.X - gap - width
	case Above:
		y = q.Y - gap - height
	case Below:
		y = q.Y + gap
	case Centre:
	}
	x = math.Round(math.Max(2, math.Min(x, float64(w)-width-2)))
	y = math.Round(math.Max(2, math.Min(y, float64(h)-height-2)))
	return image.Rect(int(x), int(y), int(x+width), int(y+height))
}

// plate draws a dark rectangle with cut corners.
func (c *Canvas) plate(x, y, w, h, r float64) {
	x, y = x-0.5, y-0.5
	c.polygon([]geom.Vec{{X: x + r, Y: y}, {X: x + w - r, Y: y}, {X: x + w, Y: y + r}, {X: x + w, Y: y + h - r},
		{X: x + w - r, Y: y + h}, {X: x + r, Y: y + h}, {X: x, Y: y + h - r}, {X: x, Y: y + r}}, plateColour)
}

// plateColour is Ink at four fifths, premultiplied.
var plateColour = color.RGBA{10, 11, 14, 205}
