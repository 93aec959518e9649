package cxr

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// ErrNotBits reports a picture that is not a plain black-and-white PNG.
var ErrNotBits = errors.New("not a one-bit grey PNG without interlacing")

// ScanBits hands over the rows of a one-bit grey PNG without unpacking them: one bit per
// pixel, the leftmost in the highest bit, 1 white, unused bits at the end of a row
// undefined. Rows are valid until the callback returns; memory is two rows.
//
// head is called once before the first row, with the picture's header.
// Errors: ErrNotBits for any other PNG and for other formats, before anything is handed
// over; *DecodeError as for Decode; those of the callbacks.
func ScanBits(data []byte, limits Limits, head func(Header) error, row func(y int, packed []byte) error) error {
	if sniff(data) != FormatPNG {
		return ErrNotBits
	}
	l := limits.withDefaults()
	if int64(len(data)) > l.MaxBytes {
		return decodeErrorf(ClassTooLarge, FormatPNG, "%d bytes, limit %d", len(data), l.MaxBytes)
	}
	h, err := scan(data, true)
	if err != nil {
		return err
	}
	if h.Model != ModelGrey || h.BitDepth != 1 || h.Layered || h.Orientation > 1 || h.greyAlpha {
		return ErrNotBits
	}
	if err := l.check(h); err != nil {
		return err
	}
	body, err := pictureData(data)
	if err != nil {
		return err
	}
	if err := head(h); err != nil {
		return err
	}
	z, err := zlib.NewReader(bytes.NewReader(body))
	if err != nil {
		return &DecodeError{Class: ClassDamaged, Format: FormatPNG, Detail: "picture data", Err: err}
	}
	line, above := make([]byte, 1+(h.Width+7)/8), make([]byte, 1+(h.Width+7)/8)
	for y := range h.Height {
		if _, err := io.ReadFull(z, line); err != nil {
			return &DecodeError{Class: ClassDamaged, Format: FormatPNG, Detail: "picture data", Err: err}
		}
		if line[0] > 4 {
			return decodeErrorf(ClassDamaged, FormatPNG, "row filter %d does not exist", line[0])
		}
		unfilter(line[0], line[1:], above[1:])
		if err := row(y, line[1:]); err != nil {
			return err
		}
		line, above = above, line
	}
	if n, err := io.ReadFull(z, line[:1]); n > 0 || !errors.Is(err, io.EOF) {
		return &DecodeError{Class: ClassDamaged, Format: FormatPNG, Detail: "picture data goes on or fails its checksum", Err: err}
	}
	return nil
}

// pictureData joins the picture data chunks of a PNG that was scanned, and checks every
// critical chunk's checksum.
func pictureData(data []byte) ([]byte, error) {
	var body []byte
	for off := len(pngMagic); ; {
		kind, part, next, err := pngChunk(data, off, true)
		if err != nil {
			return nil, err
		}
		if kind[0] < 'a' && crc32.ChecksumIEEE(data[off+4:next-4]) != binary.BigEndian.Uint32(data[next-4:]) {
			return nil, decodeErrorf(ClassDamaged, FormatPNG, "chunk %s at byte %d fails its checksum", kind, off)
		}
		switch {
		case kind == "IDAT" && body == nil:
			body = part[:len(part):len(part)] // the usual single chunk costs no copy
		case kind == "IDAT":
			body = append(body, part...)
		case kind == "IEND":
			return body, nil
		}
		off = next
	}
}

// unfilter undoes a row filter for pixels of at most one byte.
// Source: PNG specification, section 9.
func unfilter(kind byte, line, above []byte) {
	switch kind {
	case 1:
		for i := 1; i < len(line); i++ {
			line[i] += line[i-1]
		}
	case 2:
		for i := range line {
			line[i] += above[i]
		}
	case 3:
		left := 0
		for i := range line {
			line[i] += byte((left + int(above[i])) / 2)
			left = int(line[i])
		}
	case 4:
		left, corner := 0, 0
		for i := range line {
			up := int(above[i])
			line[i] += byte(paeth(left, up, corner))
			left, corner = int(line[i]), up
		}
	}
}

// paeth returns whichever of left, up and corner is nearest to left + up - corner, in that
// order of preference.
func paeth(left, up, corner int) int {
	p := left + up - corner
	dl, du, dc := max(p-left, left-p), max(p-up, up-p), max(p-corner, corner-p)
	if dl <= du && dl <= dc {
		return left
	}
	if du <= dc {
		return up
	}
	return corner
}
