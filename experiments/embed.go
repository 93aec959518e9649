package experiments

import "embed"

// Files are the experiments, published figures and model cards of this repository, as the program
// carries them: chexstruct-demo/spec.yaml, cxreasonbench/claims/tables.json and so on.
//
//go:embed chexstruct-demo chexstruct cxreasonbench cxreasonbench-demo models radiographs xragent/claims xragent-demo xragent-tiny
var Files embed.FS
