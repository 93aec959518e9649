package review

import (
	"fmt"
	"image/color"
	"strings"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/overlay"
)

// Layout of a contact sheet, in pixels.
const (
	contactColumns = 6
	contactPicture = 264 // height of a picture
	contactWidth   = 232
	contactHeight  = 340
	contactMargin  = 24
	contactHead    = 74
	contactMost    = 12 // tiles on a sheet
)

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
func reduced(base *overlay.Base, layer *overlay.Canvas) (*overlay.Canvas, error) {
	full := base.Canvas()
	if err := full.Lay(layer); err != nil {
		return nil, err
	}
	w, h := full.Bounds()
	width, height := contactWidth, contactWidth*h/w
	if height > contactPicture {
		width, height = contactPicture*w/h, contactPicture
	}
	out := overlay.Blank(width, height, overlay.Ink)
	out.Paste(0, 0, width, height, full)
	return out, nil
}

// contactSheet sets the tiles in rows with case number, outcome and measurement below
// each, on one picture.
func contactSheet(title, subtitle string, tiles []*tile) ([]byte, error) {
	rows := max(1, (len(tiles)+contactColumns-1)/contactColumns)
	c := overlay.Blank(2*contactMargin+contactColumns*contactWidth+(contactColumns-1)*contactMargin, contactHead+rows*contactHeight, paper)
	c.Words(contactMargin, 38, title, overlay.Text{Size: 24, Colour: ink, Bold: true})
	c.Words(contactMargin, 60, subtitle, overlay.Text{Size: 14, Colour: inkSoft})
	for i, t := range tiles {
		x := contactMargin + (i%contactColumns)*(contactWidth+contactMargin)
		y := contactHead + (i/contactColumns)*contactHeight
		w, h := t.small.Bounds()
		c.Fill(x, y, contactWidth, contactPicture, overlay.Ink)
		c.Paste(x+(contactWidth-w)/2, y+(contactPicture-h)/2, w, h, t.small)
		c.Fill(x, y+contactPicture, contactWidth, 4, toneColours[t.Verdict.Tone])
		c.Words(float64(x), float64(y+contactPicture+26), fmt.Sprintf("%s (%s): %s", t.Name(), t.View, t.Verdict.Badge), overlay.Text{Size: 15, Colour: ink, Bold: true})
		small := overlay.Text{Size: 13, Colour: inkSoft}
		for n, line := range wrap(c, t.Verdict.brief(), contactWidth, small, 2) {
			c.Words(float64(x), float64(y+contactPicture+44+17*n), line, small)
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
