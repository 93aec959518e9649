package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/ledger"
	"cxrepro/internal/overlay"
	"cxrepro/internal/provenance"
	"cxrepro/internal/xragent"
)

// Versions of the tools of the platform: raise one when the same call may answer otherwise.
const (
	parseVersion = 1
	cropVersion  = xragent.CropVersion
)

// overlaySide is the longer side of the picture that shows an outline, in pixels.
const overlaySide = 512

// tool answers one call.
func (r *rollout) tool(m means, c xragent.ToolCall) (ok bool, err error) {
	var o xragent.Observation
	switch c.Name {
	case xragent.ToolParse:
		o, ok, err = r.parse(m, c)
	case xragent.ToolCrop:
		o, ok, err = r.crop(m, c)
	case xragent.ToolLookup:
		o, ok, err = r.lookup(m, c)
	default:
		err = fail(contract.ErrTypeSpec, "item %d: no tool is called %q", r.in.Item, c.Name)
	}
	if err != nil || !ok {
		return false, err
	}
	o.Call, o.Name = c.Number, c.Name
	r.Rollout, err = r.arm.Agent.Observed(r.Rollout, o)
	return err == nil, err
}

// recordedTool returns what a tool answers, making it where nobody did.
func (r *rollout) recordedTool(m means, c xragent.ToolCall, doc artifacts.KeyDoc, materials []provenance.Descriptor, compute func(ctx context.Context) (xragent.Observation, error)) (o xragent.Observation, ok bool, err error) {
	rec, ok, err := m.step(doc, func(ctx context.Context) (product, error) {
		o, err := compute(ctx)
		if err != nil {
			return product{}, err
		}
		o.Call, o.Name = 0, c.Name // another rollout may ask it as another call
		text, err := artifacts.Canonical(o)
		return product{data: text, mediaType: contract.ObservationMediaType, materials: materials}, err
	})
	if err != nil || !ok {
		return o, false, err
	}
	r.shown(fmt.Sprintf("observation.%d", c.Number), rec.Result)
	r.tools = append(r.tools, contract.RolloutTool{Call: c.Number, Key: rec.Key.Digest, Result: rec.Result})
	data, err := m.activities().opts.Store.Get(m.context(), rec.Result)
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	return o, err == nil, err
}

// parse outlines a structure in the masks of the picture.
func (r *rollout) parse(m means, c xragent.ToolCall) (o xragent.Observation, ok bool, err error) {
	image := r.Pictures[c.Image]
	doc, ok, err := r.measurement(m, image)
	if err != nil || !ok {
		return o, false, err
	}
	target := strings.ToLower(strings.Join(strings.Fields(c.Target), " "))
	key := contract.ToolKey(c.Name, parseVersion, map[string]any{"target": target}, image.Digest, doc.Masks.Digest)
	a := m.activities()
	return r.recordedTool(m, c, key, []provenance.Descriptor{provenance.Describe("image", image), provenance.Describe("masks", doc.Masks)}, func(ctx context.Context) (xragent.Observation, error) {
		masks, err := a.storedMasks(ctx, doc.Masks)
		if err != nil {
			return xragent.Observation{}, err
		}
		c.Target = target
		o := xragent.Outline(c, masks)
		if o.Status != xragent.StatusOK {
			return o, nil
		}
		shown, err := a.outlined(ctx, r, image, masks, target)
		o.Images = []artifacts.Ref{shown}
		return o, err
	})
}

