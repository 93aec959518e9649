package contract

import (
	"encoding/json"

	"cxrepro/artifacts"
)

// Media types of our documents.
const (
	DatasetMediaType    = "application/vnd.cxrepro.dataset+json"
	ChunkOutMediaType   = "application/vnd.cxrepro.ingested+json"
	PackMediaType       = "application/vnd.cxrepro.packed+json"
	WindowInMediaType   = "application/vnd.cxrepro.window-inputs+json"
	AssessedMediaType   = "application/vnd.cxrepro.assessed+json"
	FindingsMediaType   = "application/vnd.cxrepro.findings+json"
	ResultsMediaType    = "application/vnd.cxrepro.results+json"
	SummaryMediaType    = "application/vnd.cxrepro.summary+json"
	ReceiptMediaType    = "application/vnd.cxrepro.receipt+json"
	QuarantineMediaType = "application/vnd.cxrepro.quarantine+json"
)

// Entry is one image of a data set as the manifest's windows hold it. It names files and
// studies of the data set, so it lives in artifacts of the data's class and nowhere else.
type Entry struct {
	// Image is the digest of the file's bytes.
	Image artifacts.Digest `json:"image"`
	Size  int64            `json:"size"`
	// Case is our own number of the image: its place in the data set's table.
	Case int `json:"case"`
	// ID, Subject and Study are the data set's identifiers, Path lies below the data root.
	ID      string `json:"id"`
	Subject string `json:"subject,omitempty"`
	Study   string `json:"study,omitempty"`
	Path    string `json:"path"`
	View    string `json:"view"`
	Split   string `json:"split,omitempty"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	// Facts is the image's pixel facts.
	Facts artifacts.Ref `json:"facts"`
	// Boxes are [x0, y0, x1, y1] in native pixels by name.
	Boxes map[string][4]int `json:"boxes,omitempty"`
	// Lung is the second contour of the right lung at native size.
	Lung artifacts.Ref `json:"lung,omitzero"`
	// Masks is the digest over the image's mask files, for imported masks.
	Masks artifacts.Digest `json:"masks,omitzero"`
}

// Quarantined is one row of the data set that gave no image, with the reason. Everything
// but case and reason may be missing.
type Quarantined struct {
	Case   int              `json:"case"`
	ID     string           `json:"id,omitempty"`
	Path   string           `json:"path,omitempty"`
	Reason string           `json:"reason"`
	Detail string           `json:"detail,omitempty"`
	Image  artifacts.Digest `json:"image,omitzero"`
	Size   int64            `json:"size,omitempty"`
}

// Ingested is the output of one IngestChunk.
type Ingested struct {
	Kept        []Entry       `json:"kept"`
	Quarantined []Quarantined `json:"quarantined"`
}

// Dataset is the manifest: what a reproduction runs over.
//
// In = images + filtered + quarantined.
type Dataset struct {
	Format string `json:"format"`
	// Windows lists the entries; its chunks are the windows, labelled by digest prefix.
	Windows artifacts.Ref `json:"windows"`
	Images  int           `json:"images"`
	In      int           `json:"in"`
	// Filtered and Quarantined count what did not enter, by reason.
	Filtered    []Count       `json:"filtered"`
	Quarantined []Count       `json:"quarantined"`
	Rejected    artifacts.Ref `json:"rejected,omitzero"`
	DataUse     string        `json:"data_use"`
}

// DatasetFormat is Dataset.Format.
const DatasetFormat = "cxrepro-dataset-manifest-1"

// WindowIn is what the tasks of one window depend on: names and paths are not in it.
type WindowIn struct {
	Format string    `json:"format"`
	Images []ImageIn `json:"images"`
}

// WindowInFormat is WindowIn.Format.
const WindowInFormat = "cxrepro-window-inputs-1"

// ImageIn is one image of a window as the tasks see it.
type ImageIn struct {
	Image artifacts.Digest `json:"image"`
	Facts artifacts.Digest `json:"facts"`
	// Masks is a reference, so that what is reachable from here stays in the store.
	Masks artifacts.Ref     `json:"masks"`
	View  string            `json:"view"`
	Boxes map[string][4]int `json:"boxes,omitempty"`
	Lung  artifacts.Digest  `json:"lung,omitzero"`
}

// Assessed is the output of one AssessWindow: where the records of its tasks are.
type Assessed struct {
	Window int            `json:"window"`
	Inputs artifacts.Ref  `json:"inputs"`
	Tasks  []AssessedTask `json:"tasks"`
}

// AssessedTask is one task's record.
type AssessedTask struct {
	Task   string        `json:"task"`
	Key    artifacts.Key `json:"key"`
	Result artifacts.Ref `json:"result"`
}

// Packed is a list of references by index, grown page by page.
type Packed struct {
	Items []PackItem `json:"items"`
}

// Results lists everything that counts as a reproduction's result, by content: the rows of
// every task and window, the tables, and what was left out. Its digest is the result
// digest.
type Results struct {
	Format      string           `json:"format"`
	Windows     []WindowResult   `json:"windows"`
	Tables      artifacts.Digest `json:"tables"`
	In          int              `json:"in"`
	Filtered    []Count          `json:"filtered"`
	Quarantined []Count          `json:"quarantined"`
}

// ResultsFormat is Results.Format.
const ResultsFormat = "cxrepro-results-1"

// WindowResult are the row digests of one window, by task in the order of the plan.
type WindowResult struct {
	Images int                `json:"images"`
	Rows   []artifacts.Digest `json:"rows"`
}

// Findings is the record of one task over one window: one row per image, in the order of
// the window's inputs.
type Findings struct {
	Task string       `json:"task"`
	Rows []FindingRow `json:"rows"`
}

// FindingRow is one image's outcome of one task: the section of that name of a result as
// package chexstruct encodes it.
type FindingRow struct {
	Image   artifacts.Digest `json:"image"`
	Finding json.RawMessage  `json:"finding"`
}
