package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strconv"
	"strings"

	"cxrepro/internal/mask"
)

// Organ is a structure that CheXmask segments. The zero value is invalid.
type Organ uint8

// The organs; laterality is the patient's.
const (
	OrganRightLung Organ = 1
	OrganLeftLung  Organ = 2
	OrganHeart     Organ = 3
)

// organFacts are the column of an organ's mask and its part of the 120 landmarks.
var organFacts = [...]struct {
	column     string
	first, end int
}{
	OrganRightLung: {"Right Lung", 0, 44},
	OrganLeftLung:  {"Left Lung", 44, 94},
	OrganHeart:     {"Heart", 94, 120},
}

// Valid reports whether o is one of the three.
func (o Organ) Valid() bool { return o >= OrganRightLung && o <= OrganHeart }

// String returns the organ's column name, "unset" for anything invalid.
func (o Organ) String() string {
	if !o.Valid() {
		return "unset"
	}
	return organFacts[o].column
}

// OrganState says what became of an organ's mask. The zero value is invalid.
type OrganState uint8

// The states; only the first two come with a mask.
const (
	// OrganAsPublished: the run lengths, read at the picture's size.
	OrganAsPublished OrganState = 1
	// OrganRebuilt: Height and Width are exchanged, so the run lengths were drawn on a
	// transposed canvas and cut; the mask is filled from the landmarks instead.
	OrganRebuilt      OrganState = 2
	OrganNoRow        OrganState = 3 // the table lacks the picture
	OrganNoMask       OrganState = 4 // the cell is empty or NaN
	OrganLowQuality   OrganState = 5 // Dice RCA (Mean) below the wanted minimum, or not given
	OrganWrongSize    OrganState = 6 // Height x Width is neither the picture's size nor its transpose
	OrganBadRLE       OrganState = 7 // the run lengths contradict themselves
	OrganBadLandmarks OrganState = 8 // the size is exchanged and the landmarks cannot be read
)

var organStateText = [...]string{
	OrganAsPublished: "as_published", OrganRebuilt: "rebuilt_from_landmarks", OrganNoRow: "no_row",
	OrganNoMask: "no_mask", OrganLowQuality: "low_quality", OrganWrongSize: "wrong_size",
	OrganBadRLE: "bad_run_lengths", OrganBadLandmarks: "bad_landmarks",
}

// String returns the state's reason code, "unset" for the zero value.
func (s OrganState) String() string {
	if s < OrganAsPublished || s > OrganBadLandmarks {
		return "unset"
	}
	return organStateText[s]
}

// OrganMask is an organ's mask at the picture's full size, or the reason for its absence.
type OrganMask struct {
	State OrganState
	// Detail explains a damaged row, in words without identifiers.
	Detail string
	Mask   mask.Mask
}

// Present reports whether there is a mask.
func (m OrganMask) Present() bool { return m.State == OrganAsPublished || m.State == OrganRebuilt }

// CheXmaskOptions chooses how the table is read.
type CheXmaskOptions struct {
	// IDColumn names the column of the picture's id; empty takes the first of the usual
	// names that the header has.
	IDColumn string
}

// chexmaskIDs are the id columns of the five source tables.
var chexmaskIDs = []string{"dicom_id", "image_id", "Image Index", "ImageID", "Path"}

const (
	colHeight    = "Height"
	colWidth     = "Width"
	colLandmarks = "Landmarks"
	colDice      = "Dice RCA (Mean)"
)

// CheXmask reads one table of CheXmask, plain or compressed. It is safe for concurrent use
// when its fs.FS is.
type CheXmask struct {
	fsys fs.FS
	file string
	id   string
}

// chexmaskFiles are where the table for MIMIC-CXR-JPG is looked for, in order.
var chexmaskFiles = []string{
	"OriginalResolution/MIMIC-CXR-JPG.csv", "OriginalResolution/MIMIC-CXR-JPG.csv.gz",
	"MIMIC-CXR-JPG.csv", "MIMIC-CXR-JPG.csv.gz", "chexmask.csv", "chexmask.csv.gz",
}

// FindCheXmask returns the table's path below a root, a plain one before a compressed one.
//
// Errors: *TableError when there is none.
func FindCheXmask(fsys fs.FS) (string, error) {
	for _, f := range chexmaskFiles {
		if _, err := fs.Stat(fsys, f); err == nil {
			return f, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("look for %s: %w", f, err)
		}
	}
	return "", &TableError{File: chexmaskFiles[0], Detail: "is missing, so are " + strings.Join(chexmaskFiles[1:], ", "),
		Hint: "point at the root of CheXmask, or set dataset.lungs to none"}
}

