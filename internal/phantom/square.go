package phantom

import (
	"fmt"

	"cxrepro/internal/cxr"
)

// Square is a picture on a square page whose millimetres are equal along both axes.
type Square struct {
	Image *cxr.Image
	// Kind is what was drawn; KindPA of a picture with a known heart.
	Kind Kind
	// Index is the phantom that was drawn.
	Index int
}

// DrawSquare draws picture (seed, index) of a kind on a page of side x side pixels. A kind
// that is not square by itself lies in the middle of a black page. It has no draws of its
// own: the picture is that of the kind on a square film.
//
// Errors: as for DrawKind.
func DrawSquare(seed uint64, index int, k Kind, side int) (Square, error) {
	im, _, err := drawKind(seed, index, k, side, Options{Aspect: 1}, cutDrawn)
	if err != nil {
		return Square{}, err
	}
	return Square{onPage(im, side), k, index}, nil
}

// DrawHeart draws a whole PA film of a patient whose heart is lo to hi of the chest wide
// and who has nothing else on purpose, on a page of side x side pixels: the first such
// patient of a row that belongs to (seed, index) alone.
//
// Errors: no such patient in the row; a side outside MinSide..MaxSide.
func DrawHeart(seed uint64, index, side int, lo, hi float64) (Square, error) {
	const row = 4096
	for n := index * row; n < (index+1)*row; n++ {
		if p := patientOf(seed, n); p.view != cxr.ViewPA || p.ctr < lo || p.ctr > hi || !p.heartAlone() {
			continue
		}
		p := New(seed, n, Options{Aspect: 1})
		if p.frame.cropped != "" {
			continue
		}
		im, err := p.film(side)
		if err != nil {
			return Square{}, err
		}
		return Square{onPage(im, side), KindPA, n}, nil
	}
	return Square{}, fmt.Errorf("phantom row %d of seed %d: no heart of %v to %v; hint: %v to %v are drawn", index, seed, lo, hi, 0.37, 0.65)
}

// heartAlone reports that nothing but a large heart was put into the patient.
func (p *patient) heartAlone() bool {
	for _, f := range p.findings {
		if f != findingCardiomegaly {
			return false
		}
	}
	return !p.devices
}

// onPage returns the picture in the middle of a black square page.
func onPage(m *cxr.Image, side int) *cxr.Image {
	if m.Width == side && m.Height == side {
		return m
	}
	page := cxr.NewImage(side, side)
	x0, y0 := max(0, side-m.Width)/2, max(0, side-m.Height)/2
	for y := range min(m.Height, side) {
		copy(page.Row(y0 + y)[x0:], m.Row(y)[:min(m.Width, side)])
	}
	return page
}
