package cxr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"runtime"
	"strings"
	"testing"
)

// pngWith rebuilds a PNG header for w x h, keeping everything after it.
func pngWith(t testing.TB, w, h uint32, depth, colour, interlace byte) []byte {
	t.Helper()
	data := bytes.Clone(readGolden(t, "grey8.png"))
	body := data[16:29]
	binary.BigEndian.PutUint32(body, w)
	binary.BigEndian.PutUint32(body[4:], h)
	body[8], body[9], body[12] = depth, colour, interlace
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return data
}

// jpegWith changes the frame header of a grey JPEG.
func jpegWith(t testing.TB, change func(frame []byte)) []byte {
	t.Helper()
	data := bytes.Clone(readGolden(t, "grey.jpg"))
	at := bytes.Index(data, []byte{0xff, 0xc0})
	if at < 0 {
		t.Fatal("no frame header in grey.jpg")
	}
	change(data[at:])
	return data
}

func jpegSize(t testing.TB, w, h uint16) []byte {
	return jpegWith(t, func(f []byte) {
		binary.BigEndian.PutUint16(f[5:], h)
		binary.BigEndian.PutUint16(f[7:], w)
	})
}

func manyScans(t testing.TB) []byte {
	data := readGolden(t, "grey.jpg")
	at := bytes.Index(data, []byte{0xff, 0xda})
	end := bytes.LastIndex(data, []byte{0xff, 0xd9})
	return append(append(bytes.Clone(data[:at]), bytes.Repeat(data[at:end], maxScans+1)...), data[end:]...)
}

func flipped(data []byte, at int) []byte {
	out := bytes.Clone(data)
	out[at] ^= 0x55
	return out
}

func TestBadInputs(t *testing.T) {
	goodPNG, goodJPEG := readGolden(t, "grey8.png"), readGolden(t, "grey.jpg")
	cmyk := readGolden(t, "cmyk.jpg")
	noAdobe := bytes.Replace(cmyk, []byte("Adobe"), []byte("Other"), 1)
	cases := []struct {
		name   string
		data   []byte
		class  Class
		detail string
	}{
		{"zero bytes", nil, ClassEmpty, "zero bytes"},
		{"text", []byte("Findings: the heart is of normal size.\n"), ClassNotAnImage, "the content is text"},
		{"noise", []byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, ClassNotAnImage, "unknown bytes"},
		{"gif", []byte("GIF89a\x01\x00\x01\x00"), ClassUnsupported, "a GIF, want PNG or JPEG"},
		{"dicom", append(make([]byte, 128), "DICM\x02\x00"...), ClassUnsupported, "a DICOM file"},
		{"half a png mark", []byte("\x89PN"), ClassTruncated, "beginning of a format mark"},
		{"half a jpeg mark", []byte("\xff\xd8"), ClassTruncated, "beginning of a format mark"},
		{"png cut in its header", goodPNG[:20], ClassTruncated, "ends at byte 20"},
		{"png cut in its data", goodPNG[:len(goodPNG)-20], ClassTruncated, "before its end mark"},
		{"png cut before the end mark", goodPNG[:len(goodPNG)-12], ClassTruncated, "before its end mark"},
		{"png damaged header", flipped(goodPNG, 18), ClassDamaged, "header chunk fails its checksum"},
		{"png damaged data", flipped(goodPNG, 60), ClassDamaged, "picture data"},
		{"png bomb", pngWith(t, 60000, 60000, 8, 6, 0), ClassTooLarge, "60000 x 60000 = 3600000000 pixels"},
		{"png beyond 31 bits", pngWith(t, 1<<31, 1, 8, 0, 0), ClassTooLarge, "2147483648 x 1"},
		{"png heavy pixels", pngWith(t, 5999, 6000, 16, 6, 1), ClassTooLarge, "needs about"},
		{"png no width", pngWith(t, 0, 9, 8, 0, 0), ClassBadDimensions, "0 x 9"},
		{"png odd depth", pngWith(t, 9, 9, 3, 0, 0), ClassDamaged, "colour type 0 with 3 bits"},
		{"png promises more", pngWith(t, 23, 40, 8, 0, 0), ClassDamaged, "picture data"},
		{"jpeg cut", goodJPEG[:len(goodJPEG)/2+200], ClassTruncated, "before its end mark"},
		{"jpeg without end mark", goodJPEG[:len(goodJPEG)-2], ClassTruncated, "before its end mark"},
		{"jpeg cut in its tables", goodJPEG[:60], ClassTruncated, "before its picture data"},
		{"jpeg cut, end mark glued on", append(bytes.Clone(goodJPEG[:len(goodJPEG)-40]), 0xff, 0xd9), ClassDamaged, "picture data"},
		{"jpeg bomb", jpegSize(t, 65535, 65535), ClassTooLarge, "65535 x 65535 = 4294836225 pixels"},
		{"jpeg no height", jpegSize(t, 10, 0), ClassBadDimensions, "10 x 0"},
		{"jpeg 12 bits", jpegWith(t, func(f []byte) { f[4] = 12 }), ClassUnsupported, "12-bit JPEG"},
		{"jpeg lossless", jpegWith(t, func(f []byte) { f[1] = 0xc3 }), ClassUnsupported, "lossless JPEG"},
		{"jpeg arithmetic", jpegWith(t, func(f []byte) { f[1] = 0xc9 }), ClassUnsupported, "arithmetic-coded JPEG"},
		{"jpeg frame length", jpegWith(t, func(f []byte) { f[9] = 3 }), ClassDamaged, "frame header of 9 bytes"},
		{"jpeg two pictures' scans", manyScans(t), ClassTooLarge, "more than 64 scans"},
		{"jpeg inks of unknown polarity", noAdobe, ClassUnsupported, "Adobe marker"},
		{"jpeg no picture", []byte("\xff\xd8\xff\xd9"), ClassDamaged, "before any picture data"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			img, err := Decode(c.data, Limits{})
			var bad *DecodeError
			if !errors.As(err, &bad) {
				t.Fatalf("got picture %v, error %v, want a DecodeError", img != nil, err)
			}
			if bad.Class != c.class || !strings.Contains(bad.Detail, c.detail) {
				t.Errorf("got %s: %q, want %s: %q", bad.Class, bad.Detail, c.class, c.detail)
			}
		})
	}
}

