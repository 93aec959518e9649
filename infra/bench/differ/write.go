package differ

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"

	"cxrepro/infra/bench/dense"
)

// Encode returns a case as a golden case file and its picture, both under the case's name.
func Encode(c *dense.Case) (file, picture []byte, err error) {
	f := dense.File{Format: "chexstruct-case-1", ID: c.Name, Size: [2]int{c.H, c.W}, View: &c.View, Image: c.Name + ".png",
		Boxes: map[string][]int{}, Masks: map[string][]int{}, CheXmask: map[string][]int{}}
	if c.NativeWidth > 0 {
		f.NativeWidth = &c.NativeWidth
	}
	for name, b := range c.Boxes {
		f.Boxes[name] = b[:]
	}
	for name, p := range c.Masks {
		f.Masks[name] = counts(p)
	}
	if c.CheXmask != nil {
		f.CheXmask["right lung"] = counts(c.CheXmask)
	}
	if file, err = json.Marshal(f); err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	err = png.Encode(&b, &image.Gray{Pix: c.Picture.Grey, Stride: c.W, Rect: image.Rect(0, 0, c.W, c.H)})
	return file, b.Bytes(), err
}

// counts are run lengths column by column, zeros first.
func counts(p *dense.Plane) []int {
	var out []int
	bit, n := uint8(0), 0
	for x := range p.W {
		for y := range p.H {
			if p.Pix[y*p.W+x] != bit {
				out = append(out, n)
				bit, n = 1-bit, 0
			}
			n++
		}
	}
	return append(out, n)
}
