package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// codeVersion describes the running build.
//
// Modified is true when the working tree had uncommitted changes at build time.
type codeVersion struct {
	Module   string `json:"module"`
	Revision string `json:"revision"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func readCodeVersion() codeVersion {
	v := codeVersion{Module: "cxrepro", Revision: "unknown", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
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
			_, err := fmt.Fprintf(a.out, "cxrepro %s (modified %t) %s %s/%s\n", v.Revision, v.Modified, v.Go, v.OS, v.Arch)
			return err
		},
	}
}
