package dataset

import (
	"fmt"
	"io/fs"

	"cxrepro/internal/cxr"
	"cxrepro/internal/datause"
)

// Depth is how far [Check] looks. Each depth includes the ones before. The zero value is
// invalid.
type Depth uint8

// The depths.
const (
	DepthTables  Depth = 1 // tables only
	DepthFiles   Depth = 2 // presence and length of every kept file
	DepthHeaders Depth = 3 // format and size, from a file's first bytes
	DepthDigests Depth = 4 // every byte, against the checksum list
	DepthPixels  Depth = 5 // every file decoded
)

var depthText = [...]string{DepthTables: "tables", DepthFiles: "files", DepthHeaders: "headers", DepthDigests: "digests", DepthPixels: "pixels"}

// String returns the depth's name, "unset" for anything invalid.
func (d Depth) String() string {
	if d < DepthTables || d > DepthPixels {
		return "unset"
	}
	return depthText[d]
}

// ParseDepth reads a depth's name.
func ParseDepth(s string) (Depth, error) {
	for d := DepthTables; d <= DepthPixels; d++ {
		if depthText[d] == s {
			return d, nil
		}
	}
	return 0, fmt.Errorf("depth %q is not one of tables, files, headers, digests, pixels", s)
}

// CheckOptions chooses what [Check] looks at.
type CheckOptions struct {
	Selection Selection
	Depth     Depth
	// Orphans also walks files/ for pictures without a row.
	Orphans bool
	Limits  cxr.Limits
	// MaxProblems bounds the list of single problems; zero means 20. All are counted.
	MaxProblems int
	// Progress, if set, is called after every row with the number of rows so far.
	Progress func(rows int)
}

// CaseProblem is one quarantined item.
type CaseProblem struct {
	Case    int     `json:"case"`
	Outcome Outcome `json:"outcome"`
	Detail  string  `json:"detail"`
	// Path identifies the picture: for the person at the terminal only.
	Path string `json:"-"`
}

// CheckReport is what [Check] found.
type CheckReport struct {
	Depth      string         `json:"depth"`
	Tables     []string       `json:"tables"`
	Name       string         `json:"name,omitempty"` // as declared
	DataUse    datause.Class  `json:"data_use"`
	Views      map[string]int `json:"views"`
	Accounting Accounting     `json:"accounting"`
	// Problems are the first quarantined items; the accounting counts all.
	Problems []CaseProblem `json:"problems,omitempty"`
	// Notes are remarks about the folder as a whole.
	Notes []string `json:"notes,omitempty"`
}

// Figures of MIMIC-CXR-JPG as published.
const (
	publishedRows    = 377110
	publishedFrontal = 243334
)

// Check looks a folder in the MIMIC-CXR-JPG layout over and accounts for every row.
//
// Errors: a folder that cannot be used at all (*TableError and others, with their hints),
// and the storage's own. Broken files are problems in the report, not errors.
func Check(fsys fs.FS, opt CheckOptions) (*CheckReport, error) {
	if opt.Depth < DepthTables || opt.Depth > DepthPixels {
		return nil, fmt.Errorf("check: depth %d is not one of tables, files, headers, digests, pixels", uint8(opt.Depth))
	}
	if opt.MaxProblems == 0 {
		opt.MaxProblems = 20
	}
	m, err := OpenMIMIC(fsys, MIMICOptions{Selection: opt.Selection})
	if err != nil {
		return nil, err
	}
	r := &CheckReport{Depth: opt.Depth.String(), Tables: m.Tables(), Views: map[string]int{}}
	d, declared, err := ReadDeclaration(fsys)
	if err != nil {
		return nil, err
	}
	r.Name = d.Name
	if r.DataUse, err = DataUse(fsys, MIMICCXRJPG, d.Name, 0); err != nil {
		return nil, err
	}
	rows, err := r.rows(m, opt)
	if err != nil {
		return nil, err
	}
	if opt.Orphans {
		for row, err := range m.Orphans(rows + 1) {
			if err != nil {
				return nil, err
			}
			r.Accounting.Meet(1)
			if err := r.decide(row, row.Entry.Outcome, row.Entry.Detail, opt); err != nil {
				return nil, err
			}
		}
	}
	r.notes(m, declared, rows)
	return r, r.Accounting.Check()
}

// rows looks at every row of the table.
func (r *CheckReport) rows(m *MIMIC, opt CheckOptions) (n int, err error) {
	for row, err := range m.Rows(0, -1) {
		if err != nil {
			return n, err
		}
		n++
		r.Accounting.Meet(1)
		if row.Entry.View.Valid() {
			r.Views[row.Entry.View.String()]++
		}
		o, detail := row.Entry.Outcome, row.Entry.Detail
		if o == Kept {
			if o, detail, err = lookAt(m, row, opt); err != nil {
				return n, err
			}
		}
		if err := r.decide(row, o, detail, opt); err != nil {
			return n, err
		}
		if opt.Progress != nil {
			opt.Progress(n)
		}
	}
	return n, nil
}

// lookAt examines a kept row's file as deep as asked.
func lookAt(m *MIMIC, row Row, opt CheckOptions) (Outcome, string, error) {
	var l Loaded
	var err error
	load := LoadOptions{Limits: opt.Limits}
	switch opt.Depth {
	case DepthTables:
		return Kept, "", nil
	case DepthFiles:
		var f fs.File
		if f, l, err = m.open(row); f != nil {
			f.Close()
		}
		if err == nil && l.Outcome == Kept && l.Size == 0 {
			l.Outcome, l.Detail = ZeroBytes, "the file has zero bytes"
		}
	case DepthHeaders:
		_, l, err = m.Header(row, load)
	case DepthDigests:
		if _, l, err = m.Header(row, load); err == nil && l.Outcome == Kept {
			_, l, err = m.read(row, load)
		}
	case DepthPixels:
		l, err = m.Load(row, load)
	}
	return l.Outcome, l.Detail, err
}

func (r *CheckReport) decide(row Row, o Outcome, detail string, opt CheckOptions) error {
	if o.Status() == StatusQuarantined && len(r.Problems) < opt.MaxProblems {
		r.Problems = append(r.Problems, CaseProblem{Case: row.Entry.Case, Outcome: o, Detail: detail, Path: row.Source.Path})
	}
	return r.Accounting.Decide(o)
}

// notes compares the folder as a whole with what is published.
func (r *CheckReport) notes(m *MIMIC, declared bool, rows int) {
	note := func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	if !declared {
		note("no %s: the folder counts as %s, class %s", DeclarationFile, MIMICCXRJPG, MIMICCXRJPG.DataUse())
	}
	if m.sums == "" {
		note("no SHA256SUMS.txt: damage on the way can only be found by decoding")
	}
	if m.split == "" {
		note("no split table: only experiments over all splits can run")
	}
	frontal := r.Views[cxr.ViewPA.String()] + r.Views[cxr.ViewAP.String()]
	switch {
	case rows == publishedRows && frontal != publishedFrontal:
		note("%d PA and AP rows, MIMIC-CXR-JPG has %d", frontal, publishedFrontal)
	case rows == publishedRows:
		note("%d rows, %d of them PA or AP, as MIMIC-CXR-JPG is published", rows, frontal)
	case !declared:
		note("%d rows; MIMIC-CXR-JPG has %d: a part of it, or another data set", rows, publishedRows)
	}
	if declared && rows == publishedRows && r.DataUse < datause.Credentialed {
		note("the table has the length of MIMIC-CXR-JPG but declares itself %s: correct %s if that is what it is", r.DataUse, DeclarationFile)
	}
}
