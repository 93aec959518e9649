package contract

import (
	"slices"
	"strconv"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/overlap"
)

// Steps that make data sets, checkpoints and what was found about them entries of the store.
// They are records like any other: a key, a result, a statement with materials.
const (
	StepPerceptualHash = "perceptual-hash"
	StepDataset        = "dataset"
	StepTrainingSet    = "training-set"
	StepCheckpoint     = "checkpoint"
	StepCheckOverlap   = "check-overlap"
)

const (
	versionPerceptualHash = 1
	versionDataset        = 1
	versionTrainingSet    = 1
	versionCheckpoint     = 1
	versionCheckOverlap   = 1
)

// Media types of these records.
const (
	PerceptualMediaType    = "application/vnd.cxrepro.perceptual-hash+json"
	DatasetEntryMediaType  = "application/vnd.cxrepro.dataset-entry+json"
	TrainingSetMediaType   = "application/vnd.cxrepro.training-set+json"
	CheckpointMediaType    = "application/vnd.cxrepro.checkpoint+json"
	OverlapReportMediaType = "application/vnd.cxrepro.overlap+json"
)

// Kinds of the lists (package manifest) that these records refer to.
const (
	// ImageListKind is a list of overlap.Image.
	ImageListKind = "images"
	// ExampleListKind is a list of TrainingExample.
	ExampleListKind = "examples"
)

// PerceptualHash is the record of one image's perceptual hash.
type PerceptualHash struct {
	Name string       `json:"name"`
	Hash overlap.Hash `json:"hash"`
}

// PerceptualHashKey is the key of the perceptual hash of one image.
func PerceptualHashKey(image artifacts.Digest, d Decoding) artifacts.KeyDoc {
	return artifacts.KeyDoc{
		Step: StepPerceptualHash, Version: versionPerceptualHash,
		Params: map[string]any{"hash": overlap.PerceptualName, "decoder": d.Version, "max_bytes": d.MaxBytes, "max_pixels": d.MaxPixels},
		Inputs: []artifacts.Material{{Name: "image", Digest: image}},
	}
}

// ImageList names a stored list of overlap.Image, and what its images were hashed with.
type ImageList struct {
	List  artifacts.Ref `json:"list"`
	Count int           `json:"count"`
	// Perceptual is the name of the perceptual hash, Grouping that of the key of studies and
	// patients; empty when no image has one.
	Perceptual string `json:"perceptual,omitempty"`
	Grouping   string `json:"grouping,omitempty"`
}

