package chexstruct

import (
	"fmt"
	"slices"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// Names of the reference boxes that two tasks compare with.
const (
	BoxCardiacSilhouette = "cardiac silhouette"
	BoxUpperMediastinum  = "upper mediastinum"
)

// Input is one picture as the tasks see it. Masks, facts, boxes and the CheXmask lung
// share one grid, that of Masks. Pass [anatomy.Masks.Native] to measure at native size,
// as the published tables do.
type Input struct {
	Masks *anatomy.Masks
	// Facts is what is known of the pixels; nil when there is no picture.
	Facts *PixelFacts
	// View is the view position; the zero value is unknown.
	View cxr.ViewPosition
	// Boxes are reference boxes by name, in mask pixels.
	Boxes map[string]geom.Box
	// CheXmaskRightLung is a second opinion on the right lung; nil when there is none.
	CheXmaskRightLung *mask.Mask
	// NativeWidth is the width of the source radiograph in pixels; 0 when unknown, then
	// the threshold table's default is used.
	NativeWidth int
}

// Check reports every way in which the parts do not fit together.
func (in *Input) Check() error {
	if in.Masks == nil {
		return fmt.Errorf("chexstruct: input without masks")
	}
	w, h := in.Masks.GridW, in.Masks.GridH
	if f := in.Facts; f != nil && (f.Width != w || f.Height != h) {
		return fmt.Errorf("chexstruct: picture is %dx%d, masks are %dx%d; they must share one grid", f.Width, f.Height, w, h)
	}
	if f := in.Facts; f != nil && (f.NonZero.W != w || f.NonZero.H != h) {
		return fmt.Errorf("chexstruct: non-zero pixels are %dx%d, masks are %dx%d", f.NonZero.W, f.NonZero.H, w, h)
	}
	if c := in.CheXmaskRightLung; c != nil && (c.W != w || c.H != h) {
		return fmt.Errorf("chexstruct: CheXmask right lung is %dx%d, masks are %dx%d", c.W, c.H, w, h)
	}
	if in.View != 0 && !in.View.Valid() {
		return fmt.Errorf("chexstruct: view position %d is not known", in.View)
	}
	if in.NativeWidth < 0 {
		return fmt.Errorf("chexstruct: native width %d is negative", in.NativeWidth)
	}
	names := make([]string, 0, len(in.Boxes))
	for name := range in.Boxes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if b := in.Boxes[name]; b.X1 < b.X0 || b.Y1 < b.Y0 {
			return fmt.Errorf("chexstruct: box %q ends before it starts: [%d, %d, %d, %d]", name, b.X0, b.Y0, b.X1, b.Y1)
		}
	}
	return nil
}
