package onnxtest

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"cxrepro/internal/onnx"
)

// Node is one operator of a graph, in topological order.
type Node struct {
	Op      string
	Inputs  []string
	Outputs []string
	Ints    map[string][]int64 // attributes that are lists, such as "pads"
}

// Weight is a stored float32 tensor.
type Weight struct {
	Name  string
	Shape []int64
	Data  []float32
}

// Graph is what a model file holds.
type Graph struct {
	Inputs, Outputs []onnx.Tensor
	Nodes           []Node
	Weights         []Weight
	// Opset of the default domain; 0 means 17.
	Opset int64
}

// IR version 8 is the format of opset 17.
const irVersion, opset = 8, 17

// Write returns the model file.
func Write(g Graph) []byte {
	if g.Opset == 0 {
		g.Opset = opset
	}
	var graph []byte
	for _, n := range g.Nodes {
		graph = bytesField(graph, 1, node(n))
	}
	graph = stringField(graph, 2, "graph")
	for _, w := range g.Weights {
		graph = bytesField(graph, 5, weight(w))
	}
	for _, t := range g.Inputs {
		graph = bytesField(graph, 11, valueInfo(t))
	}
	for _, t := range g.Outputs {
		graph = bytesField(graph, 12, valueInfo(t))
	}
	var m []byte
	m = intField(m, 1, irVersion)
	m = stringField(m, 2, "onnxtest")
	m = bytesField(m, 7, graph)
	return bytesField(m, 8, intField(stringField(nil, 1, ""), 2, uint64(g.Opset)))
}

func node(n Node) []byte {
	var b []byte
	for _, s := range n.Inputs {
		b = stringField(b, 1, s)
	}
	for _, s := range n.Outputs {
		b = stringField(b, 2, s)
	}
	b = stringField(b, 4, n.Op)
	for _, name := range sorted(n.Ints) {
		a := stringField(nil, 1, name)
		if len(n.Ints[name]) == 1 && name != "kernel_shape" && name != "axes" {
			a = intField(a, 3, uint64(n.Ints[name][0]))
			a = intField(a, 20, 2) // INT
		} else {
			for _, v := range n.Ints[name] {
				a = intField(a, 8, uint64(v))
			}
			a = intField(a, 20, 7) // INTS
		}
		b = bytesField(b, 5, a)
	}
	return b
}

func sorted(m map[string][]int64) []string {
	var names []string
	for n := range m {
		i := 0
		for i < len(names) && names[i] < n {
			i++
		}
		names = append(names[:i], append([]string{n}, names[i:]...)...)
	}
	return names
}

func weight(w Weight) []byte {
	var b []byte
	for _, d := range w.Shape {
		b = intField(b, 1, uint64(d))
	}
	b = intField(b, 2, 1) // FLOAT
	b = stringField(b, 8, w.Name)
	raw := make([]byte, 0, 4*len(w.Data))
	for _, v := range w.Data {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return bytesField(b, 9, raw)
}

var elements = map[onnx.Element]uint64{onnx.Float32: 1, onnx.Uint8: 2, onnx.Bool: 9}

func valueInfo(t onnx.Tensor) []byte {
	var shape []byte
	for _, d := range t.Shape {
		if d < 1 {
			shape = bytesField(shape, 1, stringField(nil, 2, "batch"))
		} else {
			shape = bytesField(shape, 1, intField(nil, 1, uint64(d)))
		}
	}
	tensor := intField(nil, 1, elements[t.Element])
	tensor = bytesField(tensor, 2, shape)
	return bytesField(stringField(nil, 1, t.Name), 2, bytesField(nil, 1, tensor))
}

func intField(b []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

func bytesField(b []byte, num protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
}

func stringField(b []byte, num protowire.Number, s string) []byte {
	return bytesField(b, num, []byte(s))
}
