package overlay

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
)

// PNG encodes the canvas. One that shows a radiograph is written with one filter for all
// rows: film noise leaves the choice between filters nothing to gain, and it is what most
// of the time would go into.
func (c *Canvas) PNG() ([]byte, error) {
	var b bytes.Buffer
	if c.rgba.Opaque() {
		err := encodeOpaque(&b, c.rgba)
		return b.Bytes(), err
	}
	e := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := e.Encode(&b, c.rgba); err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	return b.Bytes(), nil
}

// pngSignature begins every PNG file.
const pngSignature = "\x89PNG\r\n\x1a\n"

// filterSub predicts a byte by the same channel of the pixel before it.
const filterSub = 1

// encodeOpaque writes an 8-bit RGB picture.
func encodeOpaque(b *bytes.Buffer, img *image.RGBA) error {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	b.WriteString(pngSignature)
	head := binary.BigEndian.AppendUint32(nil, uint32(w))
	head = binary.BigEndian.AppendUint32(head, uint32(h))
	chunk(b, "IHDR", append(head, 8, 2, 0, 0, 0)) // 8 bits, RGB, the only methods there are
	var packed bytes.Buffer
	z, err := zlib.NewWriterLevel(&packed, zlib.BestSpeed)
	if err != nil {
		return fmt.Errorf("overlay: %w", err)
	}
	line := make([]byte, 1+3*w)
	line[0] = filterSub
	for y := range h {
		row := img.Pix[y*img.Stride : y*img.Stride+4*w]
		var r, g, bl uint8
		for x := range w {
			px, out := row[4*x:4*x+3:4*x+3], line[1+3*x:4+3*x:4+3*x]
			out[0], out[1], out[2] = px[0]-r, px[1]-g, px[2]-bl
			r, g, bl = px[0], px[1], px[2]
		}
		if _, err := z.Write(line); err != nil {
			return fmt.Errorf("overlay: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("overlay: %w", err)
	}
	chunk(b, "IDAT", packed.Bytes())
	chunk(b, "IEND", nil)
	return nil
}

// chunk writes one chunk: length, name, data, and the checksum of the last two.
func chunk(b *bytes.Buffer, name string, data []byte) {
	start := b.Len() + 4
	var n [4]byte
	binary.BigEndian.PutUint32(n[:], uint32(len(data)))
	b.Write(n[:])
	b.WriteString(name)
	b.Write(data)
	binary.BigEndian.PutUint32(n[:], crc32.ChecksumIEEE(b.Bytes()[start:]))
	b.Write(n[:])
}
