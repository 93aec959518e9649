package dataset

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/cxr"
)

// Columns of the metadata table that are read, by name; their order in the file is free.
const (
	colID      = "dicom_id"
	colSubject = "subject_id"
	colStudy   = "study_id"
	colView    = "ViewPosition"
	colRows    = "Rows"
	colColumns = "Columns"
)

var metadataColumns = []string{colID, colSubject, colStudy, colView, colRows, colColumns}

// Selection says which pictures of a data set enter an experiment.
type Selection struct {
	// Views are the view positions that enter; at least one.
	Views []cxr.ViewPosition
	// Split is the split that enters; zero means all.
	Split Split
}

// MIMICOptions chooses what a [MIMIC] reads.
type MIMICOptions struct {
	Selection Selection
	// NoChecksums leaves SHA256SUMS.txt unread: every file is hashed then.
	NoChecksums bool
}

// MIMIC is a folder in the layout of MIMIC-CXR-JPG, opened for reading. It is safe for
// concurrent use when its fs.FS is.
type MIMIC struct {
	fsys     fs.FS
	sel      Selection
	metadata string
	split    string
	labels   string
	sums     string

	splits  *keyed[Split]
	digests *keyed[artifacts.Digest]
}

// OpenMIMIC finds the tables of a folder and loads those that must be joined by id: the
// split table when there is one, the checksum list when there is one and it is wanted.
//
// Errors: *TableError for a table that is missing, ambiguous or unusable, with a hint; an
// error that names the field for a selection that makes no sense.
func OpenMIMIC(fsys fs.FS, opt MIMICOptions) (*MIMIC, error) {
	if err := opt.Selection.check(); err != nil {
		return nil, err
	}
	m := &MIMIC{fsys: fsys, sel: opt.Selection}
	if err := m.findTables(); err != nil {
		return nil, err
	}
	if err := m.checkMetadata(); err != nil {
		return nil, err
	}
	var err error
	if m.split != "" {
		if m.splits, err = readSplits(fsys, m.split); err != nil {
			return nil, err
		}
	} else if m.sel.Split != 0 {
		return nil, &TableError{File: "mimic-cxr-*-split.csv.gz", Detail: fmt.Sprintf("is missing, and the selection asks for split %s", m.sel.Split),
			Hint: "put the split table beside the metadata table, or select all splits"}
	}
	if m.sums != "" && !opt.NoChecksums {
		if m.digests, err = readSums(fsys, m.sums, filesFolder+"/"); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (s Selection) check() error {
	if len(s.Views) == 0 {
		return fmt.Errorf("selection: views is empty, want at least one of PA, AP, LATERAL, OTHER")
	}
	for _, v := range s.Views {
		if !v.Valid() {
			return fmt.Errorf("selection: views holds an unset view position")
		}
	}
	if s.Split != 0 && !s.Split.Valid() {
		return fmt.Errorf("selection: split %d is not one of train, validate, test", uint8(s.Split))
	}
	return nil
}

// findTables looks for the published table names in the folder's root.
func (m *MIMIC) findTables() error {
	entries, err := fs.ReadDir(m.fsys, ".")
	if err != nil {
		return fmt.Errorf("list data set folder: %w", err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	for _, t := range []struct {
		kind string
		to   *string
	}{{"metadata", &m.metadata}, {"split", &m.split}, {"chexpert", &m.labels}} {
		if *t.to, err = pickTable(names, t.kind); err != nil {
			return err
		}
	}
	for _, n := range []string{"SHA256SUMS.txt", "SHA256SUMS"} {
		if m.sums == "" && slices.Contains(names, n) {
			m.sums = n
		}
	}
	if m.metadata == "" {
		return &TableError{File: "mimic-cxr-2.0.0-metadata.csv.gz", Detail: "is missing in the data set's folder",
			Hint: "point at the folder that holds files/ and the tables; `cxrepro dataset layout` makes one from any pictures"}
	}
	return nil
}

// pickTable returns the one table of a kind, "" when there is none. The compressed form
// wins over an unpacked copy beside it, because that is the one with a published checksum.
func pickTable(names []string, kind string) (string, error) {
	var found []string
	for _, n := range names {
		stem := strings.TrimSuffix(n, ".gz")
		if strings.HasPrefix(n, "mimic-cxr-") && strings.HasSuffix(stem, "-"+kind+".csv") {
			found = append(found, n)
		}
	}
	slices.Sort(found)
	switch {
	case len(found) == 0:
		return "", nil
	case len(found) == 1:
		return found[0], nil
	case len(found) == 2 && found[1] == found[0]+".gz":
		return found[1], nil
	}
	return "", &TableError{File: strings.Join(found, " and "), Detail: "are two versions of the " + kind + " table", Hint: "keep one of them in the folder"}
}

// checkMetadata opens the metadata table once, so that a missing column is known at once.
func (m *MIMIC) checkMetadata() error {
	t, err := openTable(m.fsys, m.metadata, metadataColumns...)
	if err != nil {
		return err
	}
	return t.close()
}

// Tables returns the names of the tables found, in a fixed order: what the rows depend on.
func (m *MIMIC) Tables() []string {
	var names []string
	for _, n := range []string{m.metadata, m.split, m.labels, m.sums} {
		if n != "" {
			names = append(names, n)
		}
	}
	return names
}
