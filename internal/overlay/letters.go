package overlay

import (
	"image"
	"image/color"
	"math"

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
	data := goregular.TTF
	if t.Bold {
		data = gobold.TTF
	}
	parsed, err := opentype.Parse(data)
	if err != nil {
		panic(err) // the fonts are compiled in
	}
	f, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: t.Size, DPI: 72, Hinting: font.HintingFull})
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

// Label sets words beside a source position, on the side that stays inside the canvas.
func (c *Canvas) Label(p geom.Vec, words string, t Text) {
	q := c.Place(p)
	w, h := c.Bounds()
	width := c.Width(words, t)
	x, y := q.X+8, q.Y-6
	if x+width > float64(w)-4 {
		x = q.X - 8 - width
	}
	x = math.Max(4, x)
	y = math.Min(math.Max(t.Size+2, y), float64(h)-6)
	c.Words(x, y, words, t)
}
