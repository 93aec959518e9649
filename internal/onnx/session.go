//go:build cgo

package onnx

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	ort "github.com/yalue/onnxruntime_go"
)

// Session is one copy of a model with its buffers. One goroutine at a time.
type Session struct {
	cfg     Config
	runtime Runtime
	session *ort.AdvancedSession
	run     *ort.RunOptions
	input   *ort.Tensor[float32]
	output  ort.Value
	floats  []float32
	bytes   []uint8
	closed  bool
}

// Open loads the model and checks it: the library's version, the model's input and
// output, and, on any provider but the CPU, where a probe inference really ran.
//
// Errors: those of Permanent, or the runtime's own.
func Open(cfg Config) (*Session, error) {
	if !cfg.Provider.Valid() {
		return nil, fmt.Errorf("onnx: session needs a provider")
	}
	if cfg.Input.Element != Float32 || cfg.Input.Len() < 1 || cfg.Output.Element == 0 || cfg.Output.Len() < 1 {
		return nil, fmt.Errorf("onnx: session needs a float32 input and an output, both of fixed shape; got %s and %s", cfg.Input, cfg.Output)
	}
	model, err := ReadModel(cfg.Model)
	if err != nil {
		return nil, err
	}
	if err := model.Check(cfg.Input, cfg.Output); err != nil {
		return nil, err
	}
	if cfg.Threads < 1 {
		cfg.Threads = ThreadsFor(1)
	}
	version, err := acquire(cfg.Library)
	if err != nil {
		return nil, err
	}
	s := &Session{cfg: cfg, runtime: Runtime{Version: version, Provider: cfg.Provider.String(), Threads: cfg.Threads}}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.cfg.Model = nil
	return s, nil
}

// open makes the probe where one is due, then the session proper.
func (s *Session) open() error {
	if s.cfg.Provider != CPU {
		placed, err := s.probe()
		if err != nil {
			return err
		}
		if err := placed.check(s.cfg.Provider); err != nil {
			return err
		}
	}
	return s.start("")
}

// start makes buffers and session; a non-empty profile path turns profiling on.
func (s *Session) start(profile string) (err error) {
	if s.input, err = ort.NewEmptyTensor[float32](s.cfg.Input.Shape); err != nil {
		return fmt.Errorf("onnx: input buffer: %w", err)
	}
	switch s.cfg.Output.Element {
	case Float32:
		t, err := ort.NewEmptyTensor[float32](s.cfg.Output.Shape)
		if err != nil {
			return fmt.Errorf("onnx: output buffer: %w", err)
		}
		s.output, s.floats = t, t.GetData()
	case Uint8:
		t, err := ort.NewEmptyTensor[uint8](s.cfg.Output.Shape)
		if err != nil {
			return fmt.Errorf("onnx: output buffer: %w", err)
		}
		s.output, s.bytes = t, t.GetData()
	default: // Bool: one byte an element, but a type of its own to the library
		s.bytes = make([]uint8, s.cfg.Output.Len())
		t, err := ort.NewCustomDataTensor(s.cfg.Output.Shape, s.bytes, ort.TensorElementDataTypeBool)
		if err != nil {
			return fmt.Errorf("onnx: output buffer: %w", err)
		}
		s.output = t
	}
	options, err := s.options(profile)
	if err != nil {
		return err
	}
	defer options.Destroy()
	if s.run, err = ort.NewRunOptions(); err != nil {
		return fmt.Errorf("onnx: run options: %w", err)
	}
	s.session, err = ort.NewAdvancedSessionWithONNXData(s.cfg.Model, []string{s.cfg.Input.Name}, []string{s.cfg.Output.Name},
		[]ort.Value{s.input}, []ort.Value{s.output}, options)
	if err != nil {
		if s.cfg.Provider != CPU {
			return &ProviderError{Asked: s.cfg.Provider, Why: err.Error()}
		}
		return &ModelError{Why: "cannot be loaded", Err: err}
	}
	return nil
}

