package phantom

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
	anatomy  *anatomy
	exposure *exposure
}

// New draws phantom (seed, index): the same numbers give the same phantom on every
// machine.
func New(seed uint64, index int, o Options) *Phantom {
	p := patientOf(seed, index)
	f := frameOf(seed, index, p, o)
	return &Phantom{seed, index, p, f, build(p, f), exposureOf(seed, index, p.view, o.Wide)}
}

// View is the projection.
func (p *Phantom) View() View { return p.patient.view }

// Film returns the film size in millimetres.
func (p *Phantom) Film() (width, height float64) { return p.frame.width, p.frame.height }

// Findings lists what was put on purpose into this phantom, in drawing order.
func (p *Phantom) Findings() []string { return p.patient.findings }

// Picture is a phantom on a raster: row-major 8-bit grey and the true masks.
type Picture struct {
	Width, Height int
	Pix           []uint8
	masks         [StructureCount + 1]rows
}

// Picture renders the phantom at w x h pixels over the whole film; the scales of the two
// axes are independent.
func (p *Phantom) Picture(w, h int) *Picture {
	c := newCanvas(w, h, p.frame)
	field := p.field(c)
	p.anatomy.draw(c)
	s := newStream(p.Seed, p.Index, "lung")
	p.anatomy.drawVessels(c, s)
	p.anatomy.drawOpacities(c, s)
	p.anatomy.drawDevices(c, newStream(p.Seed, p.Index, "devices"))
	s = newStream(p.Seed, p.Index, "noise")
	pix := c.develop(c.attenuation(p.exposure, s), p.exposure, field, s)
	c.stamp(pix, p.exposure, field)
	return &Picture{w, h, pix, p.anatomy.masks(c, field)}
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
func (a *anatomy) masks(c *canvas, field [4]int) (out [StructureCount + 1]rows) {
	for _, s := range Structures() {
		if s != Cardiomediastinum {
			out[s] = c.fill(a.outline[s], field)
		}
	}
	out[Cardiomediastinum] = hull(c.h, out[UpperMediastinum], out[AorticArch], out[AscendingAorta], out[Heart])
	return out
}

// AppearanceVersion changes whenever the pixels or masks of a phantom change: a network
// trained on one version is measured on the same version.
const AppearanceVersion = 1
