package onnx_test

import (
	"testing"

	"cxrepro/internal/onnx"
	"cxrepro/internal/onnx/onnxtest"
)

// FuzzReadModel: any bytes give a description or an error, never a panic.
func FuzzReadModel(f *testing.F) {
	f.Add(onnxtest.Ellipses([]onnxtest.Ellipse{{CX: 2, CY: 1, A: 1, B: 2}}, onnxtest.Options{Size: 4, Channels: 1}))
	f.Add(onnxtest.Ellipses([]onnxtest.Ellipse{{CX: 2, CY: 1, A: 1, B: 2}}, onnxtest.Options{Size: 4, Channels: 3, Masks: true, Batch: true}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := onnx.ReadModel(data)
		if (m == nil) == (err == nil) {
			t.Fatalf("model %v with error %v", m, err)
		}
		if err == nil {
			_ = m.Check(onnx.Tensor{}, onnx.Tensor{})
		}
	})
}
