package contract

import (
	"cxrepro/artifacts"
)

// Step names. They are parts of keys and of object names.
const (
	StepPixelFacts  = "pixel-facts"
	StepSegment     = "segment"
	StepImportMasks = "import-masks"
	StepAssess      = "assess"
	StepSummarise   = "summarise"
	StepDrawCases   = "draw-cases"
	StepBuildCase   = "build-case"
	StepImportCase  = "import-case"
	// StepReproduction marks a finished reproduction; its result is the receipt. It is not
	// counted among the steps of a receipt.
	StepReproduction = "reproduction"
)

// Versions of the steps. Raise one when the bytes of its results may change for equal
// parameters and inputs; every key of the step changes with it.
const (
	versionPixelFacts   = 1
	versionSegment      = 1
	versionImportMasks  = 1
	versionAssess       = 1
	versionSummarise    = 1
	versionDrawCases    = 1
	versionBuildCase    = 1
	versionImportCase   = 1
	versionReproduction = 1
)

// Decoding bounds an image; an image beyond the bounds is quarantined, so they are part of
// the key. Version is the decoder's.
type Decoding struct {
	Version   int   `json:"version"`
	MaxBytes  int64 `json:"max_bytes"`
	MaxPixels int64 `json:"max_pixels"`
}

// PixelFactsKey is the key of the facts of one image.
func PixelFactsKey(image artifacts.Digest, d Decoding) artifacts.KeyDoc {
	return artifacts.KeyDoc{
		Step: StepPixelFacts, Version: versionPixelFacts,
		Params: map[string]any{"decoder": d.Version, "max_bytes": d.MaxBytes, "max_pixels": d.MaxPixels},
		Inputs: []artifacts.Material{{Name: "image", Digest: image}},
	}
}

// Inference identifies how a model turns pixels into masks. The runtime's version and its
// threads are provenance, not identity.
type Inference struct {
	// Model is the digest of the weights, Settings of everything in the model card that the
	// masks depend on.
	Model, Settings artifacts.Digest
	Provider        string
	// Preprocessing names our own way from picture to masks, Decoder the decoder's version.
	Preprocessing string
	Decoder       int
}

// SegmentKey is the key of the masks of one image.
func SegmentKey(image artifacts.Digest, f Inference) artifacts.KeyDoc {
	return artifacts.KeyDoc{
		Step: StepSegment, Version: versionSegment,
		Params: map[string]any{"provider": f.Provider, "decoder": f.Decoder, "preprocessing": f.Preprocessing},
		Inputs: []artifacts.Material{{Name: "image", Digest: image}, {Name: "model", Digest: f.Model}, {Name: "settings", Digest: f.Settings}},
	}
}

// ImportMasksKey is the key of masks read from files that were made elsewhere. source is
// the digest over the files of one image; width and height are the image's.
func ImportMasksKey(source artifacts.Digest, kind string, width, height int) artifacts.KeyDoc {
	return artifacts.KeyDoc{
		Step: StepImportMasks, Version: versionImportMasks,
		Params: map[string]any{"kind": kind, "width": width, "height": height},
		Inputs: []artifacts.Material{{Name: "masks", Digest: source}},
	}
}

// AssessKey is the key of one task over one window. rows are the threshold rows and
// switches that the task reads, and no others.
func AssessKey(inputs artifacts.Digest, task string, rows map[string]any) artifacts.KeyDoc {
	return artifacts.KeyDoc{
		Step: StepAssess, Version: versionAssess,
		Params: map[string]any{"task": task, "rows": rows},
		Inputs: []artifacts.Material{{Name: "window", Digest: inputs}},
	}
}

// SummariseKey is the key of the tables. results lists the rows of every window and task
// and the account of the data set; title is what the tables print about the experiment;
// expected is the digest of the published figures, zero for none.
func SummariseKey(results artifacts.Digest, title map[string]any, expected artifacts.Digest) artifacts.KeyDoc {
	in := []artifacts.Material{{Name: "results", Digest: results}}
	if !expected.IsZero() {
		in = append(in, artifacts.Material{Name: "expected", Digest: expected})
	}
	return artifacts.KeyDoc{Step: StepSummarise, Version: versionSummarise, Params: map[string]any{"title": title}, Inputs: in}
}

// ReproductionKey is the key under which a finished reproduction leaves its receipt.
func ReproductionKey(plan, manifest artifacts.Digest) artifacts.KeyDoc {
	return artifacts.KeyDoc{
		Step: StepReproduction, Version: versionReproduction,
		Inputs: []artifacts.Material{{Name: "manifest", Digest: manifest}, {Name: "plan", Digest: plan}},
	}
}
