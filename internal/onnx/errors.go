package onnx

import (
	"errors"
	"fmt"
	"sort"
	"strings"
)

// ErrClosed reports the use of a closed session.
var ErrClosed = errors.New("onnx: session is closed")

// LibraryError reports a library that cannot serve. Permanent.
type LibraryError struct {
	Path    string
	Version string // empty if it could not be asked
	Why     string
}

func (e *LibraryError) Error() string {
	s := "ONNX Runtime library " + e.Path
	if e.Version != "" {
		s += " (version " + e.Version + ")"
	}
	return s + ": " + e.Why
}

// ProviderError reports that the provider asked for does not compute. Permanent: the
// package never falls back to another provider.
type ProviderError struct {
	Asked Provider
	Why   string
	// Placed counts nodes by the provider that ran them, where a probe got that far.
	Placed map[string]int
}

func (e *ProviderError) Error() string {
	s := fmt.Sprintf("provider %s was asked for but cannot be used: %s", e.Asked, e.Why)
	if len(e.Placed) > 0 {
		names := make([]string, 0, len(e.Placed))
		for n := range e.Placed {
			names = append(names, n)
		}
		sort.Strings(names)
		for i, n := range names {
			names[i] = fmt.Sprintf("%s %d", n, e.Placed[n])
		}
		s += " (nodes: " + strings.Join(names, ", ") + ")"
	}
	if e.Asked == CUDA {
		s += "; hint: point CXREPRO_ONNXRUNTIME at a CUDA build of ONNX Runtime 1.24 or later whose CUDA and cuDNN libraries can be loaded, or ask for provider cpu (its results have other keys)"
	}
	return s
}

// ModelError reports a model file that is not what the session was told. Permanent.
type ModelError struct {
	Why string
	Err error
}

func (e *ModelError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("model: %s: %v", e.Why, e.Err)
	}
	return "model: " + e.Why
}

func (e *ModelError) Unwrap() error { return e.Err }

// TensorError reports an input or output whose name, type or shape differs from what
// was asked. Permanent.
type TensorError struct {
	Role string // "input" or "output"
	Want Tensor
	Got  []Tensor // what the model has in that role
}

func (e *TensorError) Error() string {
	got := make([]string, len(e.Got))
	for i, t := range e.Got {
		got[i] = t.String()
	}
	return fmt.Sprintf("model: %s should be %s, the model has %s", e.Role, e.Want, strings.Join(got, ", "))
}

// Permanent reports whether err is one that asking again cannot mend.
func Permanent(err error) bool {
	var l *LibraryError
	var p *ProviderError
	var m *ModelError
	var t *TensorError
	return errors.As(err, &l) || errors.As(err, &p) || errors.As(err, &m) || errors.As(err, &t)
}
