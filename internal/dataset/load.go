package dataset

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"cxrepro/artifacts"
	"cxrepro/internal/cxr"
)

// LoadOptions bounds and checks the reading of one picture.
type LoadOptions struct {
	Limits cxr.Limits
	// TrustChecksums takes a published checksum as the file's digest without hashing the
	// bytes. A file that was damaged on the way is then found only if it does not decode.
	TrustChecksums bool
}

// Loaded is one picture file as read.
type Loaded struct {
	// Outcome is Kept, or a quarantine reason with Detail.
	Outcome Outcome
	Detail  string
	// Digest is the SHA-256 of the file's bytes, zero when there is no file.
	Digest artifacts.Digest
	Size   int64
	// Image is set exactly when Outcome is Kept.
	Image *cxr.Image
}

// Load reads a kept row's file, compares it with the published checksum and size, and
// decodes it. Everything that is wrong with the file is an outcome with a detail that
// holds no identifier; a digest is given whenever there are bytes.
//
// Bytes that differ from the published checksum are read once more before they count as
// different. Errors: only the storage's own, which may pass.
func (m *MIMIC) Load(row Row, opt LoadOptions) (Loaded, error) {
	data, out, err := m.read(row, opt)
	if err != nil || out.Outcome != Kept {
		return out, err
	}
	img, err := cxr.Decode(data, opt.Limits)
	if err != nil {
		var bad *cxr.DecodeError
		if !errors.As(err, &bad) {
			return Loaded{}, readError(row, err)
		}
		out.Outcome, out.Detail = outcomeOfClass(bad.Class), bad.Error()
		return out, nil
	}
	if o, detail := sizeOutcome(row.Entry, img.Width, img.Height); o != Kept {
		out.Outcome, out.Detail = o, detail
		return out, nil
	}
	out.Image = img
	return out, nil
}

// Header reads the first bytes of a kept row's file: presence, format and size, without
// hashing or decoding. Outcomes and errors are those of Load; Digest stays zero.
func (m *MIMIC) Header(row Row, opt LoadOptions) (cxr.Header, Loaded, error) {
	f, out, err := m.open(row)
	if err != nil || out.Outcome != Kept {
		return cxr.Header{}, out, err
	}
	defer f.Close()
	h, err := cxr.ReadHeader(f)
	var bad *cxr.DecodeError
	switch {
	case errors.As(err, &bad):
		out.Outcome, out.Detail = outcomeOfClass(bad.Class), bad.Error()
	case err != nil:
		return cxr.Header{}, Loaded{}, readError(row, err)
	default:
		out.Outcome, out.Detail = sizeOutcome(row.Entry, h.Width, h.Height)
	}
	return h, out, nil
}

// readError names the case instead of the path, which would identify the picture wherever
// the message ends up.
func readError(row Row, err error) error {
	return fmt.Errorf("read case %d: %w", row.Entry.Case, withoutPath(err))
}

func withoutPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Op, pe.Err)
	}
	return err
}

func sizeOutcome(e Entry, w, h int) (Outcome, string) {
	if e.Width > 0 && e.Width != w || e.Height > 0 && e.Height != h {
		return DimensionMismatch, fmt.Sprintf("picture is %d x %d pixels, Columns x Rows says %d x %d", w, h, e.Width, e.Height)
	}
	return Kept, ""
}

// open opens a row's file and looks at its size.
func (m *MIMIC) open(row Row) (fs.File, Loaded, error) {
	if row.Source.Path == "" {
		return nil, Loaded{}, fmt.Errorf("read case %d: the row has no path (outcome %s)", row.Entry.Case, row.Entry.Outcome)
	}
	f, err := m.fsys.Open(row.Source.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Loaded{Outcome: MissingFile, Detail: "the row's file is not in the folder"}, nil
	}
	if err != nil {
		return nil, Loaded{}, readError(row, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, Loaded{}, readError(row, err)
	}
	if info.IsDir() {
		f.Close()
		return nil, Loaded{Outcome: MissingFile, Detail: "a folder stands where the row's file should be"}, nil
	}
	return f, Loaded{Outcome: Kept, Size: info.Size()}, nil
}

// read returns a file's bytes and digest, or an outcome.
func (m *MIMIC) read(row Row, opt LoadOptions) ([]byte, Loaded, error) {
	want := row.Entry.Published
	for attempt := 1; ; attempt++ {
		data, out, err := m.readOnce(row, opt)
		if err != nil || out.Outcome != Kept {
			return nil, out, err
		}
		if want.IsZero() || out.Digest == want {
			return data, out, nil
		}
		if attempt == 2 {
			out.Outcome = DigestMismatch
			out.Detail = fmt.Sprintf("%d bytes with SHA-256 %s, %s says %s", out.Size, out.Digest.Short(), m.sums, want.Short())
			if _, err := cxr.Decode(data, opt.Limits); err != nil {
				out.Detail += "; " + err.Error()
			}
			return nil, out, nil
		}
	}
}

func (m *MIMIC) readOnce(row Row, opt LoadOptions) ([]byte, Loaded, error) {
	f, out, err := m.open(row)
	if err != nil || out.Outcome != Kept {
		return nil, out, err
	}
	defer f.Close()
	limit := opt.Limits.MaxBytes
	if limit <= 0 {
		limit = cxr.DefaultMaxBytes
	}
	if out.Size > limit {
		sum := sha256.New()
		if out.Size, err = io.Copy(sum, f); err != nil {
			return nil, Loaded{}, readError(row, err)
		}
		out.Digest = artifacts.Digest(sum.Sum(nil))
		out.Outcome, out.Detail = TooLarge, fmt.Sprintf("%d bytes, limit %d", out.Size, limit)
		return nil, out, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1)) // the file may have grown since
	if err != nil {
		return nil, Loaded{}, readError(row, err)
	}
	out.Size = int64(len(data))
	if out.Size == 0 {
		out.Outcome, out.Detail = ZeroBytes, "the file has zero bytes"
		out.Digest = artifacts.Sum(nil)
		return nil, out, nil
	}
	if opt.TrustChecksums && !row.Entry.Published.IsZero() {
		out.Digest = row.Entry.Published
	} else {
		out.Digest = artifacts.Sum(data)
	}
	return data, out, nil
}
