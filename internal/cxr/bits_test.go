package cxr

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// onePNG writes a one-bit PNG whose rows use the filters 0 to 4 in turn, over several data
// chunks. The encoder of the standard library writes no one-bit grey.
func onePNG(w, h int, at func(x, y int) bool, split int) []byte {
	stride := (w + 7) / 8
	var raw bytes.Buffer
	above := make([]byte, stride)
	for y := range h {
		line := make([]byte, stride)
		for x := range w {
			if at(x, y) {
				line[x/8] |= 0x80 >> (x % 8)
			}
		}
		kind := byte(y % 5)
		raw.WriteByte(kind)
		left, corner := byte(0), byte(0)
		for i, v := range line {
			switch kind {
			case 0:
				raw.WriteByte(v)
			case 1:
				raw.WriteByte(v - left)
			case 2:
				raw.WriteByte(v - above[i])
			case 3:
				raw.WriteByte(v - byte((int(left)+int(above[i]))/2))
			case 4:
				raw.WriteByte(v - byte(paeth(int(left), int(above[i]), int(corner))))
			}
			left, corner = v, above[i]
		}
		above = line
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write(raw.Bytes())
	z.Close()
	out := []byte(pngMagic)
	chunk := func(kind string, body []byte) {
		out = binary.BigEndian.AppendUint32(out, uint32(len(body)))
		begin := len(out)
		out = append(append(out, kind...), body...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[begin:]))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(w)), uint32(h))
	chunk("IHDR", append(head, 1, 0, 0, 0, 0))
	for body := packed.Bytes(); len(body) > 0; {
		n := min(split, len(body))
		chunk("IDAT", body[:n])
		body = body[n:]
	}
	chunk("IEND", nil)
	return out
}

// bitsOf unpacks what ScanBits hands over to 0 and 255.
func bitsOf(data []byte) (*Image, error) {
	var m *Image
	err := ScanBits(data, Limits{}, func(h Header) error {
		m = NewImage(h.Width, h.Height)
		return nil
	}, func(y int, packed []byte) error {
		for x := range m.Width {
			if packed[x/8]&(0x80>>(x%8)) != 0 {
				m.Pix[y*m.Width+x] = 255
			}
		}
		return nil
	})
	return m, err
}

// The packed rows are what the full decoder makes of the same file, filters and chunk
// borders included.
func TestScanBitsEqualsDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, size := range [][2]int{{1, 1}, {7, 3}, {8, 12}, {9, 11}, {65, 40}, {200, 33}} {
		for _, density := range []float64{0, 0.1, 0.5, 1} {
			set := map[[2]int]bool{}
			for y := range size[1] {
				for x := range size[0] {
					set[[2]int{x, y}] = r.Float64() < density
				}
			}
			data := onePNG(size[0], size[1], func(x, y int) bool { return set[[2]int{x, y}] }, 17)
			want, err := Decode(data, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := bitsOf(data)
			if err != nil || !bytes.Equal(got.Pix, want.Pix) {
				t.Errorf("%d x %d at density %g differs: %v", size[0], size[1], density, err)
			}
		}
	}
	if got, err := bitsOf(readGolden(t, "grey1.png")); err != nil || got.Width != 23 {
		t.Errorf("a file of another writer: %v", err)
	}
}

func TestScanBitsRefusals(t *testing.T) {
	for _, name := range []string{"grey2.png", "grey8.png", "grey8_interlaced.png", "palette1.png", "grey.jpg", "rgba8.png"} {
		if _, err := bitsOf(readGolden(t, name)); !errors.Is(err, ErrNotBits) {
			t.Errorf("%s: %v, want ErrNotBits", name, err)
		}
	}
	good := onePNG(40, 20, func(x, y int) bool { return (x+y)%3 == 0 }, 1<<20)
	for n := range good {
		if n < len(pngMagic) {
			continue
		}
		var bad *DecodeError
		if _, err := bitsOf(good[:n]); !errors.As(err, &bad) || bad.Class != ClassTruncated {
			t.Fatalf("first %d bytes: %v", n, err)
		}
	}
	for n := len(pngMagic); n < len(good); n++ {
		var bad *DecodeError
		if _, err := bitsOf(flipped(good, n)); !errors.As(err, &bad) && !errors.Is(err, ErrNotBits) {
			t.Errorf("a flip at byte %d went unnoticed: %v", n, err)
		}
	}
	boom := errors.New("enough")
	err := ScanBits(good, Limits{}, func(Header) error { return nil }, func(int, []byte) error { return boom })
	if !errors.Is(err, boom) {
		t.Errorf("the callback's error came back as %v", err)
	}
	var bad *DecodeError
	if err := ScanBits(good, Limits{MaxPixels: 100}, nil, nil); !errors.As(err, &bad) || bad.Class != ClassTooLarge {
		t.Errorf("limit: %v", err)
	}
}

func FuzzScanBits(f *testing.F) {
	f.Add(readGolden(f, "grey1.png"))
	f.Add(onePNG(9, 11, func(x, y int) bool { return x > y }, 5))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := bitsOf(data)
		if err != nil {
			return
		}
		want, err := Decode(data, Limits{})
		if err != nil || !bytes.Equal(got.Pix, want.Pix) {
			t.Fatalf("the full decoder disagrees: %v", err)
		}
	})
}
