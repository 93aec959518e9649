package dense

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	_ "image/png" // pictures of the goldens
	"io/fs"
	"path"
)

// Case is everything the measurements need.
type Case struct {
	Name        string
	W, H        int
	View        string // "PA", "AP", anything else counts as unknown
	NativeWidth int    // 0: unknown
	Boxes       map[string][4]int
	Masks       map[string]*Plane // a name not listed is an empty mask
	CheXmask    *Plane            // right lung; nil: none
	Picture     *Picture          // nil: none
}

// Picture is an 8-bit grey image, row by row.
type Picture struct {
	W, H int
	Grey []uint8
}

// File is the layout of a golden case file. Counts are uncompressed run lengths, column by
// column, zeros first.
type File struct {
	Format      string           `json:"format"`
	ID          string           `json:"id"`
	Size        [2]int           `json:"size"` // H, W
	View        *string          `json:"view"`
	NativeWidth *int             `json:"native_width"`
	Image       string           `json:"image"`
	Boxes       map[string][]int `json:"boxes"`
	Masks       map[string][]int `json:"masks"`
	CheXmask    map[string][]int `json:"chexmask"`
}

// ReadCase reads a case file and the picture beside it.
func ReadCase(fsys fs.FS, name string) (*Case, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	var f File
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c := &Case{Name: path.Base(name), H: f.Size[0], W: f.Size[1], Boxes: map[string][4]int{}, Masks: map[string]*Plane{}}
	if f.View != nil {
		c.View = *f.View
	}
	if f.NativeWidth != nil {
		c.NativeWidth = *f.NativeWidth
	}
	for k, b := range f.Boxes {
		if len(b) != 4 {
			return nil, fmt.Errorf("%s: box %q has %d numbers, 4 are needed", name, k, len(b))
		}
		c.Boxes[k] = [4]int(b)
	}
	for k, counts := range f.Masks {
		if c.Masks[k], err = fromCounts(c.W, c.H, counts); err != nil {
			return nil, fmt.Errorf("%s: mask %q: %w", name, k, err)
		}
	}
	if counts, ok := f.CheXmask["right lung"]; ok {
		if c.CheXmask, err = fromCounts(c.W, c.H, counts); err != nil {
			return nil, fmt.Errorf("%s: chexmask: %w", name, err)
		}
	}
	if f.Image == "" {
		return c, nil
	}
	if data, err = fs.ReadFile(fsys, path.Join(path.Dir(name), f.Image)); err != nil {
		return nil, err
	}
	c.Picture, err = decodePicture(data)
	return c, err
}

func decodePicture(data []byte) (*Picture, error) {
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	b := m.Bounds()
	p := &Picture{W: b.Dx(), H: b.Dy(), Grey: make([]uint8, 0, b.Dx()*b.Dy())}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			p.Grey = append(p.Grey, color.GrayModel.Convert(m.At(x, y)).(color.Gray).Y)
		}
	}
	return p, nil
}

func fromCounts(w, h int, counts []int) (*Plane, error) {
	p := NewPlane(w, h)
	at, bit := 0, uint8(0)
	for _, n := range counts {
		if n < 0 || n > w*h-at {
			return nil, fmt.Errorf("run lengths leave the grid of %d x %d", w, h)
		}
		for ; n > 0; n-- {
			p.Pix[at%h*w+at/h] = bit
			at++
		}
		bit = 1 - bit
	}
	if at != w*h {
		return nil, fmt.Errorf("run lengths sum to %d, not to %d", at, w*h)
	}
	return p, nil
}
