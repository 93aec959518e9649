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
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/overlap"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/quiz"
)

// drawn is what both runs read: the questions, the list of their ids, and what the teacher
// wrote about them with the pictures that it saw.
type drawn struct {
	questions, items, trained artifacts.Ref
	files                     []contract.NamedRef
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
}

// draw draws the questions and plays the teacher on them.
func (o Options) draw(ctx context.Context) (out drawn, err error) {
	arm, err := xragent.ArmOf(Arm, "table")
	if err != nil {
		return out, err
	}
	store := o.Recorder.Store
	d := &drawing{store: store, agent: arm.Agent, files: map[string]artifacts.Ref{},
		items: manifest.NewWriter(store, contract.TrainingItemsKind, manifest.Limits{Items: math.MaxInt32}),
		set:   contract.Questions{Format: contract.QuestionsFormat, Layout: "quiz", DataUse: DataUse}}
	for n := range o.Pictures {
		s, err := quiz.Draw(o.Seed, quiz.Train, n)
		if err != nil {
			return out, err
		}
		if err := d.study(ctx, s); err != nil {
			return out, fmt.Errorf("picture %d: %w", n, err)
		}
	}
	if out.questions, err = put(ctx, store, d.set, contract.QuestionsMediaType); err != nil {
		return out, err
	}
	if out.items, err = d.items.Close(ctx); err != nil {
		return out, err
	}
	shown, err := o.Recorder.PutImages(ctx, d.images, DataUse)
	if err != nil {
		return out, err
	}
	if out.trained, err = o.Recorder.PutTrainingSet(ctx, contract.TrainingSet{Name: Trainer + "/teacher", DataUse: DataUse, Images: shown}, d.examples); err != nil {
		return out, err
	}
	if d.files["examples.jsonl"], err = store.Put(ctx, d.lines.Bytes(), contract.SamplesMediaType); err != nil {
		return out, err
	}
	for name, ref := range d.files {
		out.files = append(out.files, contract.NamedRef{Name: name, Ref: ref})
	}
	slices.SortFunc(out.files, func(a, b contract.NamedRef) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// study adds the questions of one picture.
func (d *drawing) study(ctx context.Context, s quiz.Study) error {
	if _, err := d.store.Put(ctx, s.PNG, "image/png"); err != nil {
		return err
	}
	d.images.Images = append(d.images.Images, overlap.Image{Image: s.Image.Digest})
	picture, err := cxr.Decode(s.PNG, cxr.Limits{})
	if err != nil {
		return err
	}
	for i, it := range s.Items {
		family := quiz.Families()[i]
		if family == quiz.Heart {
			continue
		}
		d.set.Items = append(d.set.Items, it)
		if err := d.items.Add(ctx, contract.TrainingItem{ID: it.ID, Number: len(d.set.Items) - 1}); err != nil {
			return err
		}
		line, err := d.taught(ctx, s, family, it, picture)
		if err != nil {
			return fmt.Errorf("item %s: %w", it.ID, err)
		}
		d.examples = append(d.examples, contract.TrainingExample{Example: artifacts.Sum(line), Images: []artifacts.Digest{s.Image.Digest}})
		d.lines.Write(append(line, '\n'))
	}
	return nil
}

// taught is what the teacher wrote about an item, as a line of examples.jsonl.
func (d *drawing) taught(ctx context.Context, s quiz.Study, family quiz.Family, it xragent.Item, picture *cxr.Image) ([]byte, error) {
	teacher := quiz.DefaultTeacher()
	p, err := quiz.Table{Agent: d.agent, Item: it, Picture: picture}.Play(func(p quiz.Played, step xragent.Step) (xragent.Turn, error) {
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
	return artifacts.Canonical(map[string]any{"id": it.ID, "messages": c.Messages, "images": names})
}
