package picture

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/cxr"
)

// source is the formula of testdata/make_goldens.py.
func source(w, h, c, seed int) plane {
	p := plane{w: w, h: h, c: c, pix: make([]uint8, w*h*c)}
	for y := range h {
		for x := range w {
			for k := range c {
				v := (x*(7+k) + y*(3+2*k) + (x*y)/5 + seed*31) % 256
				if (x/9+y/6+k)%4 == 0 {
					v = 255 - v
				}
				if (x+y)%17 == 0 {
					v = 255 * ((x + k) % 2)
				}
				p.pix[(y*w+x)*c+k] = uint8(v)
			}
		}
	}
	return p
}

type goldens struct {
	Pillow string
	Small  []struct {
		W, H, C, OW, OH int
		Pix             string
	}
	Large []struct {
		W, H, C, OW, OH int
		SHA256          string
	}
	Files []struct {
		Name      string
		C, OW, OH int
		Pix       string
	}
}

func load(t testing.TB) goldens {
	t.Helper()
	data, err := os.ReadFile("testdata/want.json")
	if err != nil {
		t.Fatal(err)
	}
	var g goldens
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Small) < 7 || len(g.Large) < 5 || len(g.Files) < 4 {
		t.Fatal("goldens are missing")
	}
	return g
}

