package cxr

// DecoderVersion names the pixels that [Decode] makes. It belongs into the version of
// every step that decodes; it changes whenever any file's pixels or rules may change,
// a change in the standard library's decoders included (a test pins both).
const DecoderVersion = 1

// Limits bounds what one file may cost. A zero field takes its default.
type Limits struct {
	// MaxBytes caps the file. Default 64 MiB.
	MaxBytes int64
	// MaxPixels caps width x height. Default 36 million; a chest radiograph at full size
	// has about 8 million, the largest detectors 16 million.
	MaxPixels int64
	// MaxMemory caps [Header.DecodeMemory], the decoder's planes together. Default 512 MiB.
	MaxMemory int64
}

// Default limits.
const (
	DefaultMaxBytes  = 64 << 20
	DefaultMaxPixels = 36_000_000
	DefaultMaxMemory = 512 << 20
)

func (l Limits) withDefaults() Limits {
	if l.MaxBytes <= 0 {
		l.MaxBytes = DefaultMaxBytes
	}
	if l.MaxPixels <= 0 {
		l.MaxPixels = DefaultMaxPixels
	}
	if l.MaxMemory <= 0 {
		l.MaxMemory = DefaultMaxMemory
	}
	return l
}

// check applies the limits to a header, before any pixel memory exists.
func (l Limits) check(h Header) error {
	pixels := int64(h.StoredWidth) * int64(h.StoredHeight)
	if pixels > l.MaxPixels {
		return decodeErrorf(ClassTooLarge, h.Format, "header promises %d x %d = %d pixels, limit %d",
			h.StoredWidth, h.StoredHeight, pixels, l.MaxPixels)
	}
	if need := h.DecodeMemory(); need > l.MaxMemory {
		return decodeErrorf(ClassTooLarge, h.Format, "decoding %d x %d pixels of %s needs about %d bytes, limit %d",
			h.StoredWidth, h.StoredHeight, h.Model, need, l.MaxMemory)
	}
	return nil
}
