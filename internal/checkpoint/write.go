package checkpoint

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/internal/contract"
	"cxrepro/internal/datause"
	"cxrepro/internal/overlap"
)

// PutImages stores a list of images, each once with all that is known of it, in the order of
// their digests: equal images give an equal list.
//
// Errors: an image without a digest; hashes or groups whose name is not given.
func (r *Recorder) PutImages(ctx context.Context, list overlap.List, dataUse string) (contract.ImageList, error) {
	images := overlap.Distinct(list.Images)
	slices.SortFunc(images, func(a, b overlap.Image) int { return bytes.Compare(a.Image[:], b.Image[:]) })
	out := contract.ImageList{Count: len(images)}
	w := manifest.NewWriter(r.Store.ForClass(datause.StoreClass(dataUse)), contract.ImageListKind, manifest.Limits{})
	for _, m := range images {
		switch {
		case m.Image.IsZero():
			return out, errors.New("list of images: one has no digest")
		case m.Perceptual != nil && list.Perceptual == "":
			return out, fmt.Errorf("list of images: image %s has a perceptual hash, and the list names none", m.Image.Short())
		case (m.Study != "" || m.Patient != "") && list.Grouping == "":
			return out, fmt.Errorf("list of images: image %s is grouped, and the list names no key", m.Image.Short())
		}
		if m.Perceptual != nil {
			out.Perceptual = list.Perceptual
		}
		if m.Study != "" || m.Patient != "" {
			out.Grouping = list.Grouping
		}
		if err := w.Add(ctx, m); err != nil {
			return out, err
		}
	}
	var err error
	out.List, err = w.Close(ctx)
	return out, err
}

// Images reads a list back.
func Images(ctx context.Context, store manifest.Getter, l contract.ImageList) (overlap.List, error) {
	out := overlap.List{Perceptual: l.Perceptual, Grouping: l.Grouping, Images: make([]overlap.Image, 0, l.Count)}
	err := items(ctx, store, l.List, func(m overlap.Image) error { out.Images = append(out.Images, m); return nil })
	return out, err
}

// PutDataset records a data set. Format is filled in.
//
// Errors: a data set without name, class or images.
func (r *Recorder) PutDataset(ctx context.Context, d contract.DatasetEntry) (artifacts.Ref, error) {
	d.Format = contract.DatasetEntryFormat
	if _, err := datause.Parse(d.DataUse); err != nil || d.Name == "" || d.Images.List.IsZero() {
		return artifacts.Ref{}, fmt.Errorf("data set %q: name, a data-use class and a list of images are all needed", d.Name)
	}
	return r.record(ctx, entry{key: contract.DatasetEntryKey(d), value: d, mediaType: contract.DatasetEntryMediaType, dataUse: d.DataUse,
		pin: "dataset", note: "data set " + d.Name})
}

// PutTrainingSet stores examples and records the training set. Format, Examples and Count are
// filled in.
//
// Errors: a training set without name, class or images; an example without a digest, or of an
// image that is not in the list.
func (r *Recorder) PutTrainingSet(ctx context.Context, s contract.TrainingSet, examples []contract.TrainingExample) (artifacts.Ref, error) {
	s.Format = contract.TrainingSetFormat
	if _, err := datause.Parse(s.DataUse); err != nil || s.Name == "" || s.Images.List.IsZero() {
		return artifacts.Ref{}, fmt.Errorf("training set %q: name, a data-use class and a list of images are all needed", s.Name)
	}
	images, err := Images(ctx, r.Store, s.Images)
	if err != nil {
		return artifacts.Ref{}, err
	}
	listed := digests(images)
	w := manifest.NewWriter(r.Store.ForClass(datause.StoreClass(s.DataUse)), contract.ExampleListKind, manifest.Limits{})
	for i, e := range examples {
		if e.Example.IsZero() {
			return artifacts.Ref{}, fmt.Errorf("training set %q: example %d has no digest", s.Name, i)
		}
		for _, d := range e.Images {
			if !listed[d] {
				return artifacts.Ref{}, fmt.Errorf("training set %q: image %s of example %d is not in the list of images", s.Name, d.Short(), i)
			}
		}
		if err := w.Add(ctx, e); err != nil {
			return artifacts.Ref{}, err
		}
	}
	s.Count = len(examples)
	if s.Examples, err = w.Close(ctx); err != nil {
		return artifacts.Ref{}, err
	}
	return r.record(ctx, entry{key: contract.TrainingSetKey(s), value: s, mediaType: contract.TrainingSetMediaType, dataUse: s.DataUse,
		pin: "training-set", note: "training set " + s.Name})
}

// PutCheckpoint records a checkpoint. Format is filled in, and Weights where it is zero. The
// files themselves need not be in the store.
//
// Errors: a checkpoint without name, files, base, recipe or training set; weights that are not
// those of the files.
func (r *Recorder) PutCheckpoint(ctx context.Context, c contract.Checkpoint) (artifacts.Ref, error) {
	c.Format = contract.CheckpointFormat
	weights, err := contract.WeightsDigest(c.Files)
	switch {
	case err != nil:
		return artifacts.Ref{}, err
	case c.Name == "" || weights.IsZero() || c.Base == "" || c.Recipe.IsZero() || c.Training.IsZero():
		return artifacts.Ref{}, fmt.Errorf("checkpoint %q: name, files, base, recipe and training set are all needed", c.Name)
	case !c.Weights.IsZero() && c.Weights != weights:
		return artifacts.Ref{}, fmt.Errorf("checkpoint %q: its weights are said to be %s, and its files are %s", c.Name, c.Weights.Short(), weights.Short())
	}
	c.Weights = weights
	s, err := read[contract.TrainingSet](ctx, r.Store, c.Training)
	if err != nil {
		return artifacts.Ref{}, fmt.Errorf("checkpoint %q: training set: %w", c.Name, err)
	}
	c.Files = slices.Clone(c.Files)
	slices.SortFunc(c.Files, func(a, b contract.CheckpointFile) int { return cmp.Compare(a.Name, b.Name) })
	return r.record(ctx, entry{key: contract.CheckpointKey(c), value: c, mediaType: contract.CheckpointMediaType, dataUse: s.DataUse,
		pin: "checkpoint", note: "checkpoint " + c.Name})
}

// PutPerceptualHash records the perceptual hash of an image of a class.
func (r *Recorder) PutPerceptualHash(ctx context.Context, image artifacts.Digest, d contract.Decoding, h overlap.Hash, dataUse string) error {
	_, err := r.record(ctx, entry{key: contract.PerceptualHashKey(image, d), value: contract.PerceptualHash{Name: overlap.PerceptualName, Hash: h},
		mediaType: contract.PerceptualMediaType, dataUse: dataUse})
	return err
}

// PerceptualHash returns the recorded hash of an image. Errors: artifacts.ErrNotFound.
func PerceptualHash(ctx context.Context, store *artifacts.Repository, image artifacts.Digest, d contract.Decoding) (h overlap.Hash, err error) {
	key, err := contract.PerceptualHashKey(image, d).Key()
	if err != nil {
		return h, err
	}
	rec, err := store.Lookup(ctx, key)
	if err != nil {
		return h, err
	}
	p, err := read[contract.PerceptualHash](ctx, store, rec.Result)
	return p.Hash, err
}
