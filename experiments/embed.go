package experiments

import "embed"

// Files are the experiments and model cards of this repository, as the program carries
// them: chexstruct-demo/spec.yaml, models/phantomseg.yaml and so on.
//
//go:embed chexstruct-demo chexstruct cxreasonbench-demo models radiographs
var Files embed.FS
