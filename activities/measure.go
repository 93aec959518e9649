package activities

import (
	"context"
	"errors"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/derive"
	"cxrepro/internal/provenance"
	"cxrepro/internal/xragent"
)

// Viewer tells what kind of picture it is given. It serves several goroutines.
type Viewer interface {
	View(ctx context.Context, img *cxr.Image) (xragent.ViewReading, error)
}

// ViewEngine is a ready view model with what identifies it.
type ViewEngine struct {
	Viewer   Viewer
	Identity contract.Inference
	Runtime  string
}

// MeasurePictures measures one window of the pictures of a question set: each has a record of
// its masks, and one of what the view check reads and the gate decides. Pictures that have them
// are not touched.
func (a *Activities) MeasurePictures(ctx context.Context, in contract.MeasurePicturesInput) (contract.ChunkResult, error) {
	none := contract.ChunkResult{}
	pl, err := a.plan(ctx, in.Plan)
	if err != nil {
		return none, err
	}
	q, err := a.questions(ctx, in.Questions)
	if err != nil {
		return none, err
	}
	pictures := q.Pictures()
	begin := in.Window * contract.PictureWindow
	if begin < 0 || begin >= len(pictures) {
		return none, fail(contract.ErrTypeSpec, "window %d of %d pictures", in.Window, len(pictures))
	}
	pictures = pictures[begin:min(begin+contract.PictureWindow, len(pictures))]
	p := a.beat(ctx, len(pictures))
	defer p.close()
	t := &tally{effort: effort{reproduction: in.Reproduction, id: in.Reproduction}}
	return sideBySide(p, pictures, t, func(image artifacts.Ref) error {
		if _, err := a.measured(p, pl, image, t); err != nil {
			return fmt.Errorf("picture %s: %w", image.Digest.Short(), err)
		}
		return nil
	})
}

// gate returns the gate of an agent's plan.
func (a *Activities) gate(ctx context.Context, pl *derive.Plan) (xragent.Gate, error) {
	if pl.Calibration.IsZero() {
		return pl.Gate(nil)
	}
	limits, err := load(ctx, a.docs, pl.Calibration, func(ctx context.Context, ref artifacts.Ref) (*xragent.Calibration, error) {
		data, err := a.opts.Store.Get(ctx, ref)
		if err != nil {
			return nil, fmt.Errorf("calibration of the plan: %w", err)
		}
		c, err := xragent.DecodeCalibration(data)
		if err != nil {
			return nil, fail(contract.ErrTypeSpec, "plan %s: %w", pl.Ref.Digest.Short(), err)
		}
		return &c, nil
	})
	if err != nil {
		return xragent.Gate{}, err
	}
	return pl.Gate(limits)
}

// measured returns the record of a picture's measurement, making it where nobody did.
func (a *Activities) measured(p *pulse, pl *derive.Plan, image artifacts.Ref, t *tally) (artifacts.Record, error) {
	gate, err := a.gate(p.work, pl)
	if err != nil {
		return artifacts.Record{}, err
	}
	key, err := pl.MeasureKey(image.Digest, gate)
	if err != nil {
		return artifacts.Record{}, err
	}
	masks, err := a.steps.once(p, contract.SegmentKey(image.Digest, pl.Inference()), t, pl.Class(), func(ctx context.Context) (product, error) {
		return a.segmented(ctx, pl, image.Digest, func() (*cxr.Image, error) { return a.storedPixels(ctx, pl, image) })
	})
	if err != nil {
		return artifacts.Record{}, err
	}
	return a.steps.once(p, key, t, pl.Class(), func(ctx context.Context) (product, error) {
		return a.measure(ctx, pl, gate, image, masks.Result)
	})
}

// measure reads the view of a picture and asks the gate.
func (a *Activities) measure(ctx context.Context, pl *derive.Plan, gate xragent.Gate, image, masks artifacts.Ref) (product, error) {
	viewer, err := a.viewer(ctx, pl)
	if err != nil {
		return product{}, err
	}
	img, err := a.storedPixels(ctx, pl, image)
	if err != nil {
		return product{}, err
	}
	m, err := a.storedMasks(ctx, masks)
	if err != nil {
		return product{}, err
	}
	reading, err := viewer.Viewer.View(ctx, img)
	if err != nil {
		return product{}, err
	}
	doc, err := gated(gate, image.Digest, masks, reading, m)
	if err != nil {
		return product{}, err
	}
	text, err := artifacts.Canonical(doc)
	return product{
		data: text, mediaType: contract.MeasurementMediaType, runtime: viewer.Runtime, provider: viewer.Identity.Provider,
		materials: []provenance.Descriptor{
			provenance.Describe("image", image), provenance.Describe("masks", masks), provenance.Describe("view", pl.Plan.View.Weights),
		},
	}, err
}

// gated is what a gate makes of a picture whose view was read, with its validity and without.
func gated(gate xragent.Gate, image artifacts.Digest, masks artifacts.Ref, view xragent.ViewReading, m *anatomy.Masks) (doc contract.MeasurementDoc, err error) {
	doc = contract.MeasurementDoc{Format: contract.MeasurementFormat, Image: image, Masks: masks, View: view, Code: gate.View.Decide(view)}
	evidence := xragent.Evidence{View: view, Masks: m}
	gate.ViewOff = false
	if doc.Gated, err = gate.Bundle(evidence); err != nil {
		return doc, err
	}
	gate.ViewOff = true
	doc.Ungated, err = gate.Bundle(evidence)
	return doc, err
}

func (a *Activities) storedMasks(ctx context.Context, ref artifacts.Ref) (*anatomy.Masks, error) {
	data, err := a.opts.Store.Get(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("masks: %w", err)
	}
	return anatomy.Decode(data)
}

// viewer returns the plan's view model, refusing one of another identity.
func (a *Activities) viewer(ctx context.Context, pl *derive.Plan) (*ViewEngine, error) {
	if a.opts.Viewer == nil {
		return nil, fail(contract.ErrTypeModel, "this worker has no inference; start one with a GPU queue")
	}
	v, err := a.opts.Viewer(ctx, pl.Plan)
	if err != nil {
		return nil, err
	}
	if v.Identity != pl.View() {
		return nil, fail(contract.ErrTypeModel, "the worker's view check is %s with decoder %d, the plan was made for %s with decoder %d; start worker and plan from the same version",
			v.Identity.Preprocessing, v.Identity.Decoder, pl.Plan.View.Preprocessing, cxr.DecoderVersion)
	}
	return v, nil
}

// measurementRecord returns the record of a picture's measurement; ok is false when it has none.
func (a *Activities) measurementRecord(ctx context.Context, pl *derive.Plan, gate xragent.Gate, image artifacts.Digest) (rec artifacts.Record, ok bool, err error) {
	doc, err := pl.MeasureKey(image, gate)
	if err != nil {
		return rec, false, err
	}
	key, err := doc.Key()
	if err != nil {
		return rec, false, err
	}
	return a.recordOf(ctx, key)
}

// recordOf returns the record of a key; ok is false when it has none.
func (a *Activities) recordOf(ctx context.Context, key artifacts.Key) (rec artifacts.Record, ok bool, err error) {
	rec, err = a.opts.Store.Lookup(ctx, key)
	if errors.Is(err, artifacts.ErrNotFound) {
		return rec, false, nil
	}
	return rec, err == nil, err
}
