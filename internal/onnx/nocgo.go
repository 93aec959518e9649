//go:build !cgo

package onnx

import "context"

// Session is what a build with cgo has; this build can open none.
type Session struct{}

var errNoCGO = &LibraryError{Path: "(none)", Why: "this program was built without cgo; hint: install a C compiler and build with CGO_ENABLED=1"}

// LibraryVersion needs cgo.
func LibraryVersion(string) (string, error) { return "", errNoCGO }

// CheckLibrary needs cgo.
func CheckLibrary(string) (string, error) { return "", errNoCGO }

// Open needs cgo.
func Open(Config) (*Session, error) { return nil, errNoCGO }

// Shutdown has nothing to do.
func Shutdown() error { return nil }

// Input returns nil.
func (*Session) Input() []float32 { return nil }

// Floats returns nil.
func (*Session) Floats() []float32 { return nil }

// Bytes returns nil.
func (*Session) Bytes() []uint8 { return nil }

// Runtime returns the zero value.
func (*Session) Runtime() Runtime { return Runtime{} }

// Run needs cgo.
func (*Session) Run(context.Context) error { return errNoCGO }

// Close has nothing to do.
func (*Session) Close() error { return nil }
