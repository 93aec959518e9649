package contract

import (
	"time"

	"cxrepro/artifacts"
)

// WindowImages is the largest number of images in a window. It shapes the manifest, so a
// change is a change of every assess key.
const WindowImages = 256

// Common is what every workflow of one effort hands on.
type Common struct {
	// Plan is the stored plan; Spec its short id.
	Plan artifacts.Ref `json:"plan"`
	Spec string        `json:"spec"`
	// Paper and DataUse become search attributes.
	Paper   string `json:"paper"`
	DataUse string `json:"data_use"`
	// Queue is the prefix of the task queues.
	Queue  string `json:"queue"`
	Tuning Tuning `json:"tuning"`
	// Benchmark is the spec's benchmark.source: empty for an experiment that ends with its
	// findings, release for one that begins with a benchmark made elsewhere.
	Benchmark string `json:"benchmark,omitempty"`
	// Agent: the spec has an agent section; its data set is a question set.
	Agent bool `json:"agent,omitempty"`
	// Trains: the spec has a training section too; its checkpoints are evaluated.
	Trains bool `json:"trains,omitempty"`
}

// LaunchInput starts an experiment: read its data set, then reproduce.
type LaunchInput struct {
	Common Common `json:"common"`
}

// LaunchResult names the reproduction that was started, found running or found finished.
type LaunchResult struct {
	Reproduction string `json:"reproduction"`
	// Finished holds the receipt of an earlier, complete run.
	Finished artifacts.Ref `json:"finished"`
}

// IngestInput reads the plan's data set. The fields after Common carry progress across
// continue-as-new.
type IngestInput struct {
	Common Common `json:"common"`
	// Rows is the scanned row list; zero until the tables were read.
	Scan ScanResult `json:"scan"`
	// Next is the first row not yet handed out, Packed the outputs so far.
	Next   int           `json:"next"`
	Packed artifacts.Ref `json:"packed"`
	Totals ChunkTotals   `json:"totals"`
}

// IngestResult is a data set ready to be reproduced.
type IngestResult struct {
	Ingest   string         `json:"ingest"`
	Manifest ManifestResult `json:"manifest"`
	Totals   ChunkTotals    `json:"totals"`
}

// ScanInput asks for the row list of the plan's data set.
type ScanInput struct {
	Plan artifacts.Ref `json:"plan"`
}

// ScanResult is the row list: every image that passed the selection, as chunks.
type ScanResult struct {
	Rows artifacts.Ref `json:"rows"`
	// Count is the number of rows, In the number of table rows before the selection.
	Count int `json:"count"`
	In    int `json:"in"`
	// Filtered counts rows that the selection dropped, by reason.
	Filtered []Count `json:"filtered,omitempty"`
	// Ingest is the id that statements of this reading carry.
	Ingest string `json:"ingest"`
	// Lungs is the index of the CheXmask table, zero without one.
	Lungs artifacts.Ref `json:"lungs,omitzero"`
}

// IngestChunkInput reads rows [Offset, Offset+Count).
type IngestChunkInput struct {
	Plan   artifacts.Ref `json:"plan"`
	Rows   artifacts.Ref `json:"rows"`
	Lungs  artifacts.Ref `json:"lungs,omitzero"`
	Ingest string        `json:"ingest"`
	Offset int           `json:"offset"`
	Count  int           `json:"count"`
}

// ChunkTotals are sums over chunks.
type ChunkTotals struct {
	Items       int         `json:"items"`
	Quarantined []Count     `json:"quarantined,omitempty"`
	Steps       []StepCount `json:"steps,omitempty"`
	// Started and Ended bound the work of every record that was run; zero when none was.
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// Workers counts windows by the worker that finished them.
	Workers []Count `json:"workers,omitempty"`
	// Notes counts what is worth knowing about inputs, such as boxes that were missing.
	Notes []Count `json:"notes,omitempty"`
	// Conflicts counts second, different results; the first one stays.
	Conflicts int `json:"conflicts,omitempty"`
}

// Add merges another chunk's totals.
func (t *ChunkTotals) Add(o ChunkTotals) {
	t.Items += o.Items
	t.Quarantined = AddCounts(t.Quarantined, o.Quarantined)
	t.Steps = AddSteps(t.Steps, o.Steps)
	t.Workers = AddCounts(t.Workers, o.Workers)
	t.Notes = AddCounts(t.Notes, o.Notes)
	t.Conflicts += o.Conflicts
	t.Span(o.Started, o.Ended)
}

// Span widens the time range.
func (t *ChunkTotals) Span(started, ended time.Time) {
	if !started.IsZero() && (t.Started.IsZero() || started.Before(t.Started)) {
		t.Started = started
	}
	if ended.After(t.Ended) {
		t.Ended = ended
	}
}

// ChunkResult is what a chunk activity returns: a small summary and a reference.
type ChunkResult struct {
	Output artifacts.Ref `json:"output"`
	Totals ChunkTotals   `json:"totals"`
}

// PackInput adds references to a stored list.
type PackInput struct {
	Previous artifacts.Ref `json:"previous"`
	Add      []PackItem    `json:"add"`
}

// PackItem is one reference at its place.
type PackItem struct {
	Index int           `json:"index"`
	Ref   artifacts.Ref `json:"ref"`
}

// PackResult is the longer list.
type PackResult struct {
	List artifacts.Ref `json:"list"`
}

// ManifestInput builds the data set manifest from the ingested chunks.
type ManifestInput struct {
	Plan   artifacts.Ref `json:"plan"`
	Scan   ScanResult    `json:"scan"`
	Chunks artifacts.Ref `json:"chunks"`
}

// ManifestResult names the manifest and the reproduction it makes with the plan.
type ManifestResult struct {
	Manifest     artifacts.Ref `json:"manifest"`
	Reproduction string        `json:"reproduction"`
	Windows      int           `json:"windows"`
	Images       int           `json:"images"`
	In           int           `json:"in"`
	Filtered     []Count       `json:"filtered,omitempty"`
	Quarantined  []Count       `json:"quarantined,omitempty"`
}

// FindReceiptInput asks whether a reproduction is finished.
type FindReceiptInput struct {
	Reproduction string        `json:"reproduction"`
	Plan         artifacts.Ref `json:"plan"`
	Manifest     artifacts.Ref `json:"manifest"`
}

// FindReceiptResult holds the receipt, or zero.
type FindReceiptResult struct {
	Receipt artifacts.Ref `json:"receipt"`
}