// OpenCheXmask reads the header of a table.
//
// Errors: *TableError for a missing column.
func OpenCheXmask(fsys fs.FS, file string, opt CheXmaskOptions) (*CheXmask, error) {
	c := &CheXmask{fsys: fsys, file: file, id: opt.IDColumn}
	t, err := c.open()
	if err != nil {
		return nil, err
	}
	defer t.close()
	for _, name := range chexmaskIDs {
		if c.id == "" && t.column(name) >= 0 {
			c.id = name
		}
	}
	if c.id == "" || t.column(c.id) < 0 {
		want := c.id
		if want == "" {
			want = strings.Join(chexmaskIDs, " or ")
		}
		return nil, &TableError{File: file, Line: 1, Column: want, Detail: "is missing; the header has " + strings.Join(t.names(), ", "),
			Hint: "name the id column"}
	}
	return c, nil
}

func (c *CheXmask) open() (*table, error) {
	return openTable(c.fsys, c.file, colLandmarks, organFacts[OrganRightLung].column, colHeight, colWidth)
}

// Record is one row of the table, its long fields still unread.
type Record struct {
	ID            string
	Height, Width int // 0 when not given
	// Dice is the estimated quality, 0 to 1; DiceOK is false when the cell holds none.
	Dice      float64
	DiceOK    bool
	landmarks string
	organs    [OrganHeart + 1]string
}

// chexmaskColumns are the places of what is read, found once per pass.
type chexmaskColumns struct {
	id, height, width, dice, landmarks int
	organs                             [OrganHeart + 1]int
}

func (c *CheXmask) columns(t *table) chexmaskColumns {
	k := chexmaskColumns{id: t.column(c.id), height: t.column(colHeight), width: t.column(colWidth),
		dice: t.column(colDice), landmarks: t.column(colLandmarks)}
	for o := OrganRightLung; o <= OrganHeart; o++ {
		k.organs[o] = t.column(organFacts[o].column)
	}
	return k
}

func (k chexmaskColumns) record(rec []string) Record {
	r := Record{ID: rec[k.id], landmarks: rec[k.landmarks]}
	r.Height, r.Width = sideOf(rec[k.height]), sideOf(rec[k.width])
	if k.dice >= 0 {
		if v, err := strconv.ParseFloat(strings.TrimSpace(rec[k.dice]), 64); err == nil && v >= 0 && v <= 1 {
			r.Dice, r.DiceOK = v, true
		}
	}
	for o, i := range k.organs {
		if i >= 0 && o > 0 {
			r.organs[o] = rec[i]
		}
	}
	return r
}

func sideOf(field string) int {
	n, err := pixelCount(field)
	if err != nil {
		return 0
	}
	return n
}

// Records yields every row in table order; a record's text is valid until the next one.
//
// Memory: one row, however long its fields. Errors: at most one, at the end; a single
// unusable line is one, too, because a mask lost without a word would pass for "not
// segmented".
func (c *CheXmask) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		t, err := c.open()
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer t.close()
		k := c.columns(t)
		for {
			rec, line, bad, err := t.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil && bad != "" {
				err = &TableError{File: c.file, Line: line, Detail: bad, Hint: hintDownload}
			}
			if err != nil {
				yield(Record{}, err)
				return
			}
			if !yield(k.record(rec), nil) {
				return
			}
		}
	}
}

// Mask returns an organ's mask at the picture's size, width x height.
//
// minDice is the least Dice RCA (Mean) to accept, 0 for any; the publisher advises 0.7.
// Special cases: Height and Width exchanged against the picture's size give a mask filled
// from the landmarks (see [OrganRebuilt]); any other size is refused, because neither run
// lengths nor landmarks are then in the picture's pixels.
func (r Record) Mask(o Organ, width, height int, minDice float64) OrganMask {
	cell := strings.TrimSpace(r.organs[o])
	switch {
	case minDice > 0 && (!r.DiceOK || r.Dice < minDice):
		return OrganMask{State: OrganLowQuality}
	case cell == "" || strings.EqualFold(cell, "nan"):
		return OrganMask{State: OrganNoMask}
	case r.Width == width && r.Height == height:
		m, err := decodeRLE(width, height, cell)
		if err != nil {
			return OrganMask{State: OrganBadRLE, Detail: err.Error()}
		}
		if m.IsEmpty() {
			return OrganMask{State: OrganNoMask}
		}
		return OrganMask{State: OrganAsPublished, Mask: m}
	case r.Width == height && r.Height == width:
		pts, err := organLandmarks(r.landmarks, o)
		if err != nil {
			return OrganMask{State: OrganBadLandmarks, Detail: err.Error()}
		}
		m := fillPolygon(width, height, pts)
		if m.IsEmpty() {
			return OrganMask{State: OrganBadLandmarks, Detail: "the landmarks enclose no pixel of the picture"}
		}
		return OrganMask{State: OrganRebuilt, Mask: m}
	}
	return OrganMask{State: OrganWrongSize, Detail: fmt.Sprintf("Width x Height is %d x %d, the picture %d x %d", r.Width, r.Height, width, height)}
}
