package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// Names of the reports in a receipt.
const (
	ReportFindings = "findings.parquet"
	ReportImages   = "images.parquet"
	ReportMarkdown = "summary.md"
	ReportFigures  = "summary.csv"
	ReportSheet    = "review.zip"
)

// Reporter makes the reports of a reproduction: the findings and image tables, the summary
// as Markdown and as CSV, and the review sheet as one archive.
type Reporter struct {
	// Options of the review sheet.
	Options Options
	// Temporary is the folder for files under way; empty means the system's.
	Temporary string
}

var _ activities.Reporter = (*Reporter)(nil)

// Report passes once over the rows, writing the tables on the way, then draws the sheet.
func (r *Reporter) Report(ctx context.Context, in activities.ReportInput) (made []contract.Report, err error) {
	dir, err := r.temporary()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := r.tables(ctx, in, dir)
	if err != nil {
		return nil, fmt.Errorf("findings table: %w", err)
	}
	if err := r.sheet(ctx, in, s, dir); err != nil {
		return nil, fmt.Errorf("review sheet: %w", err)
	}
	if err := summaries(in.Summary, dir); err != nil {
		return nil, err
	}
	for _, f := range []struct{ name, mediaType string }{
		{ReportMarkdown, "text/markdown"}, {ReportFigures, "text/csv"}, {ReportFindings, ParquetMediaType}, {ReportImages, ParquetMediaType}, {ReportSheet, "application/zip"},
	} {
		ref, err := in.Store.PutFile(ctx, filepath.Join(dir, f.name), f.mediaType)
		if err != nil {
			return nil, err
		}
		made = append(made, contract.Report{Name: f.name, Ref: ref})
		in.Progress()
	}
	return made, nil
}

// staleAfter is the age at which a folder that a killed process left is removed.
const staleAfter = 24 * time.Hour

// temporary makes a folder for files under way, and removes those of processes that were
// killed long ago.
func (r *Reporter) temporary() (string, error) {
	root := r.Temporary
	if root == "" {
		root = os.TempDir()
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", err
	}
	old, err := filepath.Glob(filepath.Join(root, "cxrepro-report-*"))
	if err != nil {
		return "", err
	}
	for _, dir := range old {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > staleAfter {
			// Another process may remove it at the same time.
			_ = os.RemoveAll(dir)
		}
	}
	return os.MkdirTemp(root, "cxrepro-report-*")
}

func (r *Reporter) tables(ctx context.Context, in activities.ReportInput, dir string) (s *scan, err error) {
	create := func(name string) *os.File {
		f, cerr := os.Create(filepath.Join(dir, name))
		err = errors.Join(err, cerr)
		return f
	}
	findings, images := create(ReportFindings), create(ReportImages)
	if err != nil {
		return nil, err
	}
	ft := newTable[FindingRow](findings, "findings", in.Rules.String(), in.Plan.DataUse)
	it := newTable[ImageRow](images, "images", in.Rules.String(), in.Plan.DataUse)
	s, err = readAll(ctx, in, func(row *imageRows) error {
		rows, err := findingRows(row)
		if err != nil {
			return err
		}
		return errors.Join(ft.add(rows...), it.add(imageRow(row)))
	})
	return s, errors.Join(err, ft.close(), it.close(), findings.Close(), images.Close())
}

func (r *Reporter) sheet(ctx context.Context, in activities.ReportInput, s *scan, dir string) error {
	f, err := os.Create(filepath.Join(dir, ReportSheet))
	if err != nil {
		return err
	}
	a := newArchive(f)
	_, err = build(ctx, in, s, a, r.Options)
	return errors.Join(err, a.Close(), f.Close())
}

func summaries(s *contract.Summary, dir string) error {
	var md, figures bytes.Buffer
	err := WriteMarkdown(&md, s)
	for i, t := range Tables(s) {
		var b bytes.Buffer
		err = errors.Join(err, t.WriteCSV(&b))
		data := b.Bytes()
		if i > 0 {
			_, data, _ = bytes.Cut(data, []byte("\n")) // one header for all tables
		}
		figures.Write(data)
	}
	return errors.Join(err, os.WriteFile(filepath.Join(dir, ReportMarkdown), md.Bytes(), 0o600), os.WriteFile(filepath.Join(dir, ReportFigures), figures.Bytes(), 0o600))
}

// Sheet returns the archive of a receipt's review sheet; ok is false when it has none.
func Sheet(r *contract.Receipt) (ref artifacts.Ref, ok bool) {
	for _, rep := range r.Reports {
		if rep.Name == ReportSheet {
			return rep.Ref, true
		}
	}
	return artifacts.Ref{}, false
}
