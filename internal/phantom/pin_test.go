package phantom

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// The bytes of the frozen appearance: a network was trained on them. They change only
// together with AppearanceVersion.
func TestPinnedSamples(t *testing.T) {
	for _, c := range []struct {
		seed        uint64
		index       int
		pix, planes string
	}{
		{1, 0, "81b57592b5c32690", "82d7b08e30f8e4bc"},
		{1, 1, "7d23e4feae725bd7", "8bf671da2946bbbd"},
		{42, 1003, "a9299af892324830", "bb93b985e3f9b779"},
	} {
		s, err := TrainingSample(c.seed, c.index)
		if err != nil {
			t.Fatal(err)
		}
		if got := short(s.Pix); got != c.pix {
			t.Errorf("pixels of %d/%d: %s, want %s", c.seed, c.index, got, c.pix)
		}
		if got := short(s.Masks); got != c.planes {
			t.Errorf("masks of %d/%d: %s, want %s", c.seed, c.index, got, c.planes)
		}
	}
}

func short(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:8])
}
