package review

import (
	"context"
	"errors"
	"fmt"

	"cxrepro/activities"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/geom"
	"cxrepro/internal/overlay"
)

// jpegQuality of the radiographs below the drawings.
const jpegQuality = 84

// opened is one image opened for drawing.
type opened struct {
	entry contract.Entry
	img   *cxr.Image // nil when the picture is out of reach
	why   string     // then the reason
	in    chexstruct.Input
	res   *chexstruct.Result
}

// open loads what tiles of an image show and measures it again for its landmarks, which
// rows do not hold.
func open(ctx context.Context, in activities.ReportInput, e contract.Entry, sections []chexstruct.Task) (*opened, error) {
	o := &opened{entry: e}
	var gone *activities.PictureError
	img, err := in.Picture(ctx, e)
	switch {
	case errors.As(err, &gone):
		o.why = gone.Why
	case err != nil:
		return nil, fmt.Errorf("picture of image %s: %w", e.Image.Short(), err)
	default:
		o.img = img
	}
	if o.in, err = in.Input(ctx, e); err != nil {
		return nil, err
	}
	if o.res, err = chexstruct.Assess(o.in, in.Rules, sections); err != nil {
		return nil, fmt.Errorf("assess image %s: %w", e.Image.Short(), err)
	}
	return o, nil
}

// base reduces a part of the picture, or a plain ground where there is no picture.
func (o *opened) base(part geom.Box, side int) (*overlay.Base, error) {
	size := overlay.Size{MaxSide: side, Enlarge: true}
	if o.img == nil {
		return overlay.Unseen(o.in.Masks.GridW, o.in.Masks.GridH, part, size)
	}
	return overlay.ReducePart(o.img, part, size)
}

// draw draws a tile's layer over a part of the picture.
func (o *opened) draw(base *overlay.Base, part geom.Box, id tileID) *overlay.Canvas {
	layer := base.Layer()
	k := newSketch(layer, &o.in, part)
	if id.task.Diagnostic() {
		figures[id.task].draw(k, o.res.Finding(id.task))
	} else {
		filterFigures[id.rule](k, o.res.Global)
	}
	k.place(part)
	return layer
}

// place marks the patient's sides and, on a part, where on the film it lies.
func (k *sketch) place(part geom.Box) {
	w, h := k.Bounds()
	side := overlay.Text{Size: 26, Colour: white, Bold: true, Halo: true}
	k.Words(12, 34, "R", side)
	k.Words(float64(w)-14-k.Width("L", side), 34, "L", side)
	full := whole(k.in)
	if part == full {
		return
	}
	const high = 84
	mw := high * (full.X1 + 1) / (full.Y1 + 1)
	x, y := w-mw-10, h-high-10
	frame := func(x, y, w, h int) {
		k.Fill(x, y, w, 2, white)
		k.Fill(x, y+h-2, w, 2, white)
		k.Fill(x, y, 2, h, white)
		k.Fill(x+w-2, y, 2, h, white)
	}
	k.Fill(x, y, mw, high, overlay.Ink)
	frame(x, y, mw, high)
	k.Fill(x+part.X0*mw/(full.X1+1), y+part.Y0*high/(full.Y1+1), max(4, (part.Width()+1)*mw/(full.X1+1)), max(4, (part.Height()+1)*high/(full.Y1+1)), reference)
}
