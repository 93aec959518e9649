package review

import (
	"fmt"
	"image/color"
	"strings"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/overlay"
)

// contactColumns and contactMost are how many tiles stand in a row and on a sheet.
const (
	contactColumns = 6
	contactMost    = 12
)

// contactLayout is the layout of a contact sheet, in pixels, in proportion to the tiles.
type contactLayout struct {
	width, picture, height, margin, head int
	scale                                float64
}

func contactFor(side int) contactLayout {
	s := float64(side) / tileSide
	px := func(v float64) int { return int(v*s + 0.5) }
	return contactLayout{width: px(232), picture: px(264), height: px(340), margin: px(24), head: px(74), scale: s}
}

// Colours of a contact sheet's ground and words, and of the tones of verdicts.
var (
	paper       = color.RGBA{250, 250, 248, 255}
	ink         = color.RGBA{28, 30, 34, 255}
	inkSoft     = color.RGBA{92, 96, 104, 255}
	toneColours = map[string]color.RGBA{
		toneNormal: {46, 125, 90, 255}, toneFinding: {178, 58, 72, 255}, toneSecond: {42, 111, 151, 255}, toneFailed: {183, 121, 31, 255},
		toneOpen: {94, 96, 176, 255}, toneAbsent: {122, 126, 134, 255},
	}
)

// reduced flattens a tile to the size of a contact sheet.
func (l contactLayout) reduced(base *overlay.Base, layer *overlay.Canvas) (*overlay.Canvas, error) {
	full := base.Canvas()
	if err := full.Lay(layer); err != nil {
		return nil, err
	}
	w, h := full.Bounds()
	width, height := l.width, max(1, l.width*h/w)
	if height > l.picture {
		width, height = max(1, l.picture*w/h), l.picture
	}
	out := overlay.Blank(width, height, overlay.Ink)
	out.Paste(0, 0, width, height, full)
	return out, nil
}

// sheet sets the tiles in rows with case number, outcome and measurement below each, on one
// picture.
func (l contactLayout) sheet(title, subtitle string, tiles []*tile) ([]byte, error) {
	rows := max(1, (len(tiles)+contactColumns-1)/contactColumns)
	c := overlay.Blank(2*l.margin+contactColumns*l.width+(contactColumns-1)*l.margin, l.head+rows*l.height, paper)
	words := func(x, y, size float64, text string, col color.RGBA, bold bool) {
		c.Words(x, y, text, overlay.Text{Size: size * l.scale, Colour: col, Bold: bold})
	}
	words(float64(l.margin), 38*l.scale, 24, title, ink, true)
	words(float64(l.margin), 60*l.scale, 14, subtitle, inkSoft, false)
	for i, t := range tiles {
		x := l.margin + (i%contactColumns)*(l.width+l.margin)
		y := l.head + (i/contactColumns)*l.height
		w, h := t.small.Bounds()
		c.Fill(x, y, l.width, l.picture, overlay.Ink)
		c.Paste(x+(l.width-w)/2, y+(l.picture-h)/2, w, h, t.small)
		c.Fill(x, y+l.picture, l.width, max(1, int(4*l.scale)), toneColours[t.Verdict.Tone])
		below := float64(y + l.picture)
		words(float64(x), below+26*l.scale, 15, fmt.Sprintf("%s (%s): %s", t.Name(), t.View, t.Verdict.Badge), ink, true)
		for n, line := range wrap(c, t.Verdict.brief(), float64(l.width), overlay.Text{Size: 13 * l.scale, Colour: inkSoft}, 2) {
			words(float64(x), below+float64(44+17*n)*l.scale, 13, line, inkSoft, false)
		}
	}
	return c.PNG()
}

// brief is the most telling sentence of a verdict.
func (v *verdict) brief() string {
	switch {
	case v.Why != "":
		return v.Why
	case v.Failed > 0:
		return v.Checks[0].Rule + " " + v.Checks[0].Value
	}
	return v.Measured
}

// wrap breaks words into at most most lines of a width; the last one ends in dots when
// words are left.
func wrap(c *overlay.Canvas, words string, width float64, t overlay.Text, most int) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(words) {
		next := w
		if line != "" {
			next = line + " " + w
		}
		if c.Width(next, t) <= width || line == "" {
			line = next
			continue
		}
		if len(lines) == most-1 {
			return append(lines, line+" ...")
		}
		lines, line = append(lines, line), w
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// fileOf is a rule's name as part of a file name.
func fileOf(r chexstruct.Rule) string {
	name := []byte(r.String())
	for i, b := range name {
		if b == '.' {
			name[i] = '-'
		}
	}
	return string(name)
}
