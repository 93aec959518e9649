package cxr

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

// FuzzDecode: any bytes give a picture or a DecodeError, twice the same, within limits.
func FuzzDecode(f *testing.F) {
	for name := range goldens(f) {
		f.Add(readGolden(f, name))
	}
	f.Add(pngWith(f, 60000, 60000, 8, 6, 0))
	f.Add(jpegSize(f, 65500, 65500))
	limits := Limits{MaxBytes: 1 << 20, MaxPixels: 1 << 18, MaxMemory: 8 << 20}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Decode(data, limits)
		if err != nil {
			var bad *DecodeError
			if !errors.As(err, &bad) || !bad.Class.Valid() {
				t.Fatalf("error without a class: %v", err)
			}
			return
		}
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		if m.Width*m.Height > 1<<18 {
			t.Fatalf("%d x %d pixels, above the limit", m.Width, m.Height)
		}
		if _, err := ReadHeader(bytes.NewReader(data)); err != nil {
			t.Fatalf("decoded, but its header cannot be read: %v", err)
		}
		again, err := Decode(data, limits)
		if err != nil || !bytes.Equal(again.Pix, m.Pix) || !slices.Equal(again.Rules, m.Rules) {
			t.Fatal("a second decode differs")
		}
	})
}
