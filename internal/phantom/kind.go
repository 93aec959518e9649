package phantom

import (
	"fmt"

	"cxrepro/internal/cxr"
)

// Kind is a kind of picture that a view check has to tell apart. The zero value is
// invalid. Kinds have streams of their own: drawing one changes no phantom.
type Kind uint8

// The kinds. A frontal phantom is its own kind, PA or AP; the others are made of one.
const (
	KindPA Kind = iota + 1
	KindAP
	KindLateral
	KindTurned90  // a PA film turned clockwise
	KindTurned180 // upside down
	KindTurned270
	KindInverted // a PA film with black and white exchanged
	KindMirrored // a PA film with left and right exchanged
	KindCropped  // a PA film of which one side is left
	KindSlice    // an axial slice such as CT makes
	KindTwoPanel // two pictures side by side in one file
)

var kindNames = [...]string{KindPA: "pa", KindAP: "ap", KindLateral: "lateral", KindTurned90: "turned_90", KindTurned180: "turned_180",
	KindTurned270: "turned_270", KindInverted: "inverted", KindMirrored: "mirrored", KindCropped: "cropped", KindSlice: "slice", KindTwoPanel: "two_panel"}

// Kinds lists every kind.
func Kinds() []Kind {
	out := make([]Kind, 0, len(kindNames)-1)
	for k := KindPA; int(k) < len(kindNames); k++ {
		out = append(out, k)
	}
	return out
}

// String returns the stable text form.
func (k Kind) String() string {
	if k < KindPA || int(k) >= len(kindNames) {
		return fmt.Sprintf("invalid kind %d", uint8(k))
	}
	return kindNames[k]
}

// ParseKind returns the kind with a text form; ok is false for any other text.
func ParseKind(text string) (k Kind, ok bool) {
	for _, k := range Kinds() {
		if k.String() == text {
			return k, true
		}
	}
	return 0, false
}

// ViewTruth is what a view check should say of a picture.
//
// Turns counts clockwise quarter turns from upright, after a possible mirroring. A picture
// that is no chest radiograph has neither turns nor mirroring nor inversion. Of a part of a
// chest nobody can tell whether it was mirrored: it is not.
type ViewTruth struct {
	View     cxr.ViewPosition // the zero value: no chest radiograph
	Turns    int
	Inverted bool
	Mirrored bool
	Part     bool // a cut film
}

// DrawKind draws picture (seed, index) of a kind at about long pixels on its longer side.
//
// Errors: an invalid kind, sides outside MinSide..MaxSide.
func DrawKind(seed uint64, index int, k Kind, long int) (*cxr.Image, ViewTruth, error) {
	return drawKind(seed, index, k, long, Options{}, cutDrawn)
}

// cutting is how a film is cut: the share that is kept, and in how many ways: two keep a
// side, two more the upper or the lower part, the fifth a zone.
type cutting struct {
	lo, hi float64
	ways   int
}

// A drawn film keeps a side: which way is up can be told, and no chest can be measured. Of
// strips and zones, up and down can hardly be told; they are for training alone.
var (
	cutDrawn   = cutting{0.30, 0.42, 2}
	cutTrained = cutting{0.36, 0.46, 5}
)

func drawKind(seed uint64, index int, k Kind, long int, o Options, cut cutting) (*cxr.Image, ViewTruth, error) {
	truth := ViewTruth{View: cxr.ViewPA}
	s := newStream(seed, index, "kind "+k.String())
	var im *cxr.Image
	var err error
	switch k {
	case KindAP:
		truth.View = cxr.ViewAP
		im, err = withView(seed, index, cxr.ViewAP, o).film(long)
	case KindLateral:
		truth.View = cxr.ViewLateral
		w, h := fitted(356, 428, long)
		im, err = New(seed, index, o).lateral(w, h, o)
	case KindSlice:
		truth.View = 0
		im, err = slice(s, long)
	case KindTwoPanel:
		truth.View = 0
		im, err = twoPanel(seed, index, s, long, o)
	case KindPA, KindTurned90, KindTurned180, KindTurned270, KindInverted, KindMirrored:
		im, err = withView(seed, index, cxr.ViewPA, o).film(long)
	case KindCropped:
		truth.Part = true
		if im, err = withView(seed, index, cxr.ViewPA, o).film(2 * long); err == nil {
			im = cutOut(im, s, cut)
		}
	default:
		return nil, truth, fmt.Errorf("phantom %d of seed %d: %s", index, seed, k)
	}
	if err != nil {
		return nil, truth, err
	}
	switch k {
	case KindTurned90, KindTurned180, KindTurned270:
		truth.Turns = int(k-KindTurned90) + 1
		im = turned(im, truth.Turns)
	case KindInverted:
		truth.Inverted = true
		invert(im)
	case KindMirrored:
		truth.Mirrored = true
		mirror(im)
	}
	return im, truth, nil
}

