package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"cxrepro/artifacts"
	"cxrepro/internal/cxr"
	"cxrepro/internal/datause"
)

// LayoutWriter creates the files of a new data set folder. Names are relative, with
// forward slashes; folders on the way are created. An existing file is an error.
type LayoutWriter interface {
	Create(name string) (io.WriteCloser, error)
}

// Picture is one picture to lay out.
type Picture struct {
	// Name is the file's base name, for the record only.
	Name string
	Data []byte
	View cxr.ViewPosition
}

// LayoutOptions describes the data set that [LayOut] makes.
type LayoutOptions struct {
	// Name and DataUse go into the declaration; a known name keeps its class.
	Name        string
	DataUse     datause.Class
	Attribution string
	// Split is given to every picture; zero means train.
	Split Split
	// Quality is the JPEG quality for pictures that are not JPEG already; zero means 95.
	Quality int
	Limits  cxr.Limits
}

// Conversion says what happened to a picture's bytes. The text forms are stable.
type Conversion string

// The conversions.
const (
	// KeptJPEG: the bytes are the given ones.
	KeptJPEG Conversion = "kept_jpeg"
	// GreyJPEG: decoded by the rules listed beside it and written as one-component JPEG.
	GreyJPEG Conversion = "grey_jpeg"
)

// LaidOut records one picture of a layout.
type LaidOut struct {
	Case int `json:"case"`
	// Name and Original are the given file's base name and digest.
	Name     string           `json:"name"`
	Original artifacts.Digest `json:"original"`
	Path     string           `json:"path"`
	Digest   artifacts.Digest `json:"digest"`
	Width    int              `json:"width"`
	Height   int              `json:"height"`
	// Conversion and, for GreyJPEG, Quality and the largest difference in grey levels that
	// the coding made.
	Conversion    Conversion `json:"conversion"`
	Quality       int        `json:"quality,omitempty"`
	MaxDifference int        `json:"max_difference,omitempty"`
	// Rules led from the given file to the grey picture.
	Rules []string `json:"rules"`
}

// RefusedPicture is one that could not be laid out.
type RefusedPicture struct {
	Name    string  `json:"name"`
	Outcome Outcome `json:"outcome"`
	Detail  string  `json:"detail"`
}

// LayoutReport says what was written.
type LayoutReport struct {
	Pictures []LaidOut        `json:"pictures"`
	Refused  []RefusedPicture `json:"refused,omitempty"`
}

// LayoutRecordFile keeps a folder's [LayoutReport].
const LayoutRecordFile = "cxrepro-layout.json"

const minQuality = 95

// LayOut writes a folder in the layout of MIMIC-CXR-JPG: files/, the metadata and split
// tables, SHA256SUMS.txt, a declaration of the data-use class and a record of conversions.
//
// A JPEG keeps its bytes; anything else that decodes becomes a one-component JPEG. The id
// of a picture comes from the digest of its bytes, subject and study are numbers counted
// up. The same pictures in the same order give the same folder. A picture that does not
// decode, or repeats the bytes of an earlier one, is refused and the rest goes on.
//
// Errors: options that make no sense, no usable picture at all, or those of pictures and w.
func LayOut(w LayoutWriter, pictures iter.Seq2[Picture, error], opt LayoutOptions) (LayoutReport, error) {
	var report LayoutReport
	if opt.Quality == 0 {
		opt.Quality = minQuality
	}
	if opt.Quality < minQuality || opt.Quality > 100 {
		return report, fmt.Errorf("lay out: quality %d, want %d to 100", opt.Quality, minQuality)
	}
	if opt.Split == 0 {
		opt.Split = SplitTrain
	}
	declaration, err := Declaration{Name: opt.Name, DataUse: opt.DataUse, Attribution: opt.Attribution, MadeBy: "cxrepro dataset layout"}.Encode()
	if err != nil {
		return report, fmt.Errorf("lay out: %w", err)
	}
	tables := &LayoutTables{}
	for p, err := range pictures {
		if err != nil {
			return report, fmt.Errorf("lay out: %w", err)
		}
		data, rec, refused := convert(p, opt)
		if refused != nil {
			report.Refused = append(report.Refused, *refused)
			continue
		}
		if i := indexDigest(report.Pictures, rec.Digest); i >= 0 {
			report.Refused = append(report.Refused, RefusedPicture{p.Name, DuplicateID, "the same bytes as " + report.Pictures[i].Name})
			continue
		}
		rec.Case = len(report.Pictures) + 1
		rec.Path, err = tables.Add(LayoutRow{ID: LayoutID(rec.Digest), View: p.View, Split: opt.Split, Width: rec.Width, Height: rec.Height, Digest: rec.Digest})
		if err != nil {
			return report, fmt.Errorf("lay out %s: %w", p.Name, err)
		}
		if err := writeFile(w, rec.Path, data); err != nil {
			return report, err
		}
		report.Pictures = append(report.Pictures, rec)
	}
	if len(report.Pictures) == 0 {
		return report, fmt.Errorf("lay out: no usable picture among %d", len(report.Refused))
	}
	record, err := json.MarshalIndent(report, "", " ")
	if err != nil {
		return report, fmt.Errorf("lay out: %w", err)
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{DeclarationFile, declaration}, {LayoutRecordFile, append(record, '\n')}} {
		if err := writeFile(w, f.name, f.data); err != nil {
			return report, err
		}
		tables.Sum(f.name, artifacts.Sum(f.data))
	}
	return report, tables.Write(w)
}

func indexDigest(list []LaidOut, d artifacts.Digest) int {
	for i := range list {
		if list[i].Digest == d {
			return i
		}
	}
	return -1
}

// convert returns the bytes to store for a picture.
func convert(p Picture, opt LayoutOptions) ([]byte, LaidOut, *RefusedPicture) {
	refuse := func(o Outcome, err error) ([]byte, LaidOut, *RefusedPicture) {
		return nil, LaidOut{}, &RefusedPicture{Name: p.Name, Outcome: o, Detail: err.Error()}
	}
	img, err := cxr.Decode(p.Data, opt.Limits)
	if err != nil {
		var bad *cxr.DecodeError
		if errors.As(err, &bad) {
			return refuse(outcomeOfClass(bad.Class), err)
		}
		return refuse(Damaged, err)
	}
	rec := LaidOut{Name: p.Name, Original: artifacts.Sum(p.Data), Width: img.Width, Height: img.Height,
		Conversion: KeptJPEG, Rules: img.Rules}
	h, err := cxr.ReadHeader(bytes.NewReader(p.Data))
	if err != nil {
		return refuse(Damaged, err)
	}
	data := p.Data
	if h.Format != cxr.FormatJPEG {
		if data, err = cxr.EncodeJPEG(img, opt.Quality); err != nil {
			return refuse(Damaged, err)
		}
		back, err := cxr.Decode(data, opt.Limits)
		if err != nil {
			return refuse(Damaged, err)
		}
		rec.Conversion, rec.Quality, rec.MaxDifference = GreyJPEG, opt.Quality, maxDifference(img.Pix, back.Pix)
	}
	rec.Digest = artifacts.Sum(data)
	return data, rec, nil
}

func maxDifference(a, b []uint8) int {
	worst := 0
	for i := range a {
		worst = max(worst, int(a[i])-int(b[i]), int(b[i])-int(a[i]))
	}
	return worst
}

func writeFile(w LayoutWriter, name string, data []byte) error {
	f, err := w.Create(name)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
