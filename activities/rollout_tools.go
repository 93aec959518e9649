package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/datause"
	"cxrepro/internal/ledger"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/textseg"
	"cxrepro/internal/mask"
	"cxrepro/internal/provenance"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/tools"
)

// Versions of the tools of the platform: raise one when the same call may answer otherwise.
const (
	parseVersion = tools.ParseVersion
	cropVersion  = xragent.CropVersion
)

// tool answers one call.
func (r *rollout) tool(m means, c xragent.ToolCall) (bool, error) {
	o, ok, err := r.answer(m, c)
	if err != nil || !ok {
		return false, err
	}
	r.Rollout, err = r.arm.Agent.Observed(r.Rollout, o)
	return err == nil, err
}

// answer is what the tool of a call says.
func (r *rollout) answer(m means, c xragent.ToolCall) (o xragent.Observation, ok bool, err error) {
	switch c.Name {
	case xragent.ToolParse:
		o, ok, err = r.parse(m, c, fmt.Sprintf("observation.%d", c.Number))
	case xragent.ToolCrop:
		o, ok, err = r.crop(m, c)
	case xragent.ToolLookup:
		o, ok, err = r.lookup(m, c)
	default:
		err = fail(contract.ErrTypeSpec, "item %d: no tool is called %q", r.in.Item, c.Name)
	}
	o.Call, o.Name = c.Number, c.Name
	return o, ok, err
}

// recordedTool returns what a tool answers for part of the rollout, making it where nobody did.
func (r *rollout) recordedTool(m means, c xragent.ToolCall, part string, doc artifacts.KeyDoc, materials []provenance.Descriptor, compute func(ctx context.Context) (xragent.Observation, error)) (o xragent.Observation, ok bool, err error) {
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
	r.shown(part, rec.Result)
	r.tools = append(r.tools, contract.RolloutTool{Call: c.Number, Key: rec.Key.Digest, Result: rec.Result})
	o, err = getJSON[xragent.Observation](m.context(), m.activities().opts.Store, rec.Result)
	return o, err == nil, err
}

// parse outlines a structure in the masks of the picture, or what the words of a target name
// where the plan has a segmenter for them.
func (r *rollout) parse(m means, c xragent.ToolCall, part string) (o xragent.Observation, ok bool, err error) {
	image := r.Pictures[c.Image]
	doc, ok, err := r.measurement(m, image)
	if err != nil || !ok {
		return o, false, err
	}
	c.Target = strings.ToLower(strings.Join(strings.Fields(c.Target), " "))
	arguments := map[string]any{"target": c.Target}
	if s := r.plan.Spec.Agent.Segmenter; s != "" {
		arguments["segmenter"] = textseg.Identity(s)
	}
	key := contract.ToolKey(c.Name, parseVersion, arguments, image.Digest, doc.Masks.Digest)
	a := m.activities()
	return r.recordedTool(m, c, part, key, []provenance.Descriptor{provenance.Describe("image", image), provenance.Describe("masks", doc.Masks)}, func(ctx context.Context) (xragent.Observation, error) {
		return tools.Visual(ctx, toolSource{a, r, doc.Masks}, r.finder(a), r.Pictures, c, nil)
	})
}

// finder is what outlines words; nil where the plan names none.
func (r *rollout) finder(a *Activities) tools.Finder {
	if r.plan.Spec.Agent.Segmenter == "" {
		return nil
	}
	return wordFinder{a, r}
}

// wordFinder asks the plan's text-prompted segmenter.
type wordFinder struct {
	a *Activities
	r *rollout
}

// Find implements tools.Finder. A service that fails is no observation: the attempt fails, and
// is repeated or ends as calls to models do.
func (f wordFinder) Find(ctx context.Context, picture artifacts.Ref, target string) (mask.Mask, error) {
	model := f.r.plan.Spec.Agent.Segmenter
	if f.a.opts.Segmenter == nil {
		return mask.Mask{}, fail(contract.ErrTypeEndpoint, "this worker has no text-prompted segmenter %s; name one under segmenters in the file of --endpoints", model)
	}
	class, err := datause.Parse(f.r.class)
	if err != nil {
		return mask.Mask{}, fail(contract.ErrTypeSpec, "%w", err)
	}
	find, err := f.a.opts.Segmenter(model, class)
	var m mask.Mask
	if err == nil {
		m, err = find.Find(ctx, picture, target)
	}
	var call *lvlm.CallError
	if errors.As(err, &call) {
		return m, &endpointError{name: model, err: call, delay: call.RetryAfter, attempt: attemptNumber(ctx)}
	}
	return m, err
}

// toolSource is where the tools of a rollout find pictures and masks.
type toolSource struct {
	a     *Activities
	r     *rollout
	masks artifacts.Ref
}

func (s toolSource) Picture(ctx context.Context, ref artifacts.Ref) (*cxr.Image, error) {
	return s.a.storedPixels(ctx, s.r.plan, ref)
}

func (s toolSource) Masks(ctx context.Context, _ artifacts.Ref) (*anatomy.Masks, error) {
	return s.a.storedMasks(ctx, s.masks)
}

func (s toolSource) Keep(ctx context.Context, png []byte) (artifacts.Ref, error) {
	return s.a.opts.Store.ForClass(s.r.plan.Class()).Put(ctx, png, "image/png")
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
	if !ok && o.Status == xragent.StatusUnsupported && r.finder(a) != nil {
		o, ok, err = r.parse(m, xragent.ToolCall{Number: c.Number, Name: xragent.ToolParse, Image: c.Image, Target: c.Region}, fmt.Sprintf("region.%d", c.Number))
		if err != nil || !ok {
			return o, false, err
		}
		if ok = o.Box != nil; ok {
			box = *o.Box
		}
	}
	if !ok {
		return o, true, nil
	}
	key := contract.ToolKey(c.Name, cropVersion, map[string]any{"box": box[:]}, image.Digest, artifacts.Digest{})
	part := fmt.Sprintf("observation.%d", c.Number)
	return r.recordedTool(m, c, part, key, []provenance.Descriptor{provenance.Describe("image", image)}, func(ctx context.Context) (xragent.Observation, error) {
		return tools.Visual(ctx, toolSource{a: a, r: r}, nil, r.Pictures, xragent.ToolCall{Name: c.Name, Image: c.Image, Box: &box}, nil)
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