// outlined stores the picture with a structure in colour.
func (a *Activities) outlined(ctx context.Context, r *rollout, image artifacts.Ref, masks *anatomy.Masks, target string) (artifacts.Ref, error) {
	img, err := a.storedPixels(ctx, r.plan, image)
	if err != nil {
		return artifacts.Ref{}, err
	}
	s, ok := xragent.ResolveTarget(target, masks.Declared)
	if !ok {
		return artifacts.Ref{}, fmt.Errorf("the outline of %q has no structure", target)
	}
	canvas, err := overlay.New(img, overlay.Size{MaxSide: overlaySide})
	if err != nil {
		return artifacts.Ref{}, err
	}
	canvas.Tint(masks.Mask(s), overlay.Red, 0.35)
	data, err := canvas.PNG()
	if err != nil {
		return artifacts.Ref{}, err
	}
	return a.opts.Store.ForClass(r.plan.Class()).Put(ctx, data, "image/png")
}

// crop enlarges a part of a picture.
func (r *rollout) crop(m means, c xragent.ToolCall) (o xragent.Observation, ok bool, err error) {
	image := r.Pictures[c.Image]
	a := m.activities()
	var masks *anatomy.Masks
	if c.Region != "" {
		doc, ok, err := r.measurement(m, image)
		if err != nil || !ok {
			return o, false, err
		}
		if masks, err = a.storedMasks(m.context(), doc.Masks); err != nil {
			return o, false, err
		}
	}
	box, o, ok := xragent.CropBox(c, r.Results, masks)
	if !ok {
		return o, true, nil
	}
	key := contract.ToolKey(c.Name, cropVersion, map[string]any{"box": box[:]}, image.Digest, artifacts.Digest{})
	return r.recordedTool(m, c, key, []provenance.Descriptor{provenance.Describe("image", image)}, func(ctx context.Context) (xragent.Observation, error) {
		img, err := a.storedPixels(ctx, r.plan, image)
		if err != nil {
			return xragent.Observation{}, err
		}
		part, used, err := xragent.Crop(img, box, xragent.CropOptions{})
		if err != nil {
			return xragent.Observation{}, err
		}
		data, err := cxr.EncodePNG(part)
		if err != nil {
			return xragent.Observation{}, err
		}
		ref, err := a.opts.Store.ForClass(r.plan.Class()).Put(ctx, data, "image/png")
		return xragent.Observation{Status: xragent.StatusOK, Box: &used, Images: []artifacts.Ref{ref}}, err
	})
}

// lookup asks the reference book, or the item's own texts.
func (r *rollout) lookup(m means, c xragent.ToolCall) (o xragent.Observation, ok bool, err error) {
	if r.item.Notes != nil {
		return r.item.NotesFor(c.Conditions), true, nil
	}
	card := r.plan.Lookup
	if card == nil {
		return xragent.Observation{Status: xragent.StatusError, Text: "no reference book is configured"}, true, nil
	}
	d := card.Greedy
	if d.MaxTokens == 0 || d.MaxTokens > xragent.LookupTokens {
		d.MaxTokens = xragent.LookupTokens
	}
	some := func(text string) bool { return strings.TrimSpace(text) != "" }
	conditions := c.Conditions
	if c.Options != nil {
		part := fmt.Sprintf("conditions.%d", c.Number)
		out, ok, err := r.ask(m, r.asked(ledger.KindLookup, part, card, d), part, xragent.ConditionsTranscript(c.Options), some)
		if err != nil || !ok {
			return o, false, err
		}
		if conditions = xragent.ReadConditions(out.Answer.Text); out.Terminal || len(conditions) == 0 {
			return xragent.Observation{Status: xragent.StatusNotFound, Text: "the options name no condition"}, true, nil
		}
	}
	part := fmt.Sprintf("lookup.%d", c.Number)
	out, ok, err := r.ask(m, r.asked(ledger.KindLookup, part, card, d), part, xragent.LookupTranscript(conditions), some)
	if err != nil || !ok {
		return o, false, err
	}
	r.shown(part, out.Ref)
	if out.Terminal {
		return xragent.Observation{Status: xragent.StatusError, Text: "the reference book gave no answer"}, true, nil
	}
	return xragent.Observation{Status: xragent.StatusOK, Text: strings.TrimSpace(out.Answer.Text)}, true, nil
}
