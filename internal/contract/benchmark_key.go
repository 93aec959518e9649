package contract

import (
	"cxrepro/artifacts"
	"cxrepro/internal/cxr"
	"cxrepro/internal/cxreasonbench"
)

// DrawCasesKey is the key of the cases that a benchmark is about. rows is the digest over the
// rows of every task and window; quotas are the cases of each task.
func DrawCasesKey(manifest, rows artifacts.Digest, r cxreasonbench.Recipe, quotas []int) artifacts.KeyDoc {
	return artifacts.KeyDoc{
		Step: StepDrawCases, Version: versionDrawCases,
		Params: map[string]any{"sample": r.Sample, "seed": r.Seed, "quotas": quotas, "switches": r.Rules.Built()},
		Inputs: []artifacts.Material{{Name: "manifest", Digest: manifest}, {Name: "rows", Digest: rows}},
	}
}

// BuildCaseKey is the key of the questions and pictures of one case. prompts is the digest of
// the pack's questions, rows are the threshold rows that the measured positions in its pictures
// depend on.
func BuildCaseKey(c *DrawnCase, r cxreasonbench.Recipe, prompts artifacts.Digest, rows map[string]any) artifacts.KeyDoc {
	s, e := c.Source, &c.Entry
	s.Label = "" // only the draw reads it
	boxes := e.Boxes
	if boxes == nil {
		boxes = map[string][4]int{}
	}
	in := []artifacts.Material{
		{Name: "facts", Digest: e.Facts.Digest}, {Name: "image", Digest: e.Image},
		{Name: "masks", Digest: c.Masks.Digest}, {Name: "prompts", Digest: prompts},
	}
	if !e.Lung.IsZero() {
		in = append(in, artifacts.Material{Name: "lung", Digest: e.Lung.Digest})
	}
	return artifacts.KeyDoc{
		Step: StepBuildCase, Version: versionBuildCase,
		Params: map[string]any{
			"source": s, "formats": c.Formats, "boxes": boxes, "rows": rows, "seed": r.Seed,
			"switches": r.Rules.Built(), "pictures": r.Profile, "drawing": cxreasonbench.PictureVersion,
			"decoder": cxr.DecoderVersion,
		},
		Inputs: in,
	}
}

// ImportCaseKey is the key of one case of a release: content is the digest over its question
// files, pictures lists those that they show by path, learned is the digest of the meanings
// that other cases of the release taught.
func ImportCaseKey(task cxreasonbench.Task, id string, content, learned artifacts.Digest, pictures map[string]artifacts.Digest) artifacts.KeyDoc {
	return artifacts.KeyDoc{
		Step: StepImportCase, Version: versionImportCase,
		Params: map[string]any{"task": task, "case": id, "pictures": pictures},
		Inputs: []artifacts.Material{{Name: "questions", Digest: content}, {Name: "learned", Digest: learned}},
	}
}
