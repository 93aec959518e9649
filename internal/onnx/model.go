package onnx

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Model is what a model file says about itself.
type Model struct {
	IRVersion int64
	Opset     int64 // of the default operator domain
	Producer  string
	Inputs    []Tensor // without those that are only names of stored weights
	Outputs   []Tensor
}

// Field numbers of the ONNX format (onnx.proto): ModelProto, GraphProto, ValueInfoProto,
// TypeProto and TensorShapeProto.
const (
	modelIR, modelProducer, modelGraph, modelOpset       = 1, 2, 7, 8
	opsetDomain, opsetVersion                            = 1, 2
	graphInitializer, graphInput, graphOutput            = 5, 11, 12
	initializerName                                      = 8
	valueName, valueType                                 = 1, 2
	typeTensor, tensorElement, tensorShape               = 1, 1, 2
	shapeDim, dimValue                                   = 1, 1
	elementFloat, elementUint8, elementBool        int64 = 1, 2, 9
)

// ReadModel reads a model file's description without running or copying it: weights are
// skipped.
//
// Errors: *ModelError for bytes that are not an ONNX model.
func ReadModel(data []byte) (*Model, error) {
	var m Model
	var graph []byte
	err := each(data, func(num protowire.Number, v value) error {
		switch num {
		case modelIR:
			m.IRVersion = int64(v.n)
		case modelProducer:
			m.Producer = string(v.b)
		case modelGraph:
			graph = v.b
		case modelOpset:
			domain, version := "", int64(0)
			err := each(v.b, func(num protowire.Number, v value) error {
				switch num {
				case opsetDomain:
					domain = string(v.b)
				case opsetVersion:
					version = int64(v.n)
				}
				return nil
			})
			if domain == "" || domain == "ai.onnx" {
				m.Opset = version
			}
			return err
		}
		return nil
	})
	if err == nil && graph == nil {
		err = fmt.Errorf("it holds no graph")
	}
	if err == nil {
		err = m.readGraph(graph)
	}
	if err != nil {
		return nil, &ModelError{Why: "is not an ONNX file", Err: err}
	}
	return &m, nil
}

func (m *Model) readGraph(graph []byte) error {
	weights := map[string]bool{}
	var inputs []Tensor
	err := each(graph, func(num protowire.Number, v value) error {
		switch num {
		case graphInitializer:
			return each(v.b, func(num protowire.Number, v value) error {
				if num == initializerName {
					weights[string(v.b)] = true
				}
				return nil
			})
		case graphInput, graphOutput:
			t, err := readTensor(v.b)
			if err != nil {
				return err
			}
			if num == graphInput {
				inputs = append(inputs, t)
			} else {
				m.Outputs = append(m.Outputs, t)
			}
		}
		return nil
	})
	for _, t := range inputs {
		if !weights[t.Name] {
			m.Inputs = append(m.Inputs, t)
		}
	}
	return err
}

// readTensor reads a ValueInfoProto; what is not a tensor keeps a zero element type.
func readTensor(data []byte) (Tensor, error) {
	var t Tensor
	err := each(data, func(num protowire.Number, v value) error {
		switch num {
		case valueName:
			t.Name = string(v.b)
		case valueType:
			return each(v.b, func(num protowire.Number, v value) error {
				if num == typeTensor {
					return t.readType(v.b)
				}
				return nil
			})
		}
		return nil
	})
	return t, err
}

func (t *Tensor) readType(data []byte) error {
	return each(data, func(num protowire.Number, v value) error {
		switch num {
		case tensorElement:
			t.Element = elementOf(int64(v.n))
		case tensorShape:
			return each(v.b, func(num protowire.Number, v value) error {
				if num == shapeDim {
					t.Shape = append(t.Shape, readDim(v.b))
				}
				return nil
			})
		}
		return nil
	})
}

// readDim returns a dimension's number; one that has only a name is open, -1.
func readDim(data []byte) int64 {
	d := int64(-1)
	err := each(data, func(num protowire.Number, v value) error {
		if num == dimValue {
			d = int64(v.n)
		}
		return nil
	})
	if err != nil {
		return -1
	}
	return d
}

func elementOf(n int64) Element {
	switch n {
	case elementFloat:
		return Float32
	case elementUint8:
		return Uint8
	case elementBool:
		return Bool
	default:
		return 0
	}
}

// value is one field's content: a number or bytes.
type value struct {
	n uint64
	b []byte
}

// each calls f for every field of one message; bytes share the message's storage.
func each(data []byte, f func(protowire.Number, value) error) error {
	for len(data) > 0 {
		num, typ, n := protowire.ConsumeTag(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		data = data[n:]
		var v value
		switch typ {
		case protowire.VarintType:
			v.n, n = protowire.ConsumeVarint(data)
		case protowire.BytesType:
			v.b, n = protowire.ConsumeBytes(data)
		default:
			n = protowire.ConsumeFieldValue(num, typ, data)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err := f(num, v); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// Check tells whether the model has the session's input and output: same names, types
// and dimensions, where a dimension that the model leaves open takes any number.
//
// Errors: *TensorError, *ModelError.
func (m *Model) Check(input, output Tensor) error {
	if len(m.Inputs) != 1 {
		return &TensorError{Role: "input", Want: input, Got: m.Inputs}
	}
	if !fits(m.Inputs[0], input) {
		return &TensorError{Role: "input", Want: input, Got: m.Inputs}
	}
	for _, o := range m.Outputs {
		if fits(o, output) {
			return nil
		}
	}
	return &TensorError{Role: "output", Want: output, Got: m.Outputs}
}

func fits(have, want Tensor) bool {
	if have.Name != want.Name || have.Element != want.Element || len(have.Shape) != len(want.Shape) {
		return false
	}
	for i, d := range have.Shape {
		if d >= 1 && d != want.Shape[i] {
			return false
		}
	}
	return true
}
