package activities

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/experiments"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
	"cxrepro/internal/trainer/quiztraining"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/radcot"
)

// radcotData is what a construction of training examples gives a training: its questions for
// rounds, its files for trainers that read them, and the training set of what is taught.
func (a *Activities) radcotData(p *pulse, recorder *checkpoint.Recorder, t *contract.Training, section *experiments.Training) (out quiztraining.Data, err error) {
	store := a.storeOf(t)
	doc, err := getJSON[contract.RadCoTDoc](p.work, store, artifacts.Ref{Digest: section.Data.RadCoT, MediaType: contract.RadCoTMediaType})
	if err != nil {
		return out, fail(contract.ErrTypeSpec, "training.data.radcot %s: %w; it is the digest that `cxrepro xragent radcot run` prints", section.Data.RadCoT.Short(), err)
	}
	if doc.Format != contract.RadCoTFormat {
		return out, fail(contract.ErrTypeSpec, "training.data.radcot %s: format %q, want %q", section.Data.RadCoT.Short(), doc.Format, contract.RadCoTFormat)
	}
	named := func(name string) *contract.Report {
		if i := slices.IndexFunc(doc.Files, func(f contract.Report) bool { return f.Name == name }); i >= 0 {
			return &doc.Files[i]
		}
		return nil
	}
	file := named(radcot.ExamplesFile)
	if file == nil {
		return out, fail(contract.ErrTypeSpec, "training.data.radcot %s has no %s", section.Data.RadCoT.Short(), radcot.ExamplesFile)
	}
	data, err := store.Get(p.work, file.Ref)
	if err != nil {
		return out, err
	}
	items, lessons := trainingList(store), trainingList(store)
	q := contract.Questions{Format: contract.QuestionsFormat, Layout: experiments.LayoutRadCoT, DataUse: t.DataUse}
	var taught []contract.TrainingExample
	for n, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		p.progress()
		var e radcot.Example
		if err := json.Unmarshal(line, &e); err != nil {
			return out, fmt.Errorf("%s, line %d: %w", radcot.ExamplesFile, n+1, err)
		}
		if err := covers(t.DataUse, e.DataUse, "examples of training.data.radcot"); err != nil {
			return out, err
		}
		teaches, rolls := e.Part.SFT(), e.Part.GRPO() && e.Question != nil
		if teaches {
			taught = append(taught, contract.TrainingExample{Example: artifacts.Sum(line), Images: []artifacts.Digest{e.Picture.Image.Digest}})
			if err := lessons.Add(p.work, contract.TrainingItem{ID: e.ID, Number: n}); err != nil {
				return out, err
			}
		}
		if rolls {
			if err := items.Add(p.work, contract.TrainingItem{ID: e.ID, Number: len(q.Items)}); err != nil {
				return out, err
			}
			q.Items = append(q.Items, xragent.Item{ID: e.ID, Question: *e.Question, Pictures: []xragent.ItemPicture{{Image: e.Picture.Image}}})
		}
	}
	if out.Items, err = items.Close(p.work); err != nil {
		return out, err
	}
	if out.Taught, err = lessons.Close(p.work); err != nil {
		return out, err
	}
	if out.Questions, err = putJSON(p.work, store, q, contract.QuestionsMediaType); err != nil {
		return out, err
	}
	trained, err := recorder.PutTrained(p.work, t.Name+"/radcot", t.DataUse, taught)
	if err != nil {
		return out, fail(contract.ErrTypeSpec, "training.data.radcot: %w", err)
	}
	out.Trained = trained.Set
	for _, f := range doc.Files {
		switch parts := strings.Split(f.Name, "."); {
		case f.Name == radcot.FileName(radcot.SFT, radcot.Contract):
			out.Files = append(out.Files, contract.NamedRef{Name: "examples.jsonl", Ref: f.Ref})
		case len(parts) == 3 && parts[1] == section.Trainer:
			out.Files = append(out.Files, contract.NamedRef(f))
		}
	}
	for _, picture := range doc.Pictures {
		out.Files = append(out.Files, contract.NamedRef{Name: radcot.StorePath(picture), Ref: picture})
	}
	slices.SortFunc(out.Files, func(a, b contract.NamedRef) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// trainingList is a list of training items in the making.
func trainingList(store *artifacts.Repository) *manifest.Writer {
	return manifest.NewWriter(store, contract.TrainingItemsKind, manifest.Limits{Items: math.MaxInt32})
}
