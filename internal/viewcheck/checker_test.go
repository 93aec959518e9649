package viewcheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/artifacts"
	"cxrepro/internal/cxr"
	"cxrepro/internal/onnx"
	"cxrepro/internal/onnx/onnxtest"
)

// library is the real ONNX Runtime, found or fetched once for all tests.
var library string

func TestMain(m *testing.M) { onnxtest.Main(m, &library) }

// meanModel is a model whose heads follow the mean of the prepared picture: output =
// mean * weights + bias.
func meanModel(weights, bias [Outputs]float32) []byte {
	w := make([]float32, 3*Outputs)
	copy(w, weights[:]) // the first channel alone
	return onnxtest.Write(onnxtest.Graph{
		Inputs:  []onnx.Tensor{{Name: "image", Element: onnx.Float32, Shape: []int64{1, Side, Side, 3}}},
		Outputs: []onnx.Tensor{{Name: "heads", Element: onnx.Float32, Shape: []int64{1, Outputs}}},
		Nodes: []onnxtest.Node{
			{Op: "ReduceMean", Inputs: []string{"image"}, Outputs: []string{"mean"}, Ints: map[string][]int64{"axes": {1, 2}}},
			{Op: "Flatten", Inputs: []string{"mean"}, Outputs: []string{"flat"}},
			{Op: "MatMul", Inputs: []string{"flat", "w"}, Outputs: []string{"product"}},
			{Op: "Add", Inputs: []string{"product", "b"}, Outputs: []string{"heads"}},
		},
		Weights: []onnxtest.Weight{{Name: "w", Shape: []int64{3, Outputs}, Data: w}, {Name: "b", Shape: []int64{Outputs}, Data: bias[:]}},
	})
}

func cardText(model []byte) string {
	return `format: cxrepro-view-card-1
name: mean
version: "1"
file: model.onnx
sha256: ` + strings.TrimPrefix(artifacts.Sum(model).String(), "sha256:") + `
licence: {name: MIT}
source: written by the test
input: image
output: heads
`
}

func write(t *testing.T, text string, model []byte) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "card.yaml"), []byte(text), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "model.onnx"), model, 0o644))
	return filepath.Join(dir, "card.yaml")
}

// halves is a picture whose left part is black and whose right part is white.
func halves(w, h, black int) *cxr.Image {
	m := cxr.NewImage(w, h)
	for y := range h {
		row := m.Row(y)
		for x := black; x < w; x++ {
			row[x] = 255
		}
	}
	return m
}

// TestCheck runs a real session: the reading is what the model makes of the prepared
// picture, whose mean is known.
func TestCheck(t *testing.T) {
	weights := [Outputs]float32{1, -1, 0, 0, 0.5, -0.5, 0, 0, 0, 1}
	bias := [Outputs]float32{0, 1, 0, 0, 0.5, 0.5, 0, 0, 0.25, 0}
	model := meanModel(weights, bias)
	card, err := LoadCard(write(t, cardText(model), model))
	require.NoError(t, err)
	c, err := New(card, Options{Provider: "cpu", Library: library, Threads: 1})
	require.NoError(t, err)
	defer c.Close()
	m := halves(256, 256, 100)
	s, err := Prepare(GreyOf(m))
	require.NoError(t, err)
	mean := 0.0
	for _, v := range s.Input() {
		mean += float64(v) / Side / Side
	}
	require.Greater(t, mean, 0.1)
	require.Less(t, mean, 0.9)
	r, err := c.Check(t.Context(), m)
	require.NoError(t, err)
	require.InDelta(t, mean, r.Type[0], 1e-5)
	require.InDelta(t, 1-mean, r.Type[1], 1e-5)
	require.InDelta(t, 0.5+mean/2, r.Turn[0], 1e-5)
	require.InDelta(t, 0.25, r.Inverted, 1e-6)
	require.InDelta(t, mean, r.Mirrored, 1e-5)
	again, err := c.Check(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, r, again)
	require.Equal(t, card.Digest().String(), c.Identity()["model"])

	_, err = c.Check(t.Context(), &cxr.Image{Width: 4, Height: 4})
	require.Error(t, err)
	require.NoError(t, c.Close())
	_, err = c.Check(t.Context(), m)
	require.ErrorIs(t, err, onnx.ErrClosed)
}

