package cxr

import (
	"encoding/binary"
	"hash/crc32"
)

// scanPNG reads IHDR and walks the chunks. Without full it stops at the first picture
// data and returns errShort when data ends before that.
func scanPNG(data []byte, full bool) (Header, error) {
	h := Header{Format: FormatPNG, Orientation: 1}
	off, sawData := len(pngMagic), false
	for first := true; ; first = false {
		kind, body, next, err := pngChunk(data, off, full)
		if err != nil {
			return Header{}, err
		}
		if first != (kind == "IHDR") {
			return Header{}, decodeErrorf(ClassDamaged, FormatPNG, "chunk at byte %d: the header chunk must come first and once", off)
		}
		switch kind {
		case "IHDR":
			if err := readIHDR(&h, body, data[next-4:next]); err != nil {
				return Header{}, err
			}
		case "IDAT":
			sawData = true
			if !full {
				return h, nil
			}
		case "tRNS":
			h.greyAlpha = true
		case "eXIf":
			setOrientation(&h, body)
		case "IEND":
			if !sawData {
				return Header{}, decodeErrorf(ClassDamaged, FormatPNG, "no picture data before the end mark")
			}
			h.trailing = next < len(data)
			return h, nil
		}
		off = next
	}
}

// pngChunk returns the chunk at off and the offset after it.
func pngChunk(data []byte, off int, full bool) (kind string, body []byte, next int, err error) {
	short := func() error {
		if full {
			return decodeErrorf(ClassTruncated, FormatPNG, "ends at byte %d, before its end mark", len(data))
		}
		return errShort
	}
	if off+8 > len(data) {
		return "", nil, 0, short()
	}
	length := binary.BigEndian.Uint32(data[off:])
	kind = string(data[off+4 : off+8])
	for _, c := range []byte(kind) {
		if c < 'A' || c > 'z' || c > 'Z' && c < 'a' {
			return "", nil, 0, decodeErrorf(ClassDamaged, FormatPNG, "no chunk name at byte %d", off+4)
		}
	}
	if length > 1<<31-1 {
		return "", nil, 0, decodeErrorf(ClassDamaged, FormatPNG, "chunk at byte %d promises %d bytes", off, length)
	}
	if kind == "IDAT" && !full {
		return kind, nil, off + 8, nil
	}
	if int64(length)+12 > int64(len(data)-off) {
		return "", nil, 0, short()
	}
	next = off + 12 + int(length)
	return kind, data[off+8 : next-4], next, nil
}

func readIHDR(h *Header, body, sum []byte) error {
	if len(body) != 13 {
		return decodeErrorf(ClassDamaged, FormatPNG, "header chunk of %d bytes, want 13", len(body))
	}
	crc := crc32.Update(crc32.ChecksumIEEE([]byte("IHDR")), crc32.IEEETable, body)
	if crc != binary.BigEndian.Uint32(sum) {
		return decodeErrorf(ClassDamaged, FormatPNG, "header chunk fails its checksum")
	}
	w, ht := binary.BigEndian.Uint32(body), binary.BigEndian.Uint32(body[4:])
	if w > 1<<31-1 || ht > 1<<31-1 {
		return decodeErrorf(ClassTooLarge, FormatPNG, "header promises %d x %d pixels", w, ht)
	}
	h.StoredWidth, h.StoredHeight = int(w), int(ht)
	h.BitDepth = int(body[8])
	model, depths := Model(0), []int{8, 16}
	switch body[9] {
	case 0:
		model, depths = ModelGrey, []int{1, 2, 4, 8, 16}
	case 2:
		model = ModelRGB
	case 3:
		model, depths = ModelPalette, []int{1, 2, 4, 8}
	case 4:
		model = ModelGreyAlpha
	case 6:
		model = ModelRGBA
	}
	for _, d := range depths {
		if model != 0 && d == h.BitDepth {
			h.Model = model
		}
	}
	if h.Model == 0 {
		return decodeErrorf(ClassDamaged, FormatPNG, "colour type %d with %d bits does not exist", body[9], body[8])
	}
	if body[10] != 0 || body[11] != 0 || body[12] > 1 {
		return decodeErrorf(ClassUnsupported, FormatPNG, "compression %d, filter %d, interlace %d", body[10], body[11], body[12])
	}
	h.Layered = body[12] == 1
	return nil
}
