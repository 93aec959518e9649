package onnx_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"cxrepro/internal/onnx"
	"cxrepro/internal/resolve"
)

// library is the real ONNX Runtime, found or fetched once for all tests.
var library string

func TestMain(m *testing.M) {
	l, err := resolve.ONNXRuntime(context.Background(), resolve.Options{Progress: func(line string) { fmt.Fprintln(os.Stderr, line) }})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	library = l.Path
	code := m.Run()
	if err := onnx.Shutdown(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
