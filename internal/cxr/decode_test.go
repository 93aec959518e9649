package cxr

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// pinnedPixels is the digest over the pixels and rules of all golden files. If a new Go
// release or a change here moves it, results computed before are no longer comparable:
// bump DecoderVersion, then this constant.
const pinnedPixels = "v1 fe855b7c61e735b3773b79e3ed916ccf250316b8ae00609cc07333cc00bd2500"

func TestPinnedPixels(t *testing.T) {
	files := goldens(t)
	names := make([]string, 0, len(files))
	for n := range files {
		names = append(names, n)
	}
	slices.Sort(names)
	sum := sha256.New()
	for _, n := range names {
		m, err := Decode(readGolden(t, n), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(sum, "%s %d %d %q\n", n, m.Width, m.Height, m.Rules)
		sum.Write(m.Pix)
	}
	if got := fmt.Sprintf("v%d %x", DecoderVersion, sum.Sum(nil)); got != pinnedPixels {
		t.Errorf("decoded pixels are %s, pinned %s: bump DecoderVersion", got, pinnedPixels)
	}
}

func TestReadHeader(t *testing.T) {
	for name, want := range goldens(t) {
		data := readGolden(t, name)
		h, err := ReadHeader(iotest.OneByteReader(bytes.NewReader(data)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if h.Width != want.Width || h.Height != want.Height {
			t.Errorf("%s: header says %d x %d, want %d x %d", name, h.Width, h.Height, want.Width, want.Height)
		}
		if (h.Format == FormatPNG) != strings.HasSuffix(name, ".png") {
			t.Errorf("%s: format %s", name, h.Format)
		}
	}
}

// The header of a native-size file is read from its first bytes only.
func TestReadHeaderStopsEarly(t *testing.T) {
	m := NewImage(600, 500)
	for i := range m.Pix {
		m.Pix[i] = uint8(i * 7919 >> 3)
	}
	data, err := EncodeJPEG(m, 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) < 100_000 {
		t.Fatalf("picture of %d bytes is too small for this test", len(data))
	}
	r := &countingReader{r: bytes.NewReader(data)}
	h, err := ReadHeader(r)
	if err != nil || h.Width != 600 || h.Height != 500 || h.Model != ModelGrey {
		t.Fatalf("got %+v, %v", h, err)
	}
	if r.n > 64<<10 {
		t.Errorf("read %d bytes for a header", r.n)
	}
	boom := errors.New("disk gone")
	if _, err := ReadHeader(iotest.ErrReader(boom)); !errors.Is(err, boom) {
		t.Errorf("reader's own error: got %v, want it unchanged", err)
	}
}

type countingReader struct {
	r io.Reader
	n int
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// EXIF orientations checked on a picture small enough to write down.
func TestOrient(t *testing.T) {
	// abc
	// def
	src := &Image{Width: 3, Height: 2, Pix: []uint8("abcdef")}
	want := map[int]string{
		1: "abc def", 2: "cba fed", 3: "fed cba", 4: "def abc",
		5: "ad be cf", 6: "da eb fc", 7: "fc eb da", 8: "cf be ad",
	}
	for n := 1; n <= 8; n++ {
		m := orient(src, n)
		var rows []string
		for y := range m.Height {
			rows = append(rows, string(m.Row(y)))
		}
		if got := strings.Join(rows, " "); got != want[n] {
			t.Errorf("orientation %d: got %q, want %q", n, got, want[n])
		}
	}
}

// Decoding holds no more than the header's estimate, for every pixel type the standard
// encoders can write.
func TestDecodeMemoryEstimate(t *testing.T) {
	const w, h = 500, 400
	r := image.Rect(0, 0, w, h)
	paint := func(set func(x, y int, c color.Color)) {
		for y := range h {
			for x := range w {
				set(x, y, color.NRGBA64{uint16(x * 71), uint16(y * 91), uint16(x * y), uint16(65535 - x%3)})
			}
		}
	}
	grey, grey16, rgba, deep := image.NewGray(r), image.NewGray16(r), image.NewNRGBA(r), image.NewNRGBA64(r)
	pal := image.NewPaletted(r, color.Palette{color.Black, color.White})
	for _, m := range []interface{ Set(x, y int, c color.Color) }{grey, grey16, rgba, deep, pal} {
		paint(m.Set)
	}
	files := map[string][]byte{}
	for name, m := range map[string]image.Image{"grey": grey, "grey16": grey16, "rgba": rgba, "rgba16": deep, "palette": pal} {
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		files[name+".png"] = b.Bytes()
	}
	for name, m := range map[string]image.Image{"grey": grey, "colour": rgba} {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, m, nil); err != nil {
			t.Fatal(err)
		}
		files[name+".jpg"] = b.Bytes()
	}
	for name, data := range files {
		hd, err := ReadHeader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Decode(data, Limits{}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if used := int64(after.TotalAlloc - before.TotalAlloc); used > hd.DecodeMemory()+256<<10 {
			t.Errorf("%s: allocated %d bytes, estimate %d", name, used, hd.DecodeMemory())
		}
	}
}

func TestEncodeRoundTrip(t *testing.T) {
	m := NewImage(37, 21)
	for i := range m.Pix {
		m.Pix[i] = uint8(i * 31)
	}
	data, err := EncodePNG(m)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(data, Limits{})
	if err != nil || !bytes.Equal(back.Pix, m.Pix) || !slices.Equal(back.Rules, []string{RuleGrey8}) {
		t.Errorf("PNG round trip changed the picture: %v", err)
	}
	if _, err := EncodePNG(&Image{Width: 2, Height: 2, Pix: make([]uint8, 3)}); err == nil {
		t.Error("a picture with a sample missing was encoded")
	}
	if _, err := EncodeJPEG(m, 101); err == nil {
		t.Error("quality 101 was accepted")
	}
}

func TestParseView(t *testing.T) {
	cases := []struct {
		in   string
		want ViewPosition
		ok   bool
	}{
		{"PA", ViewPA, true}, {" ap ", ViewAP, true}, {"LATERAL", ViewLateral, true}, {"LL", ViewLateral, true},
		{"AP AXIAL", ViewOther, true}, {"PA LLD", ViewOther, true}, {"", 0, false}, {"PAX", 0, false},
	}
	for _, c := range cases {
		if got, ok := ParseView(c.in); got != c.want || ok != c.ok {
			t.Errorf("ParseView(%q) = %v, %v, want %v, %v", c.in, got, ok, c.want, c.ok)
		}
	}
	for _, v := range Views() {
		b, err := v.MarshalText()
		var back ViewPosition
		if err != nil || back.UnmarshalText(b) != nil || back != v {
			t.Errorf("%v does not survive its text form", v)
		}
	}
	if _, err := ViewPosition(0).MarshalText(); err == nil {
		t.Error("the unset view position has a text form")
	}
}
