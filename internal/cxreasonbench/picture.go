package cxreasonbench

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/mask"
	"cxrepro/internal/overlay"
)

// Profile is how large pictures are and how they are drawn. It changes how hard a question is,
// so that it belongs to a benchmark's identity. The zero value is invalid.
type Profile uint8

const (
	// ProfileOfficial has the size, border and colours of the released pictures.
	ProfileOfficial Profile = iota + 1
	// ProfileNative has a longer side of 1024 pixels, no border, and colours and letters
	// that read well on a radiograph.
	ProfileNative
)

var profileText = [...]string{ProfileOfficial: "official", ProfileNative: "native"}

// Valid reports whether p is a profile.
func (p Profile) Valid() bool { return p == ProfileOfficial || p == ProfileNative }

// String returns "official" or "native".
func (p Profile) String() string {
	if !p.Valid() {
		return fmt.Sprintf("invalid picture profile %d", uint8(p))
	}
	return profileText[p]
}

// MarshalText encodes a valid profile.
func (p Profile) MarshalText() ([]byte, error) {
	if !p.Valid() {
		return nil, fmt.Errorf("cxreasonbench: %s", p)
	}
	return []byte(profileText[p]), nil
}

// UnmarshalText accepts exactly the text forms.
func (p *Profile) UnmarshalText(b []byte) error {
	i := slices.Index(profileText[:], string(b))
	if i < 1 {
		return fmt.Errorf("cxreasonbench: no picture profile is called %q; there are official and native", b)
	}
	*p = Profile(i)
	return nil
}

// PictureVersion names the way pictures are drawn. It rises when the bytes of a picture may
// change for equal radiograph, masks, rules and profile.
const PictureVersion = 1

// ErrNotShown: a picture cannot be drawn, because a mask of it is empty or its positions
// were not measured.
var ErrNotShown = errors.New("it cannot be shown on this radiograph: its mask is empty or it was not measured")

// longerSide of the pictures of the native profile, in pixels.
const longerSide = 1024

// officialBorder is the white border of the official structure pictures, in pixels.
const officialBorder = 10

// style is how a profile draws.
type style struct {
	fill, outline    color.RGBA
	alpha            float64
	contour, line    float64 // widths in pixels of the picture
	red, blue, green color.RGBA
	annotation, dot  float64
	letters          float64
	fillHoles, paper bool
}

var styles = [...]style{
	ProfileOfficial: {
		fill: color.RGBA{128, 0, 0, 255}, outline: color.RGBA{128, 0, 0, 255}, alpha: 0.5, contour: 1, line: 2,
		red: color.RGBA{255, 0, 0, 255}, blue: color.RGBA{0, 0, 255, 255}, green: color.RGBA{0, 128, 0, 255},
		annotation: 14, dot: 7, letters: 35, fillHoles: true, paper: true,
	},
	ProfileNative: {
		fill: overlay.Red, outline: overlay.Red, alpha: 0.35, contour: 2, line: 4,
		red: overlay.Red, blue: overlay.Blue, green: overlay.Green,
		annotation: 4, dot: 7, letters: 24,
	},
}

// Scene is a radiograph with all that its pictures show. Masks are of native size. It is not
// safe for concurrent use: it keeps the reduced radiograph for the next picture.
type Scene struct {
	Image *cxr.Image
	Masks *anatomy.Masks
	// NonZero are the pixels that are not black.
	NonZero mask.Mask
	// CheXmaskRightLung is a second opinion on the right lung; nil where there is none.
	CheXmaskRightLung *mask.Mask
	Marks             Marks

	bases map[int]*overlay.Base
	mute  bool // no words, for tests of where things are
}

// canvas returns a fresh canvas of about the given longer side.
func (s *Scene) canvas(side int) (*overlay.Canvas, error) {
	b, ok := s.bases[side]
	if !ok {
		var err error
		if b, err = overlay.Reduce(s.Image, overlay.Size{MaxSide: side, Enlarge: true}); err != nil {
			return nil, err
		}
		if s.bases == nil {
			s.bases = map[int]*overlay.Base{}
		}
		s.bases[side] = b
	}
	return b.Canvas(), nil
}