func TestByteLimit(t *testing.T) {
	_, err := Decode(readGolden(t, "grey.jpg"), Limits{MaxBytes: 100})
	var bad *DecodeError
	if !errors.As(err, &bad) || bad.Class != ClassTooLarge {
		t.Errorf("got %v, want too_large", err)
	}
}

// A header that promises gigabytes must cost a header's worth of memory.
func TestBombsCostNothing(t *testing.T) {
	for name, data := range map[string][]byte{
		"png": pngWith(t, 60000, 60000, 16, 6, 0), "jpeg": jpegSize(t, 65500, 65500),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Decode(data, Limits{}); err == nil {
			t.Errorf("%s: decoded", name)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<10 {
			t.Errorf("%s: refusing took %d bytes, want at most 64 KiB", name, used)
		}
	}
}

// No prefix of a good file may pass for the file, nor for anything but a cut file.
func TestEveryPrefixIsTruncated(t *testing.T) {
	for _, name := range []string{"grey8.png", "grey8_interlaced.png", "grey.jpg", "grey_progressive.jpg", "cmyk.jpg", "exif6.jpg"} {
		data := readGolden(t, name)
		for n := 1; n < len(data); n++ {
			_, err := Decode(data[:n], Limits{})
			var bad *DecodeError
			if !errors.As(err, &bad) || bad.Class != ClassTruncated {
				t.Fatalf("%s: first %d of %d bytes: got %v, want truncated", name, n, len(data), err)
			}
		}
	}
}

func TestClassText(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Classes() {
		if !c.Valid() || c.String() == "" || seen[c.String()] {
			t.Errorf("class %d: text %q is empty or repeated", c, c)
		}
		seen[c.String()] = true
	}
	if Class(0).Valid() || Class(0).String() != "invalid" || Class(len(Classes())+1).Valid() {
		t.Error("the zero class and the one past the last must be invalid")
	}
}
