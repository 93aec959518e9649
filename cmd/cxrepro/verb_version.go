package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/spf13/cobra"

	"cxrepro/artifacts"
	"cxrepro/internal/provenance"
)

// codeVersion describes the running build.
//
// Modified is true when the working tree had uncommitted changes at build time. Revision is
// "unknown" under `go run`; Binary, the digest of the executable file, is always known.
type codeVersion struct {
	Module   string `json:"module"`
	Revision string `json:"revision"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`

	Binary artifacts.Digest `json:"binary,omitzero"`
}

// executableDigest hashes the running program's file, once per process.
var executableDigest = sync.OnceValue(func() artifacts.Digest {
	path := "/proc/self/exe" // also right when the file was replaced since
	if runtime.GOOS != "linux" {
		var err error
		if path, err = os.Executable(); err != nil {
			return artifacts.Digest{}
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return artifacts.Digest{} // the commit is what is left to name the program
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return artifacts.Digest{}
	}
	return artifacts.Digest(h.Sum(nil))
})

// build names the build to the server: the commit, or the program where none is known.
// code is the program as statements name it.
func (v codeVersion) code() provenance.Code {
	return provenance.Code{Version: v.Module, Commit: v.Revision, Dirty: v.Modified, Binary: v.Binary}
}

func (v codeVersion) build() string {
	if v.Revision != "unknown" && !v.Modified {
		return v.Revision
	}
	return "binary-" + v.Binary.Short()
}

func readCodeVersion() codeVersion {
	v := codeVersion{Module: "cxrepro", Revision: "unknown", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Binary: executableDigest()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the code version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := readCodeVersion()
			if a.JSON() {
				return json.NewEncoder(a.out).Encode(v)
			}
			_, err := fmt.Fprintf(a.out, "cxrepro %s (modified %t) %s %s/%s, program %s\n", v.Revision, v.Modified, v.Go, v.OS, v.Arch, v.Binary)
			return err
		},
	}
}
