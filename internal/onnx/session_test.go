//go:build cgo

package onnx_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/onnx"
	"cxrepro/internal/onnx/onnxtest"
)

var two = []onnxtest.Ellipse{{CX: 5, CY: 6, A: 3, B: 4}, {CX: 10, CY: 8, A: 5, B: 2}}

const size = 16

func config(model []byte) onnx.Config {
	return onnx.Config{
		Library: library, Model: model, Provider: onnx.CPU, Threads: 1,
		Input:  onnx.Tensor{Name: "image", Element: onnx.Float32, Shape: []int64{1, 3, size, size}},
		Output: onnx.Tensor{Name: "logits", Element: onnx.Float32, Shape: []int64{1, 2, size, size}},
	}
}

func TestRun(t *testing.T) {
	s, err := onnx.Open(config(onnxtest.Ellipses(two, onnxtest.Options{Size: size, Channels: 3, Gain: 1, Batch: true})))
	require.NoError(t, err)
	defer s.Close()
	require.Equal(t, "cpu", s.Runtime().Provider)
	require.Equal(t, 1, s.Runtime().Threads)
	require.Regexp(t, `^1\.\d+\.\d+`, s.Runtime().Version)
	for _, bright := range []float32{0, 0.5} {
		in := s.Input()
		for i := range in {
			in[i] = bright
		}
		require.NoError(t, s.Run(context.Background()))
		out := s.Floats()
		for c, e := range two {
			for y := range size {
				for x := range size {
					// The model's own arithmetic is float32; the ellipse terms are exact inputs.
					require.InDelta(t, e.Logit(x, y)+bright, out[(c*size+y)*size+x], 1e-5)
				}
			}
		}
	}
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "a second close does nothing")
	require.ErrorIs(t, s.Run(context.Background()), onnx.ErrClosed)
}

func TestMasksOutput(t *testing.T) {
	cfg := config(onnxtest.Ellipses(two, onnxtest.Options{Size: size, Channels: 3, Masks: true}))
	cfg.Output.Name, cfg.Output.Element = "masks", onnx.Uint8
	s, err := onnx.Open(cfg)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Run(context.Background()))
	for c, e := range two {
		for y := range size {
			for x := range size {
				require.Equal(t, e.Logit(x, y) > 0, s.Bytes()[(c*size+y)*size+x] != 0)
			}
		}
	}
}

func TestModelsThatDiffer(t *testing.T) {
	good := onnxtest.Ellipses(two, onnxtest.Options{Size: size, Channels: 3})
	var te *onnx.TensorError
	var me *onnx.ModelError
	tests := []struct {
		name   string
		change func(*onnx.Config)
		target any
		says   string
	}{
		{"wrong channel count", func(c *onnx.Config) { c.Output.Shape = []int64{1, 159, size, size} }, &te, "logits float32[1,159,16,16], the model has logits float32[1,2,16,16]"},
		{"wrong input size", func(c *onnx.Config) { c.Input.Shape = []int64{1, 3, 512, 512} }, &te, "input should be"},
		{"grey for a colour model", func(c *onnx.Config) { c.Input.Shape = []int64{1, 1, size, size} }, &te, "input should be"},
		{"wrong output name", func(c *onnx.Config) { c.Output.Name = "masks" }, &te, "output should be"},
		{"wrong output type", func(c *onnx.Config) { c.Output.Element = onnx.Uint8 }, &te, "output should be"},
		{"not a model", func(c *onnx.Config) { c.Model = []byte("<html>not found</html>") }, &me, "not an ONNX file"},
		{"empty", func(c *onnx.Config) { c.Model = nil }, &me, "holds no graph"},
		{"cut off", func(c *onnx.Config) { c.Model = c.Model[:len(c.Model)/2] }, &me, "not an ONNX file"},
		{"unknown operator", func(c *onnx.Config) {
			c.Model = onnxtest.Write(onnxtest.Graph{Inputs: []onnx.Tensor{c.Input}, Outputs: []onnx.Tensor{c.Output},
				Nodes: []onnxtest.Node{{Op: "Frobnicate", Inputs: []string{"image"}, Outputs: []string{"logits"}}}})
		}, &me, "Frobnicate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := config(good)
			tt.change(&cfg)
			_, err := onnx.Open(cfg)
			require.ErrorAs(t, err, tt.target)
			require.ErrorContains(t, err, tt.says)
			require.True(t, onnx.Permanent(err))
		})
	}
}

