package onnxtest

import (
	"context"
	"fmt"
	"os"

	"cxrepro/internal/onnx"
	"cxrepro/internal/resolve"
)

// Main is a TestMain: it finds or fetches the real ONNX Runtime once for all tests, puts its
// path into library, runs the tests and closes the runtime. It ends the process; without a
// library, and when the runtime does not close, with status 1.
func Main(m interface{ Run() int }, library *string) {
	l, err := resolve.ONNXRuntime(context.Background(), resolve.Options{Progress: func(line string) { fmt.Fprintln(os.Stderr, line) }})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	*library = l.Path
	code := m.Run()
	if err := onnx.Shutdown(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