// TestRefusals holds models and cards that cannot serve.
func TestRefusals(t *testing.T) {
	good := meanModel([Outputs]float32{}, [Outputs]float32{1, 0, 0, 0, 1})
	for _, r := range []struct {
		name  string
		model []byte
		edit  func(string) string
		says  string
	}{
		{"no distribution", meanModel([Outputs]float32{}, [Outputs]float32{0.5, 0, 0, 0, 1}), nil, "sum to 0.5"},
		{"no probability", meanModel([Outputs]float32{}, [Outputs]float32{1, 0, 0, 0, 1, 0, 0, 0, 1.5}), nil, "no probability"},
		{"no digest", good, func(s string) string { return strings.Replace(s, "sha256: ", "sha256: x", 1) }, "64 hex digits"},
		{"another output", good, func(s string) string { return strings.Replace(s, "output: heads", "output: logits", 1) }, "logits"},
		{"another format", good, func(s string) string { return strings.Replace(s, "view-card-1", "view-card-2", 1) }, "this program reads"},
		{"a field too many", good, func(s string) string { return s + "speed: 3\n" }, "speed"},
		{"a field too few", good, func(s string) string { return strings.Replace(s, "source: written by the test\n", "", 1) }, "source"},
		{"figures that do not add up", good, func(s string) string {
			return s + "measured: {data: x, cases: 3, heads: [{name: type, right: 1, confusion: [[3,0,0,0],[0,0,0,0],[0,0,0,0],[0,0,0,0]]}]}\n"
		}, "1 heads"},
	} {
		text := cardText(r.model)
		if r.edit != nil {
			text = r.edit(text)
		}
		card, err := LoadCard(write(t, text, r.model))
		if err == nil {
			_, err = New(card, Options{Provider: "cpu", Library: library})
		}
		require.ErrorContains(t, err, r.says, r.name)
		require.True(t, Permanent(err), r.name)
	}
	file := write(t, cardText(good), good)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "model.onnx"), append(good, 0), 0o644))
	card, err := LoadCard(file)
	require.NoError(t, err)
	_, err = card.Model()
	require.ErrorContains(t, err, "the card says")
	require.NoError(t, os.Remove(filepath.Join(filepath.Dir(file), "model.onnx")))
	_, err = card.Model()
	require.ErrorContains(t, err, "beside the card")
	_, err = card.Identity("tpu")
	require.Error(t, err)
	_, err = LoadCard(filepath.Join(t.TempDir(), "none.yaml"))
	require.True(t, Permanent(err))
}

// TestTally holds confusion matrices, and that a card takes exactly what a tally gives.
func TestTally(t *testing.T) {
	n := NewTally()
	n.Add([4]int{0, 1, 0, 1}, [4]int{0, 1, 0, 0})
	n.Add([4]int{2, 0, 1, 0}, [4]int{3, 0, 1, 0})
	f := n.Figures("two")
	require.Equal(t, 2, f.Cases)
	require.Equal(t, []float64{0.5, 1, 1, 0.5}, []float64{f.Heads[0].Right, f.Heads[1].Right, f.Heads[2].Right, f.Heads[3].Right})
	require.Equal(t, 1, f.Heads[0].Confusion[2][3])
	require.NoError(t, f.validate())
	f.Heads[1].Right = 0.9
	require.ErrorContains(t, f.validate(), "the matrix says 1.0000")
	f = n.Figures("two")
	f.Cases = 3
	require.ErrorContains(t, f.validate(), "holds 2 cases")
	f.Heads[2].Confusion = [][]int{{1}}
	require.Error(t, f.validate())
}

func TestDecided(t *testing.T) {
	r := Reading{Type: [4]float64{0.2, 0.4, 0.4}, Turn: [4]float64{0, 0, 1}, Inverted: 0.5, Mirrored: 0.51}
	require.Equal(t, [4]int{1, 2, 0, 1}, r.Decided())
}
