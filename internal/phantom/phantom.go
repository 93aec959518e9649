package phantom

import (
	"fmt"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
)

// AppearanceVersion changes whenever the pixels or masks of a phantom change: a network
// trained on one version is measured on the same version.
const AppearanceVersion = 1

// Options choose how a phantom is drawn.
type Options struct {
	Aspect float64 // wanted film height over width; 0 draws a format
	Wide   bool    // widen exposure, noise, blur and format (training)
}

// Phantom is one synthetic patient on one film, before any raster.
type Phantom struct {
	Seed  uint64
	Index int

	patient  *patient
	frame    *frame
	body     *body
	exposure *exposure
}

// New draws phantom (seed, index): the same numbers give the same phantom on every
// machine.
func New(seed uint64, index int, o Options) *Phantom {
	p := patientOf(seed, index)
	f := frameOf(seed, index, p, o)
	return &Phantom{seed, index, p, f, build(p, f), exposureOf(seed, index, p.view, o.Wide)}
}

// View is the projection, PA or AP.
func (p *Phantom) View() cxr.ViewPosition { return p.patient.view }

// Film returns the film size in millimetres.
func (p *Phantom) Film() (width, height float64) { return p.frame.width, p.frame.height }

// Findings lists what was put on purpose into this phantom, in drawing order.
func (p *Phantom) Findings() []string { return p.patient.findings }

// Cropped names what a cut film loses ("apex", "base", "left side", "right side"); empty
// for a film that shows the whole chest.
func (p *Phantom) Cropped() string { return p.frame.cropped }

// Picture is a phantom on a raster, with the true mask of every structure of
// [Structures]. A structure outside the exposed field has an empty mask.
type Picture struct {
	Image *cxr.Image
	Masks *anatomy.Masks
}

// Limits of a picture's sides, pixels.
const (
	MinSide = 64
	MaxSide = 8192
)

// Picture renders the phantom at w x h pixels over the whole film; the scales of the two
// axes are independent.
//
// Errors: a side outside MinSide..MaxSide.
func (p *Phantom) Picture(w, h int) (*Picture, error) {
	if w < MinSide || h < MinSide || w > MaxSide || h > MaxSide {
		return nil, fmt.Errorf("phantom %d of seed %d: size %dx%d: give sides of %d to %d pixels", p.Index, p.Seed, w, h, MinSide, MaxSide)
	}
	c := newCanvas(w, h, p.frame)
	field := p.field(c)
	p.body.draw(c)
	s := newStream(p.Seed, p.Index, "lung")
	p.body.drawVessels(c, s)
	p.body.drawOpacities(c, s)
	p.body.drawDevices(c, newStream(p.Seed, p.Index, "devices"))
	s = newStream(p.Seed, p.Index, "noise")
	im := &cxr.Image{Width: w, Height: h, Pix: c.develop(c.attenuation(p.exposure, s), p.exposure, field, s)}
	c.stamp(im.Pix, p.exposure, field)
	masks, err := p.body.masks(c, field)
	if err != nil {
		return nil, fmt.Errorf("phantom %d of seed %d: %w", p.Index, p.Seed, err)
	}
	return &Picture{im, masks}, nil
}

// field is the collimated field in pixels.
func (p *Phantom) field(c *canvas) [4]int {
	f := p.frame.field
	return [4]int{
		max(0, int(float64(f[0]*c.sx)+0.5)), max(0, int(float64(f[1]*c.sy)+0.5)),
		min(c.w, int(float64(f[2]*c.sx)+0.5)), min(c.h, int(float64(f[3]*c.sy)+0.5)),
	}
}

// masks rasterises every structure inside the field.
func (a *body) masks(c *canvas, field [4]int) (*anatomy.Masks, error) {
	out, err := anatomy.NewMasks(c.w, c.h, c.w, c.h, drawn)
	if err != nil {
		return nil, err
	}
	for _, s := range Structures() {
		if s == anatomy.Cardiomediastinum {
			continue
		}
		if err := out.Put(s, c.fill(a.outline[s], field)); err != nil {
			return nil, err
		}
	}
	whole := hull(c.w, c.h, out.Mask(anatomy.UpperMediastinum), out.Mask(anatomy.AorticArch), out.Mask(anatomy.AscendingAorta), out.Mask(anatomy.Heart))
	return out, out.Put(anatomy.Cardiomediastinum, whole)
}
