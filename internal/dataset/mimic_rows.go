package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/cxr"
)

// Entry is what may be told about a row: no field identifies a picture, a study or a
// person. Entries may enter manifests, histories and reports.
type Entry struct {
	// Case is the row's place in the metadata table, from 1.
	Case    int     `json:"case"`
	Outcome Outcome `json:"outcome"`
	// Detail explains an outcome other than kept, in words without identifiers.
	Detail string           `json:"detail,omitempty"`
	View   cxr.ViewPosition `json:"view,omitzero"`
	Split  Split            `json:"split,omitzero"`
	// Width and Height are the published size (Columns, Rows), 0 when not given.
	Width  int `json:"width,omitempty"`
	Height int `json:"height,omitempty"`
	// Published is the file's published checksum, zero when not given.
	Published artifacts.Digest `json:"published,omitzero"`
}

// Source is where a row's picture lies and what its publisher calls it. It identifies the
// picture: keep it inside artifacts of the data set's class.
type Source struct {
	ID      string `json:"id"`
	Subject string `json:"subject,omitempty"`
	Study   string `json:"study,omitempty"`
	// Path is relative to the data set's folder.
	Path string `json:"path"`
}

// Row is one row of the metadata table with its outcome so far.
type Row struct {
	Entry  Entry  `json:"entry"`
	Source Source `json:"source"`
}

// Rows yields count rows of the metadata table from the given offset on (count < 0: all
// the rest), in table order, filtered and quarantined ones included.
//
// The table is streamed from its start, because a repeated id is known only then; a window
// late in the table costs a pass over the rows before it. Cut the list into windows once.
// Errors: at most one, at the end: *TableError, or the storage's own.
func (m *MIMIC) Rows(offset, count int) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		t, err := openTable(m.fsys, m.metadata, metadataColumns...)
		if err != nil {
			yield(Row{}, err)
			return
		}
		defer t.close()
		p := m.parser(t)
		for n := 0; count < 0 || n < offset+count; n++ {
			rec, line, bad, err := t.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Row{}, err)
				return
			}
			if n < offset {
				p.skip(rec)
				continue
			}
			row := Row{Entry: Entry{Case: n + 1}}
			if bad != "" {
				row.Entry.Outcome, row.Entry.Detail = BadRow, fmt.Sprintf("%s line %d: %s", m.metadata, line, bad)
			} else {
				p.parse(&row, rec, line)
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// rowParser holds the columns and the ids seen in one pass over the metadata table.
type rowParser struct {
	m                                       *MIMIC
	id, subject, study, view, rows, columns int
	seen                                    map[nameKey]struct{}
	lastSubject, lastStudy                  string
}

func (m *MIMIC) parser(t *table) *rowParser {
	return &rowParser{
		m: m, id: t.column(colID), subject: t.column(colSubject), study: t.column(colStudy),
		view: t.column(colView), rows: t.column(colRows), columns: t.column(colColumns),
		seen: map[nameKey]struct{}{},
	}
}

func (p *rowParser) skip(rec []string) {
	if rec != nil {
		p.seen[keyOf(rec[p.id])] = struct{}{}
	}
}

// parse fills a row from a record and decides its outcome.
func (p *rowParser) parse(row *Row, rec []string, line int) {
	e, s := &row.Entry, &row.Source
	refuse := func(o Outcome, format string, args ...any) {
		e.Outcome, e.Detail = o, fmt.Sprintf("%s line %d: ", p.m.metadata, line)+fmt.Sprintf(format, args...)
	}
	key := keyOf(rec[p.id])
	_, again := p.seen[key]
	p.seen[key] = struct{}{}
	s.ID = strings.Clone(rec[p.id]) // the record's memory is reused
	// Rows of one study follow each other: share their numbers.
	if rec[p.subject] != p.lastSubject {
		p.lastSubject = strings.Clone(rec[p.subject])
	}
	if rec[p.study] != p.lastStudy {
		p.lastStudy = strings.Clone(rec[p.study])
	}
	s.Subject, s.Study = p.lastSubject, p.lastStudy
	var err error
	if s.Path, err = ImagePath(s.Subject, s.Study, s.ID); err != nil {
		refuse(BadRow, "%v", err)
		return
	}
	if again {
		refuse(DuplicateID, "this dicom_id stood in an earlier row")
		return
	}
	if e.Height, err = pixelCount(rec[p.rows]); err != nil {
		refuse(BadRow, "%s %v", colRows, err)
		return
	}
	if e.Width, err = pixelCount(rec[p.columns]); err != nil {
		refuse(BadRow, "%s %v", colColumns, err)
		return
	}
	e.Published, _ = p.m.digests.find(keyOf(s.Path))
	e.Split, _ = p.m.splits.find(key)
	p.sel(e, rec[p.view])
}

// sel applies the selection.
func (p *rowParser) sel(e *Entry, view string) {
	v, known := cxr.ParseView(view)
	e.View = v
	sel := p.m.sel
	switch {
	case strings.TrimSpace(view) == "":
		e.Outcome, e.Detail = ViewUnknown, "ViewPosition is empty"
	case !known:
		e.Outcome, e.Detail = ViewUnknown, fmt.Sprintf("ViewPosition %q is not a published value", clip(view))
	case !slices.Contains(sel.Views, v):
		e.Outcome = ViewNotSelected
	case sel.Split != 0 && e.Split == 0:
		e.Outcome, e.Detail = SplitUnknown, p.m.split+" lacks this picture"
	case sel.Split != 0 && e.Split != sel.Split:
		e.Outcome = SplitNotSelected
	default:
		e.Outcome = Kept
	}
}

func clip(s string) string {
	if len(s) > 32 {
		return s[:32] + "..."
	}
	return s
}

// Orphans yields the pictures below files/ that no row of the table mentions, in path
// order, with case numbers from first on: usually the number of rows plus one.
//
// It walks the whole folder, which takes minutes on network storage. Files that do not end
// in .jpg, .jpeg or .png are passed over.
func (m *MIMIC) Orphans(first int) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		known := &keyed[struct{}]{}
		for row, err := range m.Rows(0, -1) {
			if err != nil {
				yield(Row{}, err)
				return
			}
			known.add(keyOf(row.Source.Path), struct{}{})
		}
		known.freeze()
		next := first
		err := fs.WalkDir(m.fsys, filesFolder, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() || !pictureName(name) {
				return nil
			}
			if _, ok := known.find(keyOf(name)); ok {
				return nil
			}
			id := strings.TrimSuffix(path.Base(name), path.Ext(name))
			row := Row{
				Entry:  Entry{Case: next, Outcome: MissingMetadataRow, Detail: "a file below files/ that " + m.metadata + " does not mention"},
				Source: Source{ID: id, Path: name},
			}
			row.Entry.Published, _ = m.digests.find(keyOf(name))
			next++
			if !yield(row, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(Row{}, fmt.Errorf("list pictures: %w", withoutPath(err)))
		}
	}
}

func pictureName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".jpg", ".jpeg", ".png":
		return true
	}
	return false
}
