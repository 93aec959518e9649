package dataset

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"

	"cxrepro/artifacts"
	"cxrepro/internal/cxr"
)

// The table names of the layout.
const (
	MetadataFile = "mimic-cxr-2.0.0-metadata.csv.gz"
	SplitFile    = "mimic-cxr-2.0.0-split.csv.gz"
	SumsFile     = "SHA256SUMS.txt"
)

// metadataHeader are the published columns in their order.
var metadataHeader = []string{
	colID, colSubject, colStudy, "PerformedProcedureStepDescription", colView, colRows, colColumns,
	"StudyDate", "StudyTime", "ProcedureCodeSequence_CodeMeaning", "ViewCodeSequence_CodeMeaning",
	"PatientOrientationCodeSequence_CodeMeaning",
}

// Numbers of the first subject and study that a layout counts from.
const (
	firstSubject = 10000001
	firstStudy   = 50000001
	maxLayout    = 9_000_000
)

// LayoutRow is one picture of a folder that is being written.
type LayoutRow struct {
	// ID is the picture's id, unique in the folder; [LayoutID] makes one from a digest.
	ID            string
	View          cxr.ViewPosition
	Split         Split
	Width, Height int
	// Digest is that of the picture file's bytes.
	Digest artifacts.Digest
}

// LayoutTables collects the tables of a folder that is being written. The zero value is
// ready to use; rows keep their order and become cases 1, 2, ...
type LayoutTables struct {
	rows []LayoutRow
	sums []layoutSum
}

type layoutSum struct {
	path   string
	digest artifacts.Digest
}

// LayoutID returns an id in the published form, five groups of eight hexadecimal digits,
// from the digest of a picture's bytes.
func LayoutID(d artifacts.Digest) string {
	h := d.Hex()
	return h[:8] + "-" + h[8:16] + "-" + h[16:24] + "-" + h[24:32] + "-" + h[32:40]
}

// Add takes one picture and returns where its file belongs.
//
// Errors: a view that the table cannot express, an unset split, size or digest, or an id
// that is no file name.
func (t *LayoutTables) Add(r LayoutRow) (path string, err error) {
	n := len(t.rows)
	switch {
	case r.View != cxr.ViewPA && r.View != cxr.ViewAP && r.View != cxr.ViewLateral:
		return "", fmt.Errorf("view %s: the metadata table takes PA, AP or LATERAL", r.View)
	case !r.Split.Valid():
		return "", fmt.Errorf("split %s: want train, validate or test", r.Split)
	case r.Width < 1 || r.Height < 1:
		return "", fmt.Errorf("size %d x %d", r.Width, r.Height)
	case r.Digest.IsZero():
		return "", fmt.Errorf("no digest")
	case n >= maxLayout:
		return "", fmt.Errorf("more than %d pictures", maxLayout)
	}
	path, err = ImagePath(strconv.Itoa(firstSubject+n), strconv.Itoa(firstStudy+n), r.ID)
	if err != nil {
		return "", err
	}
	t.rows = append(t.rows, r)
	t.Sum(path, r.Digest)
	return path, nil
}

// Sum adds a file to the checksum list.
func (t *LayoutTables) Sum(path string, d artifacts.Digest) {
	t.sums = append(t.sums, layoutSum{path, d})
}

// Write writes metadata, split and checksums, the last over all files.
func (t *LayoutTables) Write(w LayoutWriter) error {
	metadata, split := [][]string{metadataHeader}, [][]string{{colID, colStudy, colSubject, "split"}}
	for i, r := range t.rows {
		subject, study := strconv.Itoa(firstSubject+i), strconv.Itoa(firstStudy+i)
		metadata = append(metadata, []string{r.ID, subject, study, "", r.View.String(), strconv.Itoa(r.Height), strconv.Itoa(r.Width), "", "", "", "", ""})
		split = append(split, []string{r.ID, study, subject, r.Split.String()})
	}
	for _, f := range []struct {
		name string
		rows [][]string
	}{{MetadataFile, metadata}, {SplitFile, split}} {
		data, err := packTable(f.rows)
		if err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
		if err := writeFile(w, f.name, data); err != nil {
			return err
		}
		t.Sum(f.name, artifacts.Sum(data))
	}
	slices.SortFunc(t.sums, func(a, b layoutSum) int { return cmp.Compare(a.path, b.path) })
	var sums bytes.Buffer
	for _, s := range t.sums {
		fmt.Fprintf(&sums, "%s  %s\n", s.digest.Hex(), s.path)
	}
	return writeFile(w, SumsFile, sums.Bytes())
}

// packTable returns a compressed CSV file; the same rows give the same bytes.
func packTable(rows [][]string) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	c := csv.NewWriter(z)
	if err := c.WriteAll(rows); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
