package segment

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/onnx/onnxtest"
)

// library is the real ONNX Runtime, found or fetched once for all tests.
var library string

func TestMain(m *testing.M) { onnxtest.Main(m, &library) }

// body gives every structure an ellipse: lungs, heart and trachea where they belong,
// the others in a regular pattern.
func body(size int) []onnxtest.Ellipse {
	f := float64(size)
	out := make([]onnxtest.Ellipse, anatomy.Count)
	for i, s := range anatomy.All() {
		e := onnxtest.Ellipse{CX: f * (0.15 + 0.7*float64(i%13)/12), CY: f * (0.1 + 0.8*float64(i%17)/16), A: f * 0.05, B: f * 0.08}
		switch s {
		case anatomy.RightLung:
			e = onnxtest.Ellipse{CX: 0.3 * f, CY: 0.45 * f, A: 0.16 * f, B: 0.3 * f}
		case anatomy.LeftLung:
			e = onnxtest.Ellipse{CX: 0.7 * f, CY: 0.45 * f, A: 0.15 * f, B: 0.29 * f}
		case anatomy.Heart:
			e = onnxtest.Ellipse{CX: 0.55 * f, CY: 0.6 * f, A: 0.17 * f, B: 0.13 * f}
		}
		out[i] = e
	}
	return out
}

// cardText is a card of 159 channels; replace lines to make bad ones.
func cardText(model []byte, size int) string {
	sum := sha256.Sum256(model)
	var names strings.Builder
	for _, s := range anatomy.All() {
		fmt.Fprintf(&names, "  - %s\n", s.Name())
	}
	return fmt.Sprintf(`format: cxrepro-model-card-1
name: ellipses
version: "1"
file: model.onnx
sha256: %s
licence: {name: MIT, notice: "made for tests"}
source: written by the test
input:
  name: image
  width: %d
  height: %d
  channels: 3
  layout: NCHW
  divisor: 255
  mean: [0.485, 0.456, 0.406]
  std: [0.229, 0.224, 0.225]
  resize: nearest
output:
  name: logits
  kind: logits
  threshold: 0
  layout: NCHW
  width: %d
  height: %d
channels:
%s`, hex.EncodeToString(sum[:]), size, size, size, size, names.String())
}

// writeCard puts a card and its model into a folder and returns the card's path.
func writeCard(t testing.TB, text string, model []byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string][]byte{"card.yaml": []byte(text), "model.onnx": model} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "card.yaml")
}

// loadBody returns the card of a 159-channel test model.
func loadBody(t testing.TB, size int, o onnxtest.Options) *Card {
	t.Helper()
	o.Size, o.Channels = size, 3
	model := onnxtest.Ellipses(body(size), o)
	text := cardText(model, size)
	if o.Masks {
		text = strings.Replace(text, "name: logits\n  kind: logits", "name: masks\n  kind: masks", 1)
	}
	card, err := LoadCard(writeCard(t, text, model))
	if err != nil {
		t.Fatal(err)
	}
	return card
}

// picture is the synthetic picture of golden_torch.py.
func picture(w, h int) *cxr.Image {
	m := cxr.NewImage(w, h)
	for y := range h {
		for x := range w {
			m.Pix[y*w+x] = uint8((x*7 + y*13 + (x*y)%251) % 256)
		}
	}
	return m
}

// floatsDigest is the digest of float32 values as little-endian bytes.
func floatsDigest(v []float32) string {
	h := sha256.New()
	var b [4]byte
	for _, f := range v {
		u := math.Float32bits(f)
		b = [4]byte{byte(u), byte(u >> 8), byte(u >> 16), byte(u >> 24)}
		h.Write(b[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}
