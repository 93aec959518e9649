package activities

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"cxrepro/internal/cxr"
)

// releasePicture is a picture of a release that may be shown to a model.
type releasePicture struct {
	data []byte
	mime string
}

// readPicture reads and closes a picture. Its size is held against the limits by the file's
// length and by its header, so that what nobody could decode later is refused before it is
// stored, and before any question is put.
//
// Errors: a file above a limit or without a picture's header; those of reading.
func readPicture(f fs.File, limits cxr.Limits) (p releasePicture, err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	most := cmp.Or(max(limits.MaxBytes, 0), cxr.DefaultMaxBytes)
	if p.data, err = io.ReadAll(io.LimitReader(f, most+1)); err != nil {
		return p, err
	}
	return pictureOf(p.data, limits)
}

// pictureOf is readPicture for bytes.
func pictureOf(data []byte, limits cxr.Limits) (p releasePicture, err error) {
	p.data = data
	if most := cmp.Or(max(limits.MaxBytes, 0), cxr.DefaultMaxBytes); int64(len(p.data)) > most {
		return p, fmt.Errorf("the file has more than %d bytes, the limit", most)
	}
	h, err := cxr.ReadHeader(bytes.NewReader(p.data))
	if err != nil {
		return p, err
	}
	pixels := int64(h.StoredWidth) * int64(h.StoredHeight)
	if most := cmp.Or(max(limits.MaxPixels, 0), cxr.DefaultMaxPixels); pixels > most {
		return p, fmt.Errorf("its header promises %d x %d = %d pixels, the limit is %d", h.StoredWidth, h.StoredHeight, pixels, most)
	}
	if most := cmp.Or(max(limits.MaxMemory, 0), cxr.DefaultMaxMemory); h.DecodeMemory() > most {
		return p, fmt.Errorf("decoding its %d x %d pixels needs about %d bytes, the limit is %d", h.StoredWidth, h.StoredHeight, h.DecodeMemory(), most)
	}
	p.mime = h.Format.MediaType()
	return p, nil
}
