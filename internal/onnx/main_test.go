package onnx_test

import (
	"testing"

	"cxrepro/internal/onnx/onnxtest"
)

// library is the real ONNX Runtime, found or fetched once for all tests.
var library string

func TestMain(m *testing.M) { onnxtest.Main(m, &library) }
