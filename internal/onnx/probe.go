//go:build cgo

package onnx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// probe runs one inference of zeros with profiling on and returns where its nodes ran.
// The runtime writes the profile when the profiled session ends.
func (s *Session) probe() (p placement, err error) {
	dir, err := os.MkdirTemp("", "cxrepro-probe-")
	if err != nil {
		return p, fmt.Errorf("onnx: probe: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	t := &Session{cfg: s.cfg}
	err = t.start(filepath.Join(dir, "probe"))
	if err == nil {
		if e := t.session.RunWithOptions(t.run); e != nil {
			err = &ProviderError{Asked: s.cfg.Provider, Why: e.Error()}
		}
	}
	if err = errors.Join(err, t.free()); err != nil {
		return p, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "probe*.json"))
	if err != nil || len(files) != 1 {
		return p, fmt.Errorf("onnx: probe left %d profiles instead of one", len(files))
	}
	profile, err := os.ReadFile(files[0])
	if err != nil {
		return p, fmt.Errorf("onnx: probe: %w", err)
	}
	return parsePlacement(profile)
}