// sides returns the longer side of structure and annotated pictures.
//
// Source of the official sizes: [official code]; the annotated figure swaps width and height.
func (s *Scene) sides(p Profile) (structure, annotated int) {
	if p == ProfileNative {
		return longerSide, longerSide
	}
	w, h := float64(s.Image.Width), float64(s.Image.Height)
	long := math.Max(w, h)
	return int(long * math.Min(496/w, 369.6/h)), int(long * math.Min(0.775*h/w, 0.77*w/h))
}

// pen draws on a canvas in a style.
type pen struct {
	*overlay.Canvas
	s     *Scene
	style *style
	taken []label
}

func (s *Scene) pen(p Profile, side int) (*pen, error) {
	if !p.Valid() {
		return nil, fmt.Errorf("cxreasonbench: draw: %s", p)
	}
	if s.Image == nil || s.Masks == nil {
		return nil, fmt.Errorf("cxreasonbench: draw: the scene has no picture or no masks")
	}
	if s.Masks.GridW != s.Image.Width || s.Masks.GridH != s.Image.Height {
		return nil, fmt.Errorf("cxreasonbench: draw: masks of %d x %d on a picture of %d x %d; use the masks at native size",
			s.Masks.GridW, s.Masks.GridH, s.Image.Width, s.Image.Height)
	}
	c, err := s.canvas(side)
	if err != nil {
		return nil, err
	}
	return &pen{Canvas: c, s: s, style: &styles[p]}, nil
}

func (s *Scene) mask(x anatomy.Structure) mask.Mask { return s.Masks.Mask(x) }

// masks fills masks with their contour, the largest first.
func (k *pen) masks(list ...mask.Mask) {
	slices.SortStableFunc(list, func(a, b mask.Mask) int { return b.Area() - a.Area() })
	for _, m := range list {
		if k.style.fillHoles {
			m = filled(m)
		}
		k.Tint(m, k.style.fill, k.style.alpha)
		k.Outline(m, overlay.Stroke{Colour: k.style.outline, Width: k.style.contour})
	}
}

// filled returns a mask without holes: what is not connected to the border belongs to it.
func filled(m mask.Mask) mask.Mask {
	box, ok := m.Box()
	if !ok {
		return m
	}
	whole := mask.NewBuilder(m.W, m.H)
	for y := box.Y0; y <= box.Y1; y++ {
		whole.Add(y, box.X0, box.X1+1)
	}
	outside := whole.Mask().AndNot(m).Components()
	holes := outside.Select(func(i int) bool {
		b := outside.Box(i)
		return b.X0 > box.X0 && b.X1 < box.X1 && b.Y0 > box.Y0 && b.Y1 < box.Y1
	})
	return m.Or(holes)
}

// DrawItems draws every picture that the items of a case show beside the radiograph itself, by
// Picture.Path.
//
// Errors: those of [Scene.DrawStructure] and [Scene.DrawAnnotated]; a path that names neither.
func (s *Scene) DrawItems(rules Rules, profile Profile, items []Item) (map[string][]byte, error) {
	drawn := map[string][]byte{}
	for _, it := range items {
		for _, q := range it.Questions {
			for _, p := range q.Pictures {
				if _, done := drawn[p.Path]; done || p.Kind == Radiograph {
					continue
				}
				data, err := s.drawPicture(rules, profile, p)
				if err != nil {
					return nil, err
				}
				drawn[p.Path] = data
			}
		}
	}
	return drawn, nil
}

func (s *Scene) drawPicture(rules Rules, profile Profile, p Picture) ([]byte, error) {
	o, _ := OverlayAt(p.Path)
	if p.Kind == StructurePicture && o.Structure != "" {
		return s.DrawStructure(rules, profile, o)
	}
	if p.Kind == AnnotatedPicture && o.Structure == "" && o.Task.Diagnostic() {
		return s.DrawAnnotated(profile, o.Task)
	}
	return nil, fmt.Errorf("cxreasonbench: draw: a %s is no path of the official layout", p.Kind)
}
