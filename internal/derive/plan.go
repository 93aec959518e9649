package derive

import (
	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/datause"
)

// Plan is a plan with what follows from it.
type Plan struct {
	*experiments.Plan
	Ref      artifacts.Ref
	Rules    *chexstruct.Rules
	Decoding contract.Decoding
	Limits   cxr.Limits
	// Tasks are the sections to assess, the global filter first.
	Tasks []chexstruct.Task
}

// NewPlan returns the stored plan ref, decoded as p.
func NewPlan(p *experiments.Plan, ref artifacts.Ref) (*Plan, error) {
	rules, err := experiments.Rules(&p.Spec)
	if err != nil {
		return nil, contract.Fail(contract.ErrTypeSpec, "plan %s: %w", ref.Digest.Short(), err)
	}
	out := &Plan{Plan: p, Ref: ref, Rules: rules, Tasks: []chexstruct.Task{chexstruct.Global}}
	out.Decoding, out.Limits = Decoding(p.Spec.Dataset.Limits)
	for _, name := range p.Spec.Tasks {
		t, ok := chexstruct.ParseTask(name)
		if !ok {
			return nil, contract.Fail(contract.ErrTypeSpec, "plan %s: no task is called %q; this worker knows %v", ref.Digest.Short(), name, chexstruct.Sections())
		}
		out.Tasks = append(out.Tasks, t)
	}
	return out, nil
}

// Decoding is how images are decoded under a spec's limits.
func Decoding(l experiments.Limits) (contract.Decoding, cxr.Limits) {
	return contract.Decoding{Version: cxr.DecoderVersion, MaxBytes: l.MaxBytes, MaxPixels: l.MaxPixels}, cxr.Limits{MaxBytes: l.MaxBytes, MaxPixels: l.MaxPixels}
}

// Class is the class that a store must be attested for to hold what is made from the plan's
// data set.
func (p *Plan) Class() string { return datause.StoreClass(p.Spec.Dataset.DataUse) }

// Inference identifies the plan's model; it is the zero value for imported masks.
func (p *Plan) Inference() contract.Inference {
	return p.inference(p.Model)
}

// MasksKey is the key of an entry's masks, from whatever source.
func (p *Plan) MasksKey(e contract.Entry) artifacts.KeyDoc {
	if p.Spec.Masks.Import != nil {
		return contract.ImportMasksKey(e.Masks, p.Spec.Masks.Import.Kind, e.Width, e.Height)
	}
	return contract.SegmentKey(e.Image, p.Inference())
}
