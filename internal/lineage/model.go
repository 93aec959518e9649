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
// weights, or their identity as a parameter.
func (r *Run) Models(ctx context.Context) (map[string]artifacts.Digest, error) {
	m, err := r.models(ctx)
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
func (x *Explorer) titled(ctx context.Context, n Node) Node {
	for _, r := range x.runs {
		m, err := r.models(ctx)
		if err != nil {
			continue // without its plan a run names nothing
		}
		titles := m.titles
		if n.Kind == KindPrompt {
			titles = r.prompts(ctx)
		}
		if title := titles[n.Digest]; title != "" {
			n.Title = title
			return n
		}
	}
	return n
}

// prompts names the texts of the run's prompt pack by their digests in keys.
func (r *Run) prompts(ctx context.Context) map[artifacts.Digest]string {
	if r.texts != nil {
		return r.texts
	}
	r.texts = map[artifacts.Digest]string{}
	if b, err := r.Benchmark(ctx); err == nil && b != nil && b.System != "" {
		r.texts[systemDigest(b.System)] = "system message"
	}
	pack, err := r.pack(ctx)
	if err != nil {
		return r.texts // without its pack a run names no prompt
	}
	r.texts[pack.Questions()] = "texts of the questions"
	for _, p := range cxreasonbench.JudgePrompts() {
		r.texts[systemDigest(pack.Judge(p))] = "judge: " + words(p.String())
	}
	return r.texts
}

// pack is the run's prompt pack.
func (r *Run) pack(ctx context.Context) (*cxreasonbench.Pack, error) {
	if r.packed != nil {
		return r.packed, nil
	}
	p, err := r.Plan(ctx)
	if err != nil {
		return nil, err
	}
	data, err := r.x.docs.Get(ctx, p.Prompts)
	if err != nil {
		return nil, err
	}
	r.packed, err = cxreasonbench.ParsePack(data)
	return r.packed, err
}

func systemDigest(text string) artifacts.Digest {
	return contract.MessageDigest(dialogue.Transcript{}.System(text).Messages[0])
}
