package quiztraining

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/experiments"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/overlap"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/quiz"
)

// Data is what the runs of a training read: the question set, the items of rounds and of examples,
// the examples as a training set, and as files with the pictures that they name.
type Data struct {
	Questions, Items, Taught, Trained artifacts.Ref
	Files                             []contract.NamedRef
}

// drawing is a question set in the making.
type drawing struct {
	store    *artifacts.Repository
	agent    xragent.Agent
	items    *manifest.Writer
	set      contract.Questions
	lines    bytes.Buffer
	examples []contract.TrainingExample
	images   overlap.List
	files    map[string]artifacts.Ref
	measured Bundles
}

// Bundles returns what a picture's measurement shows: the same records are what the teacher writes
// from and what rounds and evaluations show.
type Bundles func(ctx context.Context, image artifacts.Ref) (xragent.Bundle, error)

// Draw draws questions and plays the teacher on them, as an agent under an arm sees them. name is
// that of the training set; measured is asked where the arm measures.
func Draw(ctx context.Context, recorder *checkpoint.Recorder, name string, arm xragent.Arm, q experiments.Quiz, measured Bundles, progress func()) (out Data, err error) {
	store := recorder.Store
	d := &drawing{store: store, agent: arm.Agent, measured: measured, files: map[string]artifacts.Ref{}, images: overlap.List{Perceptual: overlap.PerceptualName},
		items: manifest.NewWriter(store, contract.TrainingItemsKind, manifest.Limits{Items: math.MaxInt32}),
		set:   contract.Questions{Format: contract.QuestionsFormat, Layout: "quiz", DataUse: DataUse}}
	for n := range q.Pictures {
		progress()
		s, err := quiz.Draw(q.Seed, quiz.Split(q.Split), n)
		if err != nil {
			return out, err
		}
		if err := d.study(ctx, s); err != nil {
			return out, fmt.Errorf("picture %d: %w", n, err)
		}
	}
	if out.Questions, err = put(ctx, store, d.set, contract.QuestionsMediaType); err != nil {
		return out, err
	}
	if out.Items, err = d.items.Close(ctx); err != nil {
		return out, err
	}
	out.Taught = out.Items
	shown, err := recorder.PutImages(ctx, d.images, DataUse)
	if err != nil {
		return out, err
	}
	// The data set tells rounds, which show single pictures of it, how these look.
	set, err := recorder.PutDataset(ctx, contract.DatasetEntry{
		Name: "quiz", Version: fmt.Sprintf("%d, seed %d, %s, %d pictures", quiz.Version, q.Seed, q.Split, q.Pictures), DataUse: DataUse, Images: shown,
	})
	if err != nil {
		return out, err
	}
	trained := contract.TrainingSet{Name: name + "/teacher", DataUse: DataUse, Images: shown, Datasets: []artifacts.Ref{set}}
	if out.Trained, err = recorder.PutTrainingSet(ctx, trained, d.examples); err != nil {
		return out, err
	}
	if d.files["examples.jsonl"], err = store.Put(ctx, d.lines.Bytes(), contract.SamplesMediaType); err != nil {
		return out, err
	}
	for name, ref := range d.files {
		out.Files = append(out.Files, contract.NamedRef{Name: name, Ref: ref})
	}
	slices.SortFunc(out.Files, func(a, b contract.NamedRef) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// study adds the questions of one picture.
func (d *drawing) study(ctx context.Context, s quiz.Study) error {
	if _, err := d.store.Put(ctx, s.PNG, "image/png"); err != nil {
		return err
	}
	picture, err := cxr.Decode(s.PNG, cxr.Limits{})
	if err != nil {
		return err
	}
	looks, err := overlap.Perceptual(picture)
	if err != nil {
		return err
	}
	d.images.Images = append(d.images.Images, overlap.Image{Image: s.Image.Digest, Perceptual: &looks})
	table := quiz.Table{Agent: d.agent, Picture: picture}
	if !d.agent.NoMeasurement {
		if table.Bundle, err = d.measured(ctx, s.Image); err != nil {
			return err
		}
	}
	for i, it := range s.Items {
		family := quiz.Families()[i]
		if family == quiz.Heart && d.agent.NoMeasurement {
			continue // nothing says how large the heart is
		}
		d.set.Items = append(d.set.Items, it)
		if err := d.items.Add(ctx, contract.TrainingItem{ID: it.ID, Number: len(d.set.Items) - 1}); err != nil {
			return err
		}
		table.Item = it
		line, err := d.taught(ctx, s, family, table)
		if err != nil {
			return fmt.Errorf("item %s: %w", it.ID, err)
		}
		d.examples = append(d.examples, contract.TrainingExample{Example: artifacts.Sum(line), Images: []artifacts.Digest{s.Image.Digest}})
		d.lines.Write(append(line, '\n'))
	}
	return nil
}

// taught is what the teacher wrote about an item, as a line of examples.jsonl.
func (d *drawing) taught(ctx context.Context, s quiz.Study, family quiz.Family, table quiz.Table) ([]byte, error) {
	teacher := quiz.DefaultTeacher()
	p, err := table.Play(func(p quiz.Played, step xragent.Step) (xragent.Turn, error) {
		return teacher.Turn(s, family, 0, p.Rollout, step)
	})
	if err != nil {
		return nil, err
	}
	c, err := d.agent.Conversation(p.Rollout)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, ref := range c.Images {
		data := s.PNG
		if crop, ok := p.Crops[ref.Digest]; ok {
			data = crop
		}
		name := fmt.Sprintf("pictures/%s.png", ref.Digest.Hex()[:32])
		if d.files[name], err = d.store.Put(ctx, data, "image/png"); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return artifacts.Canonical(map[string]any{"id": table.Item.ID, "messages": c.Messages, "images": names})
}
