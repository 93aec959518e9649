package onnxtest

import (
	"cxrepro/internal/onnx"
)

// Ellipse is one class of Ellipses, in pixels of the grid.
type Ellipse struct{ CX, CY, A, B float64 }

// Logit is the class's output at pixel (x, y) for an input of zeros; positive inside.
func (e Ellipse) Logit(x, y int) float32 {
	return e.col(x) + e.row(y)
}

func (e Ellipse) col(x int) float32 {
	d := (float64(x) - e.CX) / e.A
	return float32(1 - d*d)
}

func (e Ellipse) row(y int) float32 {
	d := (float64(y) - e.CY) / e.B
	return float32(-(d * d))
}

// Options of Ellipses.
type Options struct {
	Size     int // width and height
	Channels int // of the input
	// Gain is added per unit of the input's channel mean to every class: the brighter
	// the picture there, the larger the ellipses.
	Gain float32
	// Masks ends the graph in "greater than zero" as uint8 under the name "masks".
	Masks bool
	// Batch leaves the first dimension open, as exported models do.
	Batch bool
	// Work is the number of 3x3 convolutions over Width channels (default 8) that the
	// picture passes first, for a model that takes its time; they change nothing but the
	// values that Gain scales.
	Work, Width int
}

// Ellipses returns a model with the input "image" and the output "logits" (or "masks"):
// a 1x1 convolution of the picture to one channel per class plus each class's ellipse.
func Ellipses(classes []Ellipse, o Options) []byte {
	n, size := len(classes), int64(o.Size)
	cols := make([]float32, 0, n*o.Size)
	rows := make([]float32, 0, n*o.Size)
	for _, e := range classes {
		for i := range o.Size {
			cols = append(cols, e.col(i))
			rows = append(rows, e.row(i))
		}
	}
	g := Graph{Weights: []Weight{
		{Name: "cols", Shape: []int64{1, int64(n), 1, size}, Data: cols},
		{Name: "rows", Shape: []int64{1, int64(n), size, 1}, Data: rows},
	}}
	from, depth := "image", o.Channels
	for i := range o.Work {
		name, width := "work"+string(rune('a'+i)), o.Width
		if width == 0 {
			width = 8
		}
		g.Weights = append(g.Weights, Weight{Name: name + "_w", Shape: []int64{int64(width), int64(depth), 3, 3}, Data: fill(width*depth*9, 1/float32(depth*9))})
		g.Nodes = append(g.Nodes, Node{Op: "Conv", Inputs: []string{from, name + "_w"}, Outputs: []string{name},
			Ints: map[string][]int64{"kernel_shape": {3, 3}, "pads": {1, 1, 1, 1}}})
		from, depth = name, width
	}
	g.Weights = append(g.Weights, Weight{Name: "head_w", Shape: []int64{int64(n), int64(depth), 1, 1}, Data: fill(n*depth, o.Gain/float32(depth))})
	g.Nodes = append(g.Nodes,
		Node{Op: "Conv", Inputs: []string{from, "head_w"}, Outputs: []string{"head"}, Ints: map[string][]int64{"kernel_shape": {1, 1}}},
		Node{Op: "Add", Inputs: []string{"cols", "rows"}, Outputs: []string{"shape"}},
		Node{Op: "Add", Inputs: []string{"head", "shape"}, Outputs: []string{"logits"}})
	batch := int64(1)
	if o.Batch {
		batch = -1
	}
	out := onnx.Tensor{Name: "logits", Element: onnx.Float32, Shape: []int64{batch, int64(n), size, size}}
	if o.Masks {
		out.Name, out.Element = "masks", onnx.Uint8
		g.Weights = append(g.Weights, Weight{Name: "zero", Shape: []int64{1}, Data: []float32{0}})
		g.Nodes = append(g.Nodes,
			Node{Op: "Greater", Inputs: []string{"logits", "zero"}, Outputs: []string{"positive"}},
			Node{Op: "Cast", Inputs: []string{"positive"}, Outputs: []string{"masks"}, Ints: map[string][]int64{"to": {2}}})
	}
	g.Inputs = []onnx.Tensor{{Name: "image", Element: onnx.Float32, Shape: []int64{batch, int64(o.Channels), size, size}}}
	g.Outputs = []onnx.Tensor{out}
	return Write(g)
}

func fill(n int, v float32) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = v
	}
	return s
}