func pixels(t testing.TB, text string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestResizeEqualsPillow: every sample, for shrinking, enlarging and single axes.
func TestResizeEqualsPillow(t *testing.T) {
	g := load(t)
	for _, s := range g.Small {
		got := source(s.W, s.H, s.C, 1).resize(s.OW, s.OH)
		if !bytes.Equal(got.pix, pixels(t, s.Pix)) {
			t.Errorf("%dx%dx%d to %dx%d differs from Pillow %s", s.W, s.H, s.C, s.OW, s.OH, g.Pillow)
		}
	}
	for _, s := range g.Large {
		w, h := reduced(s.W, s.H)
		if w != s.OW || h != s.OH {
			t.Errorf("%dx%d reduces to %dx%d, want %dx%d", s.W, s.H, w, h, s.OW, s.OH)
			continue
		}
		sum := sha256.Sum256(source(s.W, s.H, s.C, 2).resize(w, h).pix)
		if got := hex.EncodeToString(sum[:]); got != s.SHA256 {
			t.Errorf("%dx%dx%d differs from Pillow %s", s.W, s.H, s.C, g.Pillow)
		}
	}
}

// decoded reads what Prepare made.
func decoded(t testing.TB, data []byte) plane {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if g, ok := m.(*image.Gray); ok {
		return plane{w: g.Rect.Dx(), h: g.Rect.Dy(), c: 1, pix: g.Pix}
	}
	b := m.Bounds()
	p := plane{w: b.Dx(), h: b.Dy(), c: 3}
	for y := range p.h {
		for x := range p.w {
			r, g, bl, _ := m.At(x, y).RGBA()
			p.pix = append(p.pix, uint8(r>>8), uint8(g>>8), uint8(bl>>8))
		}
	}
	return p
}

// TestPrepareFiles: whole files against Pillow, PNG exactly; two JPEG decoders differ by a
// level in the last bit of their transforms, which the kernel can widen by one more.
func TestPrepareFiles(t *testing.T) {
	for _, f := range load(t).Files {
		data, err := os.ReadFile("testdata/" + f.Name)
		if err != nil {
			t.Fatal(err)
		}
		out, mediaType, err := Prepare(CXRBOriginal, data, "")
		if err != nil {
			t.Fatal(err)
		}
		want, got := pixels(t, f.Pix), decoded(t, out)
		if got.w != f.OW || got.h != f.OH || got.c != f.C || len(got.pix) != len(want) {
			t.Errorf("%s: %dx%dx%d, want %dx%dx%d", f.Name, got.w, got.h, got.c, f.OW, f.OH, f.C)
			continue
		}
		tolerance, declared := 0, "image/png"
		if f.Name == "grey.jpg" || f.Name == "turned.jpg" {
			tolerance, declared = 2, "image/jpeg"
		}
		worst := 0
		for i := range want {
			worst = max(worst, int(want[i])-int(got.pix[i]), int(got.pix[i])-int(want[i]))
		}
		if worst > tolerance {
			t.Errorf("%s differs by %d levels, want at most %d", f.Name, worst, tolerance)
		}
		if mediaType != declared {
			t.Errorf("%s is declared as %s, want %s", f.Name, mediaType, declared)
		}
	}
}

// TestPrepareRules: what each rule does with the same source.
func TestPrepareRules(t *testing.T) {
	big, err := os.ReadFile("testdata/turned.jpg")
	if err != nil {
		t.Fatal(err)
	}
	small := encodeJPEG(t, source(64, 48, 1, 0))
	for _, c := range []struct {
		name      string
		rule      Rule
		data      []byte
		same      bool
		mediaType string
		w, h      int
	}{
		{"stored bytes", Original, big, true, "image/jpeg", 0, 0},
		{"reduced and turned upright", Long1024, big, false, "image/png", 11, 1024},
		{"reduced, not turned, called by its source's type", CXRBOriginal, big, false, "image/jpeg", 1024, 11},
		{"small stays", Long1024, small, true, "image/jpeg", 0, 0},
		{"small stays", CXRBOriginal, small, true, "image/jpeg", 0, 0},
	} {
		out, mediaType, err := Prepare(c.rule, c.data, "image/jpeg")
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(out, c.data) != c.same || mediaType != c.mediaType {
			t.Errorf("%s %s: same bytes %t, type %s", c.rule, c.name, !c.same, mediaType)
		}
		if !c.same {
			if p := decoded(t, out); p.w != c.w || p.h != c.h {
				t.Errorf("%s %s: %dx%d, want %dx%d", c.rule, c.name, p.w, p.h, c.w, c.h)
			}
		}
		again, _, _ := Prepare(c.rule, c.data, "image/jpeg")
		if !bytes.Equal(out, again) {
			t.Errorf("%s: two runs differ", c.rule)
		}
	}
	if _, m, _ := Prepare(Long1024, small, "image/png"); m != "image/jpeg" {
		t.Errorf("a wrong label survives long1024: %s", m)
	}
}

// TestPrepareTurns: the turned picture is the upright one, reduced.
func TestPrepareTurns(t *testing.T) {
	for n := 2; n <= 8; n++ {
		p := source(6, 4, 3, n)
		back := p.orient(n).orient(inverse(n))
		if back.w != p.w || !bytes.Equal(back.pix, p.pix) {
			t.Errorf("orientation %d is not undone", n)
		}
	}
}

func encodeJPEG(t testing.TB, p plane) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, &image.Gray{Pix: p.pix, Stride: p.w, Rect: image.Rect(0, 0, p.w, p.h)}, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPreparePinned pins the bytes: their digests stand in keys. When this fails because the
// coder of the standard library changed, the rules' version goes up.
func TestPreparePinned(t *testing.T) {
	data, err := os.ReadFile("testdata/colour.png")
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := Prepare(Long1024, data, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := artifacts.Sum(out).String(); got != "sha256:f1aa39434b5048b759b5f1f297c1e2c67cfbbf6538bf702dc3085c28459e9f11" {
		t.Errorf("long1024/1 makes %s", got)
	}
	if Long1024.Version() != "long1024/1" || CXRBOriginal.Version() != "cxrb_original/1" || Original.Version() != "original/1" {
		t.Error("a version moved")
	}
}

// TestPrepareRefuses: what is no picture has a class, also under the rule that looks at nothing.
func TestPrepareRefuses(t *testing.T) {
	for _, r := range Rules() {
		for _, data := range [][]byte{nil, []byte("GIF89a"), []byte("\x89PNG\r\n\x1a\nbroken")} {
			var bad *cxr.DecodeError
			if _, _, err := Prepare(r, data, "image/png"); !errors.As(err, &bad) {
				t.Errorf("%s of %q: %v", r, data, err)
			}
		}
	}
	if _, _, err := Prepare(0, nil, ""); err == nil {
		t.Error("the zero rule prepares")
	}
}

func BenchmarkPrepare(b *testing.B) {
	data := encodeJPEG(b, source(2544, 3056, 1, 2))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Prepare(Long1024, data, ""); err != nil {
			b.Fatal(err)
		}
	}
}
