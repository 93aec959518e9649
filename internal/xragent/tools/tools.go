package tools

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/mask"
	"cxrepro/internal/overlay"
	"cxrepro/internal/xragent"
)

// ParseVersion changes whenever the same region_parse may give another observation; that of
// crops is xragent.CropVersion.
const ParseVersion = 2

// OverlayMaxSide bounds the picture that region_parse returns, pixels.
const OverlayMaxSide = 512

// mostTarget is how long a target may be that a finder is asked for, bytes; a policy may write
// anything.
const mostTarget = 512

// Source is where pictures and masks are and where new pictures go.
type Source interface {
	// Picture returns a picture of the question, decoded.
	Picture(ctx context.Context, ref artifacts.Ref) (*cxr.Image, error)
	// Masks returns the structures of a picture.
	Masks(ctx context.Context, ref artifacts.Ref) (*anatomy.Masks, error)
	// Keep stores a picture that an observation shows, a PNG.
	Keep(ctx context.Context, png []byte) (artifacts.Ref, error)
}

// Finder outlines what words name.
type Finder interface {
	// Find returns the pixels of a finding at any size; an empty mask where it is not there.
	Find(ctx context.Context, picture artifacts.Ref, target string) (mask.Mask, error)
}

// Visual runs a roi_crop or a region_parse. pictures are those of the question; earlier are the
// results of the plan's calls so far. find may be nil.
//
// Errors: another tool; a picture that the question has not; those of source and finder.
func Visual(ctx context.Context, s Source, find Finder, pictures []artifacts.Ref, c xragent.ToolCall, earlier []xragent.Observation) (xragent.Observation, error) {
	if c.Image < 0 || c.Image >= len(pictures) {
		return xragent.Observation{}, fmt.Errorf("%s: the question has no picture %d", c.Name, c.Image)
	}
	ref := pictures[c.Image]
	switch c.Name {
	case xragent.ToolCrop:
		return crop(ctx, s, find, ref, c, earlier)
	case xragent.ToolParse:
		return parse(ctx, s, find, ref, c)
	}
	return xragent.Observation{}, fmt.Errorf("%q is no visual tool", c.Name)
}

// crop enlarges a part of the picture. Masks are fetched only for a region that is named.
func crop(ctx context.Context, s Source, find Finder, ref artifacts.Ref, c xragent.ToolCall, earlier []xragent.Observation) (xragent.Observation, error) {
	var box [4]int
	if c.Region != "" {
		o, _, err := outline(ctx, s, find, ref, xragent.ToolCall{Number: c.Number, Name: c.Name, Target: c.Region})
		if err != nil || o.Box == nil {
			return o, err
		}
		box = *o.Box
	} else {
		var o xragent.Observation
		var ok bool
		if box, o, ok = xragent.CropBox(c, earlier, nil); !ok {
			return o, nil
		}
	}
	m, err := s.Picture(ctx, ref)
	if err != nil {
		return xragent.Observation{}, err
	}
	part, used, err := xragent.Crop(m, box, xragent.CropOptions{})
	if err != nil {
		return xragent.Observation{}, err
	}
	png, err := cxr.EncodePNG(part)
	if err != nil {
		return xragent.Observation{}, err
	}
	kept, err := s.Keep(ctx, png)
	return xragent.Observation{Call: c.Number, Name: c.Name, Status: xragent.StatusOK, Box: &used, Images: []artifacts.Ref{kept}}, err
}

// parse outlines a target and draws it onto the picture.
func parse(ctx context.Context, s Source, find Finder, ref artifacts.Ref, c xragent.ToolCall) (xragent.Observation, error) {
	o, k, err := outline(ctx, s, find, ref, c)
	if err != nil || o.Box == nil {
		return o, err
	}
	m, err := s.Picture(ctx, ref)
	if err != nil {
		return xragent.Observation{}, err
	}
	z, err := mask.NewResizer(k.W, k.H, m.Width, m.Height)
	if err != nil {
		return xragent.Observation{}, err
	}
	if k, err = z.Resize(k); err != nil {
		return xragent.Observation{}, err
	}
	canvas, err := overlay.New(m, overlay.Size{MaxSide: OverlayMaxSide})
	if err != nil {
		return xragent.Observation{}, err
	}
	canvas.Tint(k, overlay.Red, 0.35)
	png, err := canvas.PNG()
	if err != nil {
		return xragent.Observation{}, err
	}
	kept, err := s.Keep(ctx, png)
	o.Images = []artifacts.Ref{kept}
	return o, err
}

// outline finds a target among the structures, else by its words. The observation has a box
// where it was found, and then the mask is the target's.
func outline(ctx context.Context, s Source, find Finder, ref artifacts.Ref, c xragent.ToolCall) (xragent.Observation, mask.Mask, error) {
	m, err := s.Masks(ctx, ref)
	if err != nil {
		return xragent.Observation{}, mask.Mask{}, err
	}
	o := xragent.Outline(c, m)
	if structure, known := xragent.ResolveTarget(c.Target, m.Declared); known {
		return o, m.Mask(structure), nil
	}
	if find == nil || len(c.Target) > mostTarget {
		return o, mask.Mask{}, nil
	}
	k, err := find.Find(ctx, ref, c.Target)
	if err != nil {
		return xragent.Observation{}, mask.Mask{}, err
	}
	return xragent.OutlineOf(c, c.Target, k), k, nil
}