// CUDA asked of a library without it: refused, with the way out; never a silent CPU.
func TestCUDARefused(t *testing.T) {
	cfg := config(onnxtest.Ellipses(two, onnxtest.Options{Size: size, Channels: 3}))
	cfg.Provider = onnx.CUDA
	_, err := onnx.Open(cfg)
	var p *onnx.ProviderError
	require.ErrorAs(t, err, &p)
	require.Equal(t, onnx.CUDA, p.Asked)
	require.ErrorContains(t, err, "hint: point CXREPRO_ONNXRUNTIME at a CUDA build")
	require.True(t, onnx.Permanent(err))
}

func TestLibraries(t *testing.T) {
	cfg := config(onnxtest.Ellipses(two, onnxtest.Options{Size: size, Channels: 3}))
	s, err := onnx.Open(cfg)
	require.NoError(t, err)
	defer s.Close()
	require.Error(t, onnx.Shutdown(), "a library in use is not unloaded")

	var l *onnx.LibraryError
	cfg.Library = ""
	_, err = onnx.Open(cfg)
	require.ErrorAs(t, err, &l)
	cfg.Library = filepath.Join(t.TempDir(), "libonnxruntime.so")
	_, err = onnx.Open(cfg)
	require.ErrorAs(t, err, &l, "a second library in one process")
	require.ErrorContains(t, err, "another library is in use")

	_, err = onnx.CheckLibrary(cfg.Library)
	require.ErrorAs(t, err, &l)
	require.ErrorContains(t, err, "cannot be loaded")

	old := build(t, `static const char *v(void){return "1.20.1";} static const void *a(unsigned n){return 0;}
static struct{const void*(*a)(unsigned);const char*(*v)(void);} base={a,v}; void *OrtGetApiBase(void){return &base;}`)
	_, err = onnx.CheckLibrary(old)
	require.ErrorAs(t, err, &l)
	require.Equal(t, "1.20.1", l.Version)
	require.ErrorContains(t, err, "too old: version 1.24 or later")
	require.True(t, onnx.Permanent(err))

	_, err = onnx.CheckLibrary(build(t, "int frobnicate(void){return 0;}"))
	require.ErrorContains(t, err, "has no OrtGetApiBase")

	version, err := onnx.CheckLibrary(library)
	require.NoError(t, err)
	require.Equal(t, s.Runtime().Version, version)
}

// build compiles a shared library; the package's own cgo needs the compiler anyway.
func build(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	c, lib := filepath.Join(dir, "x.c"), filepath.Join(dir, "libx.so")
	require.NoError(t, os.WriteFile(c, []byte(source), 0o644))
	out, err := exec.Command("cc", "-shared", "-fPIC", "-o", lib, c).CombinedOutput()
	require.NoError(t, err, string(out))
	return lib
}

// A stopped inference returns the context's error, and the session serves again.
func TestCancel(t *testing.T) {
	const big = 512
	cfg := config(onnxtest.Ellipses(two, onnxtest.Options{Size: big, Channels: 3, Gain: 1, Work: 24}))
	cfg.Input.Shape = []int64{1, 3, big, big}
	cfg.Output.Shape = []int64{1, 2, big, big}
	s, err := onnx.Open(cfg)
	require.NoError(t, err)
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Run(ctx), context.DeadlineExceeded)
	require.ErrorIs(t, s.Run(ctx), context.DeadlineExceeded)
	require.NoError(t, s.Run(context.Background()))
	require.InDelta(t, two[0].Logit(5, 6), s.Floats()[6*big+5], 1e-5)
}

// The probe reads the real runtime's profile: on this library all nodes run on the CPU,
// which serves who asked for the CPU and nobody else.
func TestProbe(t *testing.T) {
	cfg := config(onnxtest.Ellipses(two, onnxtest.Options{Size: size, Channels: 3, Gain: 1}))
	nodes, err := onnx.Probe(cfg, onnx.CPU)
	require.NoError(t, err)
	require.Positive(t, nodes["CPUExecutionProvider"])
	require.Len(t, nodes, 1)
	_, err = onnx.Probe(cfg, onnx.CUDA)
	var p *onnx.ProviderError
	require.ErrorAs(t, err, &p)
	require.Equal(t, nodes, p.Placed)
}
