package activities

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/derive"
)

// BuildCases builds questions and pictures of one chunk of drawn cases, one record a case.
// Cases that have a record are not touched.
func (a *Activities) BuildCases(ctx context.Context, in contract.BuildCasesInput) (contract.ChunkResult, error) {
	pl, recipe, _, err := a.recipe(ctx, in.Plan)
	if err != nil {
		return contract.ChunkResult{}, err
	}
	prompts, err := a.prompts(ctx, pl)
	if err != nil {
		return contract.ChunkResult{}, err
	}
	drawn, err := a.drawn(ctx, in.Drawn)
	if err != nil {
		return contract.ChunkResult{}, err
	}
	first := in.Chunk * contract.CaseChunk
	if in.Chunk < 0 || first >= len(drawn.Cases) {
		return contract.ChunkResult{}, fmt.Errorf("chunk %d of %d cases", in.Chunk, len(drawn.Cases))
	}
	cases := drawn.Cases[first:min(first+contract.CaseChunk, len(drawn.Cases))]
	p := a.beat(ctx, len(cases))
	defer p.close()
	t := &tally{effort: effort{reproduction: in.Reproduction, ingest: in.Ingest, id: in.Reproduction}}
	out := contract.BuiltCases{Chunk: in.Chunk, Cases: []contract.BenchmarkCase{}}
	for i := range cases {
		if err := p.next(); err != nil {
			return contract.ChunkResult{}, err
		}
		m := &caseMaker{a: a, p: p, plan: pl, recipe: recipe, prompts: prompts, drawn: &cases[i]}
		doc, ref, err := m.once(t)
		if err != nil {
			return contract.ChunkResult{}, err
		}
		derive.Count(&out, cases[i].Source.Task, doc, ref)
		p.step(1)
	}
	ref, err := putJSON(p.work, a.opts.Store.ForClass(pl.Class()), out, contract.BuiltCasesMediaType)
	if err != nil {
		return contract.ChunkResult{}, err
	}
	t.totals.Items = len(cases)
	t.totals.Workers = contract.AddCount(nil, a.opts.Owner.Worker, 1)
	return contract.ChunkResult{Output: ref, Totals: t.totals}, nil
}

// prompts returns the plan's prompt pack.
func (a *Activities) prompts(ctx context.Context, pl *derive.Plan) (*cxreasonbench.Pack, error) {
	return derive.Prompts(pl.Plan, a.asks.pack(ctx))
}

// caseMaker makes one case.
type caseMaker struct {
	a       *Activities
	p       *pulse
	plan    *derive.Plan
	recipe  cxreasonbench.Recipe
	prompts *cxreasonbench.Pack
	drawn   *contract.DrawnCase
	// put, if set, takes the pictures in place of the store.
	put func(ctx context.Context, data []byte, mediaType string) (artifacts.Ref, error)
}

// key is the key of the case.
func (m *caseMaker) key() artifacts.KeyDoc {
	return m.plan.BuildCaseKey(m.drawn, m.recipe, m.prompts)
}

// once returns the case's document, making it if nobody did. A document without items is that
// of a case of which a picture cannot be shown.
func (m *caseMaker) once(t *tally) (*contract.CaseDoc, artifacts.Ref, error) {
	rec, err := m.a.steps.once(m.p, m.key(), t, m.plan.Class(), func(ctx context.Context) (product, error) {
		doc, err := m.make(ctx)
		if err != nil {
			return product{}, m.clean(err)
		}
		text, err := artifacts.Canonical(doc)
		return product{data: text, mediaType: contract.CaseMediaType}, err
	})
	if err != nil {
		return nil, artifacts.Ref{}, err
	}
	doc, err := getJSON[*contract.CaseDoc](m.p.work, m.a.opts.Store, rec.Result)
	return doc, rec.Result, err
}

// clean replaces errors of the generator, which name the case's id, by what they mean.
func (m *caseMaker) clean(err error) error {
	var no *cxreasonbench.IneligibleError
	if errors.As(err, &no) {
		return fail(contract.ErrTypeSpec, "case %d, %s: it was drawn, but cannot be asked about: %s", m.drawn.Entry.Case, no.Task, no.Reason)
	}
	return fmt.Errorf("case %d, %s: %w", m.drawn.Entry.Case, m.drawn.Source.Task, err)
}

// make builds items, pictures and document.
func (m *caseMaker) make(ctx context.Context) (*contract.CaseDoc, error) {
	e, s := &m.drawn.Entry, m.drawn.Source
	film, img, err := m.a.radiograph(ctx, m.plan, *e)
	if err != nil {
		return nil, err
	}
	scene, err := m.scene(ctx, img)
	if err != nil {
		return nil, err
	}
	m.p.progress()
	doc := &contract.CaseDoc{
		Format: contract.CaseDocFormat, Task: s.Task, ID: s.Case, Image: e.Image,
		Items: []cxreasonbench.Item{}, Pictures: map[string]artifacts.Ref{},
	}
	if s.View.Valid() {
		doc.View = s.View.String()
	}
	rules := m.recipe.Rules
	s.Overlays = slices.DeleteFunc(slices.Clone(s.Overlays), func(o cxreasonbench.Overlay) bool { return !scene.Shows(rules, o) })
	if err := s.Check(rules); err != nil {
		var no *cxreasonbench.IneligibleError
		if errors.As(err, &no) {
			return doc, nil
		}
		return nil, err
	}
	items, err := cxreasonbench.BuildItems(rules, m.recipe.Seed, m.prompts, s, m.drawn.Formats)
	if err != nil {
		return nil, err
	}
	pictures, err := scene.DrawItems(rules, m.recipe.Profile, items)
	if errors.Is(err, cxreasonbench.ErrNotShown) {
		return doc, nil
	}
	if err != nil {
		return nil, err
	}
	put := m.put
	if put == nil {
		put = m.a.opts.Store.ForClass(m.plan.Class()).Put
	}
	for path, data := range pictures {
		if doc.Pictures[path], err = put(ctx, data, cxr.FormatPNG.MediaType()); err != nil {
			return nil, err
		}
		m.p.progress()
	}
	h, err := cxr.ReadHeader(bytes.NewReader(film))
	if err != nil {
		return nil, err
	}
	doc.Pictures[s.Radiograph], err = put(ctx, film, h.Format.MediaType())
	doc.Items = items
	return doc, err
}

// scene measures the case again for the positions that rows do not hold.
func (m *caseMaker) scene(ctx context.Context, img *cxr.Image) (*cxreasonbench.Scene, error) {
	in, err := loadInput(ctx, m.a.opts.Store, m.drawn.Entry, m.drawn.Masks)
	if err != nil {
		return nil, err
	}
	result, err := chexstruct.Assess(in, m.plan.Rules, derive.CaseTasks(m.drawn))
	if err != nil {
		return nil, fail(contract.ErrTypeDataset, "%w", err)
	}
	return &cxreasonbench.Scene{
		Image: img, Masks: in.Masks, NonZero: in.Facts.NonZero, CheXmaskRightLung: in.CheXmaskRightLung,
		Marks: cxreasonbench.MarksOf(result),
	}, nil
}
