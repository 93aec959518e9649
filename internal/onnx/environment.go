//go:build cgo

package onnx

import (
	"fmt"
	"path/filepath"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

// environment is the process's one loaded library; the binding keeps it in globals.
var environment struct {
	sync.Mutex
	path     string // empty: not loaded
	version  string
	sessions int
}

// acquire loads the library on first use and counts a session.
//
// Errors: *LibraryError, also when another library is loaded already.
func acquire(path string) (version string, err error) {
	if path == "" {
		return "", &LibraryError{Path: "(none)", Why: "no path was given; hint: set CXREPRO_ONNXRUNTIME or let the resolver find one"}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", &LibraryError{Path: path, Why: err.Error()}
	}
	e := &environment
	e.Lock()
	defer e.Unlock()
	if e.path == "" {
		version, err := CheckLibrary(abs)
		if err != nil {
			return "", err
		}
		ort.SetSharedLibraryPath(abs)
		if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
			return "", &LibraryError{Path: abs, Version: version, Why: err.Error()}
		}
		e.path, e.version = abs, version
	}
	if e.path != abs {
		return "", &LibraryError{Path: abs, Why: "another library is in use in this process: " + e.path}
	}
	e.sessions++
	return e.version, nil
}

func release() {
	environment.Lock()
	environment.sessions--
	environment.Unlock()
}

// Shutdown unloads the library. It is for the end of a program or test: sessions keep
// the library loaded between them on their own.
//
// Errors: sessions are still open.
func Shutdown() error {
	e := &environment
	e.Lock()
	defer e.Unlock()
	if e.path == "" {
		return nil
	}
	if e.sessions > 0 {
		return fmt.Errorf("onnx: shutdown while %d sessions are open", e.sessions)
	}
	e.path, e.version = "", ""
	return ort.DestroyEnvironment()
}
