package activities

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/derive"
	"cxrepro/internal/xragent"
)

// ImportQuestions reads or draws the plan's question set, puts its pictures into the store and
// stores its manifest. What is wrong with a published set ends the import.
func (a *Activities) ImportQuestions(ctx context.Context, in contract.ImportQuestionsInput) (contract.QuestionsResult, error) {
	var none contract.QuestionsResult
	p := a.beat(ctx, 1)
	defer p.close()
	pl, err := a.plan(p.work, in.Plan)
	if err != nil {
		return none, err
	}
	if pl.Spec.Agent == nil {
		return none, fail(contract.ErrTypeSpec, "plan %s has no agent section", pl.Ref.Digest.Short())
	}
	if err := a.launching(p, in.Plan); err != nil {
		return none, err
	}
	set, err := a.questionSet(pl)
	if err != nil {
		return none, err
	}
	if err := a.storePictures(p, pl, set); err != nil {
		return none, err
	}
	doc := contract.Questions{
		Format: contract.QuestionsFormat, Layout: pl.Spec.Dataset.Layout, Version: set.Version, DataUse: pl.Spec.Dataset.DataUse,
		Items: set.Items, Notes: set.Notes,
	}
	ref, err := putJSON(p.work, a.opts.Store.ForClass(pl.Class()), doc, contract.QuestionsMediaType)
	if err != nil {
		return none, err
	}
	pictures, windows := len(doc.Pictures()), 0
	if pl.Plan.View != nil { // else no arm measures
		windows = contract.PictureWindows(pictures)
	}
	return contract.QuestionsResult{
		Questions: ref, Reproduction: contract.ReproductionID(pl.Ref.Digest, ref.Digest), Ingest: contract.IngestID(pl.Ref.Digest, ref.Digest),
		Items: len(doc.Items), Pictures: pictures, Windows: windows,
		Totals: contract.ChunkTotals{Items: len(doc.Items), Workers: contract.AddCount(nil, a.opts.Owner.Worker, 1)},
	}, nil
}

// storePictures puts every picture of a set into the store, each once, and names them in the
// items. Paths are left out of the items: they may tell of a patient.
func (a *Activities) storePictures(p *pulse, pl *derive.Plan, set *xragent.QuestionSet) error {
	store := a.opts.Store.ForClass(pl.Class())
	stored := map[string]artifacts.Ref{}
	for i := range set.Items {
		if err := p.next(); err != nil {
			return err
		}
		item := &set.Items[i]
		for k := range item.Pictures {
			path := item.Pictures[k].Path
			ref, have := stored[path]
			if !have {
				var err error
				if ref, err = a.storePicture(p.work, store, pl, set, path); err != nil {
					return fail(contract.ErrTypeDataset, "item %d, picture %d: %w", i, k, err)
				}
				stored[path] = ref
			}
			if named := item.Pictures[k].Image; !named.IsZero() && named.Digest != ref.Digest {
				return fail(contract.ErrTypeDataset, "item %d, picture %d: the set names it by digest %s, it has %s", i, k, named.Digest.Short(), ref.Digest.Short())
			}
			item.Pictures[k] = xragent.ItemPicture{Image: ref}
		}
		p.step(1)
	}
	return nil
}

func (a *Activities) storePicture(ctx context.Context, store *artifacts.Repository, pl *derive.Plan, set *xragent.QuestionSet, path string) (artifacts.Ref, error) {
	data, err := set.Picture(path)
	if err != nil {
		return artifacts.Ref{}, err
	}
	picture, err := pictureOf(data, pl.Limits)
	if err != nil {
		return artifacts.Ref{}, err
	}
	return store.Put(ctx, picture.data, picture.mime)
}

// questionDoc is a question set as rollouts read it.
type questionDoc struct {
	contract.Questions
	ref artifacts.Ref
}

func (a *Activities) questions(ctx context.Context, ref artifacts.Ref) (*questionDoc, error) {
	return load(ctx, a.docs, ref, func(ctx context.Context, ref artifacts.Ref) (*questionDoc, error) {
		doc, err := getJSON[contract.Questions](ctx, a.opts.Store, ref)
		if err != nil {
			return nil, fmt.Errorf("load question set: %w", err)
		}
		if doc.Format != contract.QuestionsFormat {
			return nil, fail(contract.ErrTypeSpec, "question set %s: format %q, want %q", ref.Digest.Short(), doc.Format, contract.QuestionsFormat)
		}
		return &questionDoc{doc, ref}, nil
	})
}

// item returns an item by its number.
func (q *questionDoc) item(number int) (*xragent.Item, error) {
	if number < 0 || number >= len(q.Items) {
		return nil, fail(contract.ErrTypeSpec, "item %d: the question set has items 0 to %d", number, len(q.Items)-1)
	}
	return &q.Items[number], nil
}

// storedPixels decodes a picture of the store.
func (a *Activities) storedPixels(ctx context.Context, pl *derive.Plan, ref artifacts.Ref) (*cxr.Image, error) {
	data, err := a.opts.Store.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	img, err := cxr.Decode(data, pl.Limits)
	if err != nil {
		return nil, fail(contract.ErrTypeDataset, "picture %s: %w", ref.Digest.Short(), err)
	}
	return img, nil
}