// options sets every choice that the runtime would otherwise make by looking at the
// machine.
func (s *Session) options(profile string) (*ort.SessionOptions, error) {
	o, err := ort.NewSessionOptions()
	if err != nil {
		return nil, fmt.Errorf("onnx: session options: %w", err)
	}
	steps := []func() error{
		func() error { return o.SetIntraOpNumThreads(s.cfg.Threads) },
		func() error { return o.SetInterOpNumThreads(1) },
		func() error { return o.SetExecutionMode(ort.ExecutionModeSequential) },
		func() error { return o.SetGraphOptimizationLevel(ort.GraphOptimizationLevelEnableAll) },
		func() error { return o.AddSessionConfigEntry("session.intra_op.allow_spinning", "0") },
		func() error { return o.AddSessionConfigEntry("session.inter_op.allow_spinning", "0") },
		// With fixed shapes the arena takes its blocks in the first run and uses them for
		// ever; without it every run would fault its pages in anew (175 ms a picture for
		// 159 channels of 512 x 512). The memory pattern would then ask for one further
		// block of the whole plan's size: a third more memory, no time gained.
		func() error { return o.SetCpuMemArena(true) },
		func() error { return o.SetMemPattern(false) },
		func() error {
			if s.cfg.Provider == CUDA {
				return s.appendCUDA(o)
			}
			return nil
		},
		func() error {
			if profile != "" {
				return o.EnableProfiling(profile)
			}
			return nil
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			o.Destroy()
			var p *ProviderError
			if errors.As(err, &p) {
				return nil, err
			}
			return nil, fmt.Errorf("onnx: session options: %w", err)
		}
	}
	return o, nil
}

// appendCUDA asks for CUDA with choices that do not depend on timing or on the card's
// habits: no TF32, no timed search among algorithms.
func (s *Session) appendCUDA(o *ort.SessionOptions) error {
	c, err := ort.NewCUDAProviderOptions()
	if err != nil {
		return &ProviderError{Asked: CUDA, Why: err.Error()}
	}
	defer c.Destroy()
	err = c.Update(map[string]string{
		"device_id":              strconv.Itoa(s.cfg.Device),
		"arena_extend_strategy":  "kSameAsRequested",
		"cudnn_conv_algo_search": "HEURISTIC",
		"use_tf32":               "0",
	})
	if err == nil {
		err = o.AppendExecutionProviderCUDA(c)
	}
	if err != nil {
		return &ProviderError{Asked: CUDA, Why: err.Error()}
	}
	return nil
}

// Input returns the input buffer, which the caller fills before Run; nil after Close.
func (s *Session) Input() []float32 {
	if s.closed {
		return nil
	}
	return s.input.GetData()
}

// Floats returns the output buffer of a float32 output, else nil. Valid until the next
// Run.
func (s *Session) Floats() []float32 { return s.floats }

// Bytes returns the output buffer of a uint8 or bool output, else nil. Valid until the
// next Run.
func (s *Session) Bytes() []uint8 { return s.bytes }

// Runtime describes what computes.
func (s *Session) Runtime() Runtime { return s.runtime }

// Run computes the output from the input. When ctx ends, the inference is stopped at the
// next node and ctx's error is returned; the output is then undefined.
func (s *Session) Run(ctx context.Context) error {
	if s.closed {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		_ = s.run.Terminate() // the run then ends by itself, with an error
	})
	err := s.session.RunWithOptions(s.run)
	if !stop() {
		<-ended
		if e := s.run.UnsetTerminate(); e != nil {
			return fmt.Errorf("onnx: reset a stopped run: %w", e)
		}
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("onnx: inference: %w", err)
	}
	return nil
}

// Close frees the session. A second Close does nothing.
func (s *Session) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.free()
	release()
	return err
}

// free gives back what start made.
func (s *Session) free() error {
	var errs []error
	if s.session != nil {
		errs = append(errs, s.session.Destroy())
	}
	if s.run != nil {
		errs = append(errs, s.run.Destroy())
	}
	if s.input != nil {
		errs = append(errs, s.input.Destroy())
	}
	if s.output != nil {
		errs = append(errs, s.output.Destroy())
	}
	s.session, s.run, s.input, s.output, s.floats, s.bytes = nil, nil, nil, nil, nil, nil
	return errors.Join(errs...)
}