// DatasetEntry is a data set as an entry of the store: what it is called, and its images by
// digest. It holds no identifier of the data set.
type DatasetEntry struct {
	Format  string `json:"format"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// DataUse is the class of the data.
	DataUse string    `json:"data_use"`
	Images  ImageList `json:"images"`
	// Manifest is what a reproduction ran over, zero for a data set that none did.
	Manifest artifacts.Ref `json:"manifest,omitzero"`
}

// DatasetEntryFormat is DatasetEntry.Format.
const DatasetEntryFormat = "cxrepro-dataset-entry-1"

// DatasetEntryKey is the key of a data set's entry.
func DatasetEntryKey(d DatasetEntry) artifacts.KeyDoc {
	in := []artifacts.Material{{Name: "images", Digest: d.Images.List.Digest}}
	if !d.Manifest.IsZero() {
		in = append(in, artifacts.Material{Name: "manifest", Digest: d.Manifest.Digest})
	}
	return artifacts.KeyDoc{
		Step: StepDataset, Version: versionDataset,
		Params: map[string]any{"name": d.Name, "version": d.Version, "data_use": d.DataUse}, Inputs: in,
	}
}

// TrainingExample is one example as a trainer read it: the digest of its bytes, and the images
// of data sets it descends from, however they were cut, scaled or drawn on.
type TrainingExample struct {
	Example artifacts.Digest   `json:"example"`
	Images  []artifacts.Digest `json:"images"`
}

// TrainingSet is what a checkpoint was trained on: examples, their images, and the entries of
// the data sets these come from.
type TrainingSet struct {
	Format  string `json:"format"`
	Name    string `json:"name"`
	DataUse string `json:"data_use"`
	// Examples is a list of TrainingExample, in the order in which they were written.
	Examples artifacts.Ref   `json:"examples"`
	Count    int             `json:"count"`
	Images   ImageList       `json:"images"`
	Datasets []artifacts.Ref `json:"datasets,omitempty"`
}

// TrainingSetFormat is TrainingSet.Format.
const TrainingSetFormat = "cxrepro-training-set-1"

// TrainingSetKey is the key of a training set.
func TrainingSetKey(s TrainingSet) artifacts.KeyDoc {
	in := []artifacts.Material{{Name: "examples", Digest: s.Examples.Digest}, {Name: "images", Digest: s.Images.List.Digest}}
	in = append(in, numbered("dataset", s.Datasets)...)
	return artifacts.KeyDoc{
		Step: StepTrainingSet, Version: versionTrainingSet,
		Params: map[string]any{"name": s.Name, "data_use": s.DataUse}, Inputs: in,
	}
}

// numbered names several inputs of one kind, whose order matters.
func numbered(name string, refs []artifacts.Ref) []artifacts.Material {
	var in []artifacts.Material
	for i, r := range refs {
		in = append(in, artifacts.Material{Name: name + "." + strconv.Itoa(i), Digest: r.Digest})
	}
	return in
}

// CheckpointFile is one file of a checkpoint.
type CheckpointFile struct {
	Name   string           `json:"name"`
	Digest artifacts.Digest `json:"digest"`
	Size   int64            `json:"size"`
}

// WeightsDigest is the identity of weights in model cards and keys of calls: the digest of the
// file, or, where there are several, of the canonical JSON list of their names, digests and
// sizes in the order of their names. It is zero without a file.
func WeightsDigest(files []CheckpointFile) (artifacts.Digest, error) {
	switch len(files) {
	case 0:
		return artifacts.Digest{}, nil
	case 1:
		return files[0].Digest, nil
	}
	sorted := slices.Clone(files)
	slices.SortFunc(sorted, func(a, b CheckpointFile) int { return strings.Compare(a.Name, b.Name) })
	text, err := artifacts.Canonical(sorted)
	return artifacts.Sum(text), err
}

// Program names a trainer and its version.
type Program struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// Checkpoint is the weights of a model with where they come from.
type Checkpoint struct {
	Format string `json:"format"`
	// Name is for people; Weights is the identity, see WeightsDigest.
	Name    string           `json:"name"`
	Weights artifacts.Digest `json:"weights"`
	Files   []CheckpointFile `json:"files"`
	// Base is the published model that the lineage begins with, by name and, where they are
	// known, weights. What that model was trained on is not known here.
	Base        string           `json:"base"`
	BaseWeights artifacts.Digest `json:"base_weights,omitzero"`
	// Parent is the weights this training began with, zero when those are the base's.
	Parent  artifacts.Digest `json:"parent,omitzero"`
	Trainer Program          `json:"trainer"`
	// Recipe is everything the training was told: its plan. Training is the record of the
	// TrainingSet.
	Recipe   artifacts.Ref `json:"recipe"`
	Training artifacts.Ref `json:"training"`
	// Step is the optimizer's step at which the weights were written.
	Step int `json:"step"`
}

// CheckpointFormat is Checkpoint.Format.
const CheckpointFormat = "cxrepro-checkpoint-1"

// CheckpointKey is the key of a checkpoint's record.
func CheckpointKey(c Checkpoint) artifacts.KeyDoc {
	in := []artifacts.Material{{Name: "weights", Digest: c.Weights}, {Name: "recipe", Digest: c.Recipe.Digest}, {Name: "training", Digest: c.Training.Digest}}
	if !c.Parent.IsZero() {
		in = append(in, artifacts.Material{Name: "parent", Digest: c.Parent})
	}
	if !c.BaseWeights.IsZero() {
		in = append(in, artifacts.Material{Name: "base", Digest: c.BaseWeights})
	}
	return artifacts.KeyDoc{
		Step: StepCheckpoint, Version: versionCheckpoint,
		Params: map[string]any{"name": c.Name, "base": c.Base, "trainer": c.Trainer, "step": c.Step}, Inputs: in,
	}
}

// OverlapReport is the record of one comparison of a checkpoint's training lineage with the
// images of an evaluation.
type OverlapReport struct {
	Format     string           `json:"format"`
	Checkpoint string           `json:"checkpoint"`
	Weights    artifacts.Digest `json:"weights"`
	// Training are the training sets of the lineage, the checkpoint's own first; Base the
	// model it begins with, of which nothing is known.
	Training   []artifacts.Ref `json:"training"`
	Base       string          `json:"base"`
	Evaluation ImageList       `json:"evaluation"`
	// Limit is the largest distance of a near-duplicate in bits of the hash Perceptual.
	Limit      int    `json:"limit"`
	Perceptual string `json:"perceptual"`
	// Images counts, by kind, the evaluation images that overlap; an image counts once for
	// each kind.
	Images []Count `json:"images"`
	// Findings are the pairs; there are Pairs of them, and the first MostFindings of each
	// kind are listed.
	Findings []overlap.Finding `json:"findings"`
	Pairs    int               `json:"pairs"`
	Gaps     []overlap.Gap     `json:"gaps,omitempty"`
}

// OverlapReportFormat is OverlapReport.Format; MostFindings how many pairs of a kind it lists.
const (
	OverlapReportFormat = "cxrepro-overlap-1"
	MostFindings        = 1000
)

// Overlaps reports whether anything was found.
func (r *OverlapReport) Overlaps() bool { return r.Pairs > 0 }

// Fill enters what a comparison found.
func (r *OverlapReport) Fill(found overlap.Result) {
	r.Pairs, r.Gaps = len(found.Findings), found.Gaps
	r.Images, r.Findings = []Count{}, []overlap.Finding{}
	listed := map[overlap.Kind]int{}
	type image struct {
		kind overlap.Kind
		of   artifacts.Digest
	}
	seen := map[image]bool{}
	for _, f := range found.Findings {
		if !seen[image{f.Kind, f.Evaluation}] {
			seen[image{f.Kind, f.Evaluation}] = true
			r.Images = AddCount(r.Images, string(f.Kind), 1)
		}
		if listed[f.Kind]++; listed[f.Kind] <= MostFindings {
			r.Findings = append(r.Findings, f)
		}
	}
}

// CheckOverlapKey is the key of a comparison.
func CheckOverlapKey(weights artifacts.Digest, training []artifacts.Ref, evaluation ImageList, limit int) artifacts.KeyDoc {
	in := []artifacts.Material{{Name: "weights", Digest: weights}, {Name: "evaluation", Digest: evaluation.List.Digest}}
	in = append(in, numbered("training", training)...)
	return artifacts.KeyDoc{
		Step: StepCheckOverlap, Version: versionCheckOverlap,
		Params: map[string]any{"perceptual": overlap.PerceptualName, "limit": limit}, Inputs: in,
	}
}