// withView returns the first phantom of a row that belongs to (seed, index) alone and has
// the view asked for.
func withView(seed uint64, index int, v cxr.ViewPosition, o Options) *Phantom {
	const row = 64 // 1 in 10^13 rows holds no PA patient, 1 in 10^27 no AP patient
	for i := range row {
		if n := index*row + i; patientOf(seed, n).view == v || i == row-1 {
			return New(seed, n, o)
		}
	}
	return nil
}

// film renders a frontal phantom with its longer side at long pixels.
func (p *Phantom) film(long int) (*cxr.Image, error) {
	w, h := fitted(p.frame.width, p.frame.height, long)
	pic, err := p.Picture(w, h)
	if err != nil {
		return nil, err
	}
	return pic.Image, nil
}

// fitted scales a film to a longer side of long pixels.
func fitted(width, height float64, long int) (w, h int) {
	k := float64(long) / max(width, height)
	return int(float64(width*k) + 0.5), int(float64(height*k) + 0.5)
}

// turned returns the picture after n clockwise quarter turns.
func turned(m *cxr.Image, n int) *cxr.Image {
	for range n & 3 {
		out := cxr.NewImage(m.Height, m.Width)
		for y := range m.Height {
			for x, v := range m.Row(y) {
				out.Pix[x*out.Width+out.Width-1-y] = v
			}
		}
		m = out
	}
	return m
}

// mirror exchanges left and right in place.
func mirror(m *cxr.Image) {
	for y := range m.Height {
		row := m.Row(y)
		for a, b := 0, len(row)-1; a < b; a, b = a+1, b-1 {
			row[a], row[b] = row[b], row[a]
		}
	}
}

// invert exchanges black and white in place.
func invert(m *cxr.Image) {
	for i, v := range m.Pix {
		m.Pix[i] = 255 - v
	}
}

// cutOut returns a part of a film that shows no whole chest: one side, the upper or the
// lower part, or one zone.
func cutOut(m *cxr.Image, s *stream, cut cutting) *cxr.Image {
	part := func(lo, hi float64, n int) (int, int) { return int(float64(n) * lo), int(float64(n) * hi) }
	x0, x1, y0, y1 := 0, m.Width, 0, m.Height
	switch keep := s.uniform(cut.lo, cut.hi); s.intn(cut.ways) {
	case 0:
		_, x1 = part(0, keep, m.Width)
	case 1:
		x0, _ = part(1-keep, 1, m.Width)
	case 2:
		_, y1 = part(0, float64(0.9*keep), m.Height)
	case 3:
		y0, _ = part(1-keep, 1, m.Height)
	default:
		k := float64(0.9 * keep)
		ax, ay := s.uniform(0.05, 0.95-k), s.uniform(0.1, 0.8-k)
		x0, x1 = part(ax, ax+k, m.Width)
		y0, y1 = part(ay, ay+k, m.Height)
	}
	out := cxr.NewImage(x1-x0, y1-y0)
	for y := range out.Height {
		copy(out.Row(y), m.Row(y0 + y)[x0:x1])
	}
	return out
}

// twoPanel puts two films of one patient side by side on a plain page.
func twoPanel(seed uint64, index int, s *stream, long int, o Options) (*cxr.Image, error) {
	const gap = 0.03
	side := int(float64(long) * (1 - gap) / 2)
	panels := make([]*cxr.Image, 2)
	for i := range panels {
		p := New(seed, 2*index+i, o)
		w, h := fitted(p.frame.width, p.frame.height, side)
		if i == 1 && s.chance(0.4) {
			im, err := p.lateral(w, h, o)
			if err != nil {
				return nil, err
			}
			panels[i] = im
			continue
		}
		pic, err := p.Picture(w, h)
		if err != nil {
			return nil, err
		}
		panels[i] = pic.Image
	}
	a, b := panels[0], panels[1]
	space := long - a.Width - b.Width
	if space < 0 {
		space = 0
	}
	edge := 0
	if s.chance(0.5) {
		edge = space / 3
	}
	page := cxr.NewImage(a.Width+b.Width+space, max(a.Height, b.Height)+2*edge)
	if s.chance(0.5) { // printed on white
		for i := range page.Pix {
			page.Pix[i] = 250
		}
	}
	paste := func(im *cxr.Image, x int) {
		for y := range im.Height {
			copy(page.Row(edge + y)[x:], im.Row(y))
		}
	}
	paste(a, edge)
	paste(b, page.Width-edge-b.Width)
	return page, nil
}
