package cxr

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// goldenFile is one entry of testdata/pillow/want.json. Tolerance is the largest allowed
// difference in grey levels: 0 for PNG, where every rule is exact; JPEG decoders differ in
// the last bit of the inverse transform and in how they enlarge chroma.
type goldenFile struct {
	Width, Height int
	Rules         []string
	Tolerance     int
	Pix           string
}

func goldens(t testing.TB) map[string]goldenFile {
	t.Helper()
	raw, err := os.ReadFile("testdata/pillow/want.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Files map[string]goldenFile }
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Files) < 40 {
		t.Fatalf("%d goldens, want at least 40", len(doc.Files))
	}
	return doc.Files
}

func readGolden(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "pillow", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDecodeEqualsPillow(t *testing.T) {
	for name, want := range goldens(t) {
		t.Run(name, func(t *testing.T) {
			got, err := Decode(readGolden(t, name), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Width != want.Width || got.Height != want.Height {
				t.Fatalf("size %d x %d, want %d x %d", got.Width, got.Height, want.Width, want.Height)
			}
			if !slices.Equal(got.Rules, want.Rules) {
				t.Errorf("rules %v, want %v", got.Rules, want.Rules)
			}
			pix, err := base64.StdEncoding.DecodeString(want.Pix)
			if err != nil {
				t.Fatal(err)
			}
			worst, differing := 0, 0
			for i, p := range pix {
				d := int(p) - int(got.Pix[i])
				worst = max(worst, d, -d)
				if d != 0 {
					differing++
				}
			}
			if worst > want.Tolerance {
				t.Errorf("largest difference %d (at %d of %d samples), want at most %d", worst, differing, len(pix), want.Tolerance)
			}
			t.Logf("largest difference %d, %d of %d samples differ", worst, differing, len(pix))
		})
	}
}
