package segment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"cxrepro/artifacts"
	"cxrepro/internal/anatomy"
)

func TestCardGood(t *testing.T) {
	model := []byte("any bytes: a card is read without its model")
	file := writeCard(t, cardText(model, 512)+"notes: |\n  two\n  lines\nmeasured:\n  data: none\n  cases: 2\n  rows:\n    - {structure: heart, dice_mean: 0.9, dice_min: 0.8}\n", model)
	c, err := LoadCard(file)
	require.NoError(t, err)
	require.Equal(t, anatomy.AllSet(), c.Structures())
	require.Equal(t, ResizeNearest, c.Input.Resize)
	require.Equal(t, 0.9, c.Measured.Rows[0].DiceMean)
	require.NoError(t, c.Verify())
	require.Equal(t, artifacts.Sum(model), c.Digest())

	data, err := os.ReadFile(file)
	require.NoError(t, err)
	c, err = LoadCardFS(fstest.MapFS{"models/card.yaml": {Data: data}, "models/model.onnx": {Data: model}}, "models/card.yaml")
	require.NoError(t, err)
	require.NoError(t, c.Verify())
}

func TestCardBad(t *testing.T) {
	good := cardText([]byte("m"), 512)
	tests := []struct{ name, old, with, says string }{
		{"unknown field", "name: ellipses", "name: ellipses\nnmae: x", "nmae"},
		{"twice", "version: \"1\"", "version: \"1\"\nversion: \"2\"", "version"},
		{"format", "model-card-1", "model-card-9", "format"},
		{"name", "name: ellipses", "name: Ellipses 1", "name"},
		{"digest", "sha256: ", "sha256: zz", "sha256"},
		{"placeholder", "sha256: ", "sha256: \"" + strings.Repeat("0", 64) + "\" # ", "placeholder"},
		{"no licence", "{name: MIT, notice: \"made for tests\"}", "{notice: none}", "licence.name"},
		{"no source", "source: written by the test", "source: \"\"", "source"},
		{"size", "width: 512\n  height: 512\n  channels", "width: 0\n  height: 512\n  channels", "input.width"},
		{"size too large", "width: 512\n  height: 512\n  channels", "width: 99999\n  height: 512\n  channels", "input.width"},
		{"channels", "channels: 3\n", "channels: 2\n", "input.channels"},
		{"layout", "layout: NCHW\n  divisor", "layout: NHWC\n  divisor", "input.layout"},
		{"divisor", "divisor: 255", "divisor: 0", "input.divisor"},
		{"mean", "[0.485, 0.456, 0.406]", "[0.5]", "input.mean"},
		{"std", "[0.229, 0.224, 0.225]", "[0.2, 0, 0.2]", "input.std[1]"},
		{"resize", "resize: nearest", "resize: lanczos", "lanczos"},
		{"kind", "kind: logits", "kind: probabilities", "output.kind"},
		{"threshold", "threshold: 0", "threshold: 0.1", "output.threshold"},
		{"threshold of the wrong type", "threshold: 0", "threshold: half", "threshold"},
		{"misspelt structure", "- right lung\n", "- lung right\n", `"lung right" is no structure`},
		{"structure twice", "- right lung\n", "- left lung\n", "stands at"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Contains(t, good, tt.old)
			_, err := LoadCard(writeCard(t, strings.Replace(good, tt.old, tt.with, 1), []byte("m")))
			var ce *CardError
			require.ErrorAs(t, err, &ce)
			require.ErrorContains(t, err, tt.says)
			require.True(t, Permanent(err))
		})
	}
	_, err := LoadCard(filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// All violations are told at once.
func TestCardTellsAll(t *testing.T) {
	text := strings.NewReplacer("divisor: 255", "divisor: -1", "name: ellipses", "name: \"\"", "kind: logits", "kind: x").Replace(cardText([]byte("m"), 512))
	_, err := LoadCard(writeCard(t, text, []byte("m")))
	for _, want := range []string{"name:", "input.divisor:", "output.kind:"} {
		require.ErrorContains(t, err, want)
	}
}

func TestWrongModelFile(t *testing.T) {
	file := writeCard(t, cardText([]byte("the right model"), 512), []byte("another model"))
	c, err := LoadCard(file)
	require.NoError(t, err)
	var de *DigestError
	require.ErrorAs(t, c.Verify(), &de)
	require.True(t, Permanent(de))
	_, err = New(c, Options{Provider: "cpu", Library: library})
	require.ErrorAs(t, err, &de)
	require.Equal(t, artifacts.Sum([]byte("another model")), de.Got)

	require.NoError(t, os.Remove(filepath.Join(filepath.Dir(file), "model.onnx")))
	require.ErrorContains(t, c.Verify(), "hint: put the model file model.onnx beside the card")
}

// Every field that can change a mask changes the identity; words for people do not.
func TestIdentity(t *testing.T) {
	good := cardText([]byte("m"), 512)
	id := func(text, provider string) Identity {
		c, err := LoadCard(writeCard(t, text, []byte("m")))
		require.NoError(t, err)
		i, err := c.Identity(provider)
		require.NoError(t, err)
		return i
	}
	base := id(good, "cpu")
	require.Equal(t, "segment-1/nearest", base.Preprocessing)
	require.Len(t, base.Params(), 4)
	seen := map[Identity]string{base: "base"}
	for _, c := range []struct{ name, old, with string }{
		{"model", "sha256: ", "sha256: 00"},
		{"resize", "resize: nearest", "resize: area"},
		{"divisor", "divisor: 255", "divisor: 256"},
		{"mean", "0.485", "0.486"},
		{"std", "0.229", "0.228"},
		{"threshold", "threshold: 0", "threshold: 0.5"},
		{"channel", "- right lung\n", "- \"-\"\n"},
		{"grid", "width: 512\n  height: 512\nchannels", "width: 256\n  height: 512\nchannels"},
		{"output", "name: logits", "name: other"},
	} {
		text := strings.Replace(good, c.old, c.with, 1)
		if c.name == "model" {
			text = strings.Replace(good, "sha256: ", "sha256: \""+strings.Repeat("1", 64)+"\" #", 1)
		}
		i := id(text, "cpu")
		require.Empty(t, seen[i], "%s", c.name)
		seen[i] = c.name
	}
	require.NotEqual(t, base, id(good, "cuda"))
	require.Equal(t, base, id(strings.NewReplacer("name: ellipses", "name: other-name", "written by the test", "elsewhere", "made for tests", "x").Replace(good), "cpu"))
	c, err := LoadCard(writeCard(t, good, []byte("m")))
	require.NoError(t, err)
	_, err = c.Identity("gpu")
	require.ErrorContains(t, err, "cpu or cuda")
}
