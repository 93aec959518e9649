package review

import (
	"bytes"
	"context"
	"fmt"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/report"
)

// Record is the manifest of a reviewer's table: which table was read, for which results,
// and what it says.
type Record struct {
	Format       string           `json:"format"`
	Reproduction string           `json:"reproduction_id"`
	ResultDigest artifacts.Digest `json:"result_digest"`
	// Kind is verdicts or labels; Rule is set for labels.
	Kind string `json:"kind"`
	Rule string `json:"rule,omitempty"`
	// Table is the file as it was read.
	Table    artifacts.Ref  `json:"table"`
	Lines    int            `json:"lines"`
	Verdicts []OpinionCount `json:"verdicts,omitempty"`
	Labels   []Agreement    `json:"labels,omitempty"`
	DataUse  string         `json:"data_use"`
}

// RecordFormat is Record.Format; RecordMediaType its media type.
const (
	RecordFormat    = "cxrepro-review-1"
	RecordMediaType = "application/vnd.cxrepro.review+json"
)

// Kinds of records.
const (
	KindVerdicts = "verdicts"
	KindLabels   = "labels"
)

// cases maps every case number of a reproduction to its image's ordinal.
func cases(ctx context.Context, in activities.ReportInput) (*scan, map[int]int, error) {
	ordinalOf := map[int]int{}
	s, err := readAll(ctx, in, func(row *imageRows) error {
		ordinalOf[row.Entry.Case] = len(ordinalOf)
		return nil
	})
	return s, ordinalOf, err
}

// ImportVerdicts reads a reviewer's table of verdicts and records it.
//
// Source: [paper A.4.2], review of cases by clinicians.
// Errors: *TableError with every line that cannot be used; then nothing is recorded.
func ImportVerdicts(ctx context.Context, in activities.ReportInput, r *contract.Receipt, file string, data []byte) (*Record, artifacts.Ref, error) {
	_, ordinalOf, err := cases(ctx, in)
	if err != nil {
		return nil, artifacts.Ref{}, err
	}
	list, err := ReadVerdicts(file, bytes.NewReader(data), func(n int) bool { _, ok := ordinalOf[n]; return ok })
	if err != nil {
		return nil, artifacts.Ref{}, err
	}
	rec := &Record{Kind: KindVerdicts, Lines: len(list), Verdicts: CountVerdicts(list)}
	ref, err := rec.store(ctx, in, r, data)
	return rec, ref, err
}

// ImportLabels reads a reviewer's table of a rule's value ranges and records it.
//
// Errors: *UnknownRuleError; *TableError, and then nothing is recorded.
func ImportLabels(ctx context.Context, in activities.ReportInput, r *contract.Receipt, rule, file string, data []byte) (*Record, artifacts.Ref, error) {
	s, ordinalOf, err := cases(ctx, in)
	if err != nil {
		return nil, artifacts.Ref{}, err
	}
	keys, err := s.find(rule)
	if err != nil {
		return nil, artifacts.Ref{}, err
	}
	list, err := readLabels(file, bytes.NewReader(data), s, keys, ordinalOf)
	if err != nil {
		return nil, artifacts.Ref{}, err
	}
	rec := &Record{Kind: KindLabels, Rule: rule, Lines: len(list)}
	for _, k := range keys {
		rec.Labels = append(rec.Labels, limits{in.Rules}.agreement(k, list))
	}
	ref, err := rec.store(ctx, in, r, data)
	return rec, ref, err
}

// store keeps table and record, pinned, so that garbage collection leaves them.
func (rec *Record) store(ctx context.Context, in activities.ReportInput, r *contract.Receipt, data []byte) (ref artifacts.Ref, err error) {
	rec.Format, rec.Reproduction, rec.ResultDigest, rec.DataUse = RecordFormat, r.Reproduction, r.ResultDigest, in.Plan.DataUse
	if rec.Table, err = in.Store.Put(ctx, data, "text/csv"); err != nil {
		return ref, err
	}
	text, err := artifacts.Canonical(rec)
	if err != nil {
		return ref, err
	}
	if ref, err = in.Store.Put(ctx, text, RecordMediaType); err != nil {
		return ref, err
	}
	err = in.Store.SetPin(ctx, artifacts.Pin{Name: "review-" + ref.Digest.Short(), Roots: []artifacts.Ref{ref}, Note: fmt.Sprintf("%s of a reviewer for reproduction %s", rec.Kind, r.Reproduction)})
	return ref, err
}

// VerdictTable sets the counts of verdicts side by side.
func VerdictTable(list []OpinionCount) *report.Table {
	t := &report.Table{
		Title:    "Verdicts per task",
		Columns:  []report.Column{{Name: "task"}, {Name: "good", Right: true}, {Name: "minor", Right: true}, {Name: "reject", Right: true}},
		Formulas: []report.Formula{{ID: "verdict", Text: "k cases with the verdict, of n with any"}},
	}
	for _, c := range list {
		n := c.Good + c.Minor + c.Reject
		t.AddHead(report.Text(c.Task), report.Share(c.Good, n, "verdict"), report.Share(c.Minor, n, "verdict"), report.Share(c.Reject, n, "verdict"))
	}
	return t
}
