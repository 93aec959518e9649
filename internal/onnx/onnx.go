package onnx

import (
	"fmt"
	"slices"
)

// APIVersion is the interface version that the binding asks of the library; runtime 1.N
// offers the versions up to N.
const APIVersion = 24

// Provider is what computes an inference.
type Provider uint8

// The providers.
const (
	CPU Provider = iota + 1
	CUDA
)

var providerNames = [...]string{CPU: "cpu", CUDA: "cuda"}

// runtimeNames are the names that ONNX Runtime writes into profiles.
var runtimeNames = [...]string{CPU: "CPUExecutionProvider", CUDA: "CUDAExecutionProvider"}

// Providers lists every valid provider.
func Providers() []Provider { return []Provider{CPU, CUDA} }

// Valid reports whether p is one of the providers.
func (p Provider) Valid() bool { return p >= CPU && int(p) < len(providerNames) }

// String returns the stable text form, as specs and keys hold it.
func (p Provider) String() string {
	if !p.Valid() {
		return "invalid"
	}
	return providerNames[p]
}

// ParseProvider reads the text form.
func ParseProvider(s string) (Provider, error) {
	if i := slices.Index(providerNames[:], s); i >= int(CPU) {
		return Provider(i), nil
	}
	return 0, fmt.Errorf("provider %q is unknown; hint: use cpu or cuda", s)
}

// Element is the type of a tensor's elements; the zero value is one this package does
// not serve.
type Element uint8

// The element types.
const (
	Float32 Element = iota + 1
	Uint8
	Bool
)

// String returns ONNX's name of the type.
func (e Element) String() string {
	switch e {
	case Float32:
		return "float32"
	case Uint8:
		return "uint8"
	case Bool:
		return "bool"
	default:
		return "another type"
	}
}

// Tensor names an input or output. In a model's own description a dimension below 1 is
// one that the model leaves open; a session's tensors have none.
type Tensor struct {
	Name    string
	Element Element
	Shape   []int64
}

// Len returns the number of elements, 0 if a dimension is open.
func (t Tensor) Len() int {
	n := int64(1)
	for _, d := range t.Shape {
		n *= max(d, 0)
	}
	return int(n)
}

// String returns, for example, "logits float32[1,159,512,512]"; open dimensions read "?".
func (t Tensor) String() string {
	s := t.Name + " " + t.Element.String() + "["
	for i, d := range t.Shape {
		if i > 0 {
			s += ","
		}
		if d < 1 {
			s += "?"
		} else {
			s += fmt.Sprint(d)
		}
	}
	return s + "]"
}

// Config says what a session runs and how. Every field but Device and Threads is
// required.
type Config struct {
	Library  string // path of the ONNX Runtime library
	Model    []byte // the model file's bytes; not needed after Open
	Provider Provider
	Device   int // CUDA device number
	// Threads works on one inference; 0 means Quota's answer for one session.
	Threads int
	Input   Tensor
	Output  Tensor
}

// Runtime describes what really computes, for provenance.
type Runtime struct {
	Version  string `json:"version"` // of the library
	Provider string `json:"provider"`
	Threads  int    `json:"threads"`
}
