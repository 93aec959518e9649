package lineage

import (
	"context"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/catalog"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/dialogue"
)

// models names what the cards of a run's plan are known by in keys.
type models struct {
	titles map[artifacts.Digest]string
	// segmentation is the digest of the weights that made the masks, judge what the judge is
	// known by; asked are the cards under evaluation by name.
	segmentation, judge artifacts.Digest
	asked               map[string]artifacts.Digest
}

// Models returns the names of the cards of a run's plan with what they are known by: their
// weights, or their identity as a parameter. A plan that is gone names nothing.
func (r *Run) Models(ctx context.Context) (map[string]artifacts.Digest, error) {
	m, err := r.models(ctx)
	if gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]artifacts.Digest{}
	for d, title := range m.titles {
		out[title] = d
	}
	return out, nil
}

func (r *Run) models(ctx context.Context) (*models, error) {
	if r.cards != nil {
		return r.cards, nil
	}
	p, err := r.Plan(ctx)
	if err != nil {
		return nil, err
	}
	m := &models{titles: map[artifacts.Digest]string{}, asked: map[string]artifacts.Digest{}}
	if p.Model != nil {
		m.segmentation = p.Model.Weights.Digest
		m.titles[m.segmentation] = p.Model.Name
	}
	add := func(c *experiments.ModelCard) (artifacts.Digest, error) {
		d, err := knownBy(c)
		m.titles[d] = c.Name
		return d, err
	}
	for i := range p.Models {
		c := &p.Models[i]
		if m.asked[c.Name], err = add(c); err != nil {
			return nil, err
		}
	}
	if p.Judge != nil {
		if m.judge, err = add(p.Judge); err != nil {
			return nil, err
		}
	}
	r.cards = m
	return m, nil
}

// knownBy is how a key of a call names a model: by its weights, or by the digest of its identity.
func knownBy(c *experiments.ModelCard) (artifacts.Digest, error) {
	id := c.KnownAs()
	if !id.Weights.IsZero() {
		return id.Weights, nil
	}
	p, err := catalog.NewParameter(catalog.LinkModel, id)
	return p.Digest, err
}

// titled names a model by its card, and a prompt by its place in the prompt pack, where a run
// knows it.
func (x *Explorer) titled(ctx context.Context, n Node) (Node, error) {
	for _, r := range x.runs {
		titles, err := r.titles(ctx, n.Kind)
		if err != nil {
			return n, err
		}
		if title := titles[n.Digest]; title != "" {
			n.Title = title
			return n, nil
		}
	}
	return n, nil
}

// titles are the run's names of models or of prompts by digest. What is gone names nothing.
func (r *Run) titles(ctx context.Context, k Kind) (map[artifacts.Digest]string, error) {
	if k == KindPrompt {
		return r.prompts(ctx)
	}
	m, err := r.models(ctx)
	if gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return m.titles, nil
}

// prompts names the texts of the run's prompt pack by their digests in keys.
func (r *Run) prompts(ctx context.Context) (map[artifacts.Digest]string, error) {
	if r.texts != nil {
		return r.texts, nil
	}
	texts := map[artifacts.Digest]string{}
	b, err := r.Benchmark(ctx)
	if err != nil && !gone(err) {
		return nil, err
	}
	if b != nil && b.System != "" {
		texts[systemDigest(b.System)] = "system message"
	}
	pack, err := r.pack(ctx)
	if err != nil && !gone(err) {
		return nil, err
	}
	if pack != nil {
		texts[pack.Questions()] = "texts of the questions"
		for _, p := range cxreasonbench.JudgePrompts() {
			texts[systemDigest(pack.Judge(p))] = "judge: " + words(p.String())
		}
	}
	r.texts = texts
	return texts, nil
}

// pack is the run's prompt pack; nil for a run that asked nothing.
func (r *Run) pack(ctx context.Context) (*cxreasonbench.Pack, error) {
	if r.packed != nil {
		return r.packed, nil
	}
	p, err := r.Plan(ctx)
	if err != nil {
		return nil, err
	}
	if p.Prompts.IsZero() {
		return nil, nil
	}
	data, err := load(ctx, r.x.docs, p.Prompts)
	if err != nil {
		return nil, err
	}
	r.packed, err = cxreasonbench.ParsePack(data)
	return r.packed, err
}

func systemDigest(text string) artifacts.Digest {
	return contract.MessageDigest(dialogue.Transcript{}.System(text).Messages[0])
}
