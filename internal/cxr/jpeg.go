package cxr

import (
	"bytes"
	"encoding/binary"
)

// maxScans caps the passes of a layered JPEG; real files have about ten.
const maxScans = 64

// JPEG marker codes.
const (
	markSOF0  = 0xc0
	markSOF15 = 0xcf
	markDHT   = 0xc4
	markJPG   = 0xc8
	markDAC   = 0xcc
	markRST0  = 0xd0
	markRST7  = 0xd7
	markEOI   = 0xd9
	markSOS   = 0xda
	markAPP0  = 0xe0
	markAPP1  = 0xe1
	markAPP14 = 0xee
)

// jpegScan is the state of one walk over a JPEG's segments.
type jpegScan struct {
	data  []byte
	full  bool
	h     Header
	ids   [4]byte
	comps int
	jfif  bool
	ycc   byte // Adobe transform
	scans int
}

// scanJPEG walks the segments. Without full it stops at the first scan and returns
// errShort when data ends before that.
func scanJPEG(data []byte, full bool) (Header, error) {
	s := &jpegScan{data: data, full: full, h: Header{Format: FormatJPEG}}
	off := 2
	for {
		marker, at, err := s.marker(off)
		if err != nil {
			return Header{}, err
		}
		if marker == markEOI {
			if s.scans == 0 {
				return Header{}, decodeErrorf(ClassDamaged, FormatJPEG, "end mark at byte %d, before any picture data", at)
			}
			s.h.trailing = at < len(data)
			return s.finish(), nil
		}
		if marker >= markRST0 && marker <= markRST7 || marker == 0x01 {
			off = at
			continue
		}
		body, next, err := s.segment(at)
		if err != nil {
			return Header{}, err
		}
		if err := s.apply(marker, body, at); err != nil {
			return Header{}, err
		}
		if marker == markSOS && !full {
			return s.finish(), nil
		}
		if marker == markSOS {
			next = s.entropyEnd(next)
		}
		off = next
	}
}

func (s *jpegScan) short() error {
	if !s.full {
		return errShort
	}
	where := "before its picture data"
	if s.scans > 0 {
		where = "before its end mark"
	}
	return decodeErrorf(ClassTruncated, FormatJPEG, "ends at byte %d, %s", len(s.data), where)
}

// marker finds the next marker at or after off and returns the offset after it. Bytes
// that belong to no segment are passed over, as every decoder does.
func (s *jpegScan) marker(off int) (byte, int, error) {
	for {
		i := bytes.IndexByte(s.data[min(off, len(s.data)):], 0xff)
		if i < 0 {
			return 0, 0, s.short()
		}
		off += i
		for off < len(s.data) && s.data[off] == 0xff {
			off++
		}
		if off >= len(s.data) {
			return 0, 0, s.short()
		}
		if m := s.data[off]; m != 0 {
			return m, off + 1, nil
		}
		off++
	}
}

func (s *jpegScan) segment(at int) (body []byte, next int, err error) {
	if at+2 > len(s.data) {
		return nil, 0, s.short()
	}
	n := int(binary.BigEndian.Uint16(s.data[at:]))
	if n < 2 {
		return nil, 0, decodeErrorf(ClassDamaged, FormatJPEG, "segment at byte %d has length %d", at, n)
	}
	if at+n > len(s.data) {
		return nil, 0, s.short()
	}
	return s.data[at+2 : at+n], at + n, nil
}

// entropyEnd returns the offset of the marker that ends the entropy-coded data at off.
func (s *jpegScan) entropyEnd(off int) int {
	for {
		i := bytes.IndexByte(s.data[off:], 0xff)
		if i < 0 || off+i+1 >= len(s.data) {
			return len(s.data)
		}
		m := s.data[off+i+1]
		if m != 0 && (m < markRST0 || m > markRST7) {
			return off + i
		}
		off += i + 1
		if m != 0xff {
			off++
		}
	}
}

func (s *jpegScan) apply(marker byte, body []byte, at int) error {
	switch {
	case marker == markDHT, marker == markJPG, marker == markDAC:
		return nil
	case marker >= markSOF0 && marker <= markSOF15:
		return s.frame(marker, body, at)
	case marker == markAPP0:
		s.jfif = bytes.HasPrefix(body, []byte("JFIF\x00"))
	case marker == markAPP1 && s.h.Orientation == 0 && !s.h.exifInvalid:
		if tiff, ok := bytes.CutPrefix(body, []byte("Exif\x00\x00")); ok {
			setOrientation(&s.h, tiff)
		}
	case marker == markAPP14 && bytes.HasPrefix(body, []byte("Adobe")) && len(body) >= 12:
		s.h.adobe, s.ycc = true, body[11]
	case marker == markSOS:
		if s.comps == 0 {
			return decodeErrorf(ClassDamaged, FormatJPEG, "picture data at byte %d comes before the frame header", at)
		}
		if s.scans++; s.scans > maxScans {
			return decodeErrorf(ClassTooLarge, FormatJPEG, "more than %d scans", maxScans)
		}
	}
	return nil
}

// sofNames are the codings that are not read here.
var sofNames = map[byte]string{
	0xc3: "lossless", 0xc5: "hierarchical", 0xc6: "hierarchical progressive", 0xc7: "hierarchical lossless",
	0xc9: "arithmetic-coded", 0xca: "arithmetic-coded progressive", 0xcb: "arithmetic-coded lossless",
	0xcd: "arithmetic-coded hierarchical", 0xce: "arithmetic-coded hierarchical", 0xcf: "arithmetic-coded hierarchical",
}

func (s *jpegScan) frame(marker byte, body []byte, at int) error {
	if name, refused := sofNames[marker]; refused {
		return decodeErrorf(ClassUnsupported, FormatJPEG, "%s JPEG; re-save it as baseline or progressive", name)
	}
	if s.comps != 0 {
		return decodeErrorf(ClassDamaged, FormatJPEG, "second frame header at byte %d", at)
	}
	if len(body) < 6 || len(body) != 6+3*int(body[5]) {
		return decodeErrorf(ClassDamaged, FormatJPEG, "frame header of %d bytes", len(body))
	}
	if body[0] != 8 {
		return decodeErrorf(ClassUnsupported, FormatJPEG, "%d-bit JPEG, want 8", body[0])
	}
	s.h.BitDepth = 8
	s.h.StoredHeight = int(binary.BigEndian.Uint16(body[1:]))
	s.h.StoredWidth = int(binary.BigEndian.Uint16(body[3:]))
	s.h.Layered = marker == 0xc2
	s.comps = int(body[5])
	if s.comps != 1 && s.comps != 3 && s.comps != 4 {
		return decodeErrorf(ClassUnsupported, FormatJPEG, "%d components, want 1, 3 or 4", s.comps)
	}
	for i := range s.comps {
		s.ids[i] = body[6+3*i]
	}
	return nil
}

// finish derives the pixel model the way the independent JPEG group's decoder does.
func (s *jpegScan) finish() Header {
	switch s.comps {
	case 1:
		s.h.Model = ModelGrey
	case 3:
		s.h.Model = ModelYCbCr
		plain := s.ids[0] == 'R' && s.ids[1] == 'G' && s.ids[2] == 'B'
		if !s.jfif && (s.h.adobe && s.ycc == 0 || plain) {
			s.h.Model = ModelRGB
		}
	case 4:
		s.h.Model = ModelCMYK
		if s.h.adobe && s.ycc != 0 {
			s.h.Model = ModelYCCK
		}
	}
	return s.h
}
