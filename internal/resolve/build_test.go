package resolve

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The nested build runs the real Go on a small module in the server's place.
func TestNestedBuild(t *testing.T) {
	goTool, err := exec.LookPath("go")
	require.NoError(t, err)
	for _, v := range []string{"GOCACHE", "GOPATH", "GOMODCACHE", "HOME"} {
		if os.Getenv(v) == "" && v != "HOME" {
			out, err := exec.Command(goTool, "env", v).Output()
			require.NoError(t, err)
			t.Setenv(v, string(out[:len(out)-1]))
		}
	}
	m := newMachine(t)
	m.script("go", `exec "`+goTool+`" "$@"`+"\n")
	source := func(version string) {
		dir := filepath.Join(m.opts.SourceDir, "infra", "devserver")
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "cmd", "devserver"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module x/devserver\n\ngo 1.26\n"), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "cmd", "devserver", "main.go"),
			[]byte("package main\n\nfunc main() { print2(\""+version+"\") }\n"), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "cmd", "devserver", "print.go"),
			[]byte("package main\n\nimport \"os\"\n\nfunc print2(s string) { os.Stdout.WriteString(\"devserver \" + s + \"\\n\") }\n"), 0o644))
	}
	source("1.32.1")
	ctx := context.Background()
	b, err := Temporal(ctx, m.opts)
	require.NoError(t, err)
	require.Equal(t, SourceBuilt, b.Source)
	require.Equal(t, FlavourDevserver, b.Flavour)
	require.Equal(t, "1.32.1", b.Version)

	again, err := Temporal(ctx, m.opts)
	require.NoError(t, err)
	require.Equal(t, SourceCache, again.Source)
	require.Equal(t, b.Path, again.Path)

	require.NoError(t, os.WriteFile(b.Path, []byte("#!/bin/sh\n"), 0o755))
	again, err = Temporal(ctx, m.opts)
	require.NoError(t, err)
	require.Equal(t, SourceBuilt, again.Source, "a damaged binary is built again")

	source("1.33.0")
	newer, err := Temporal(ctx, m.opts)
	require.NoError(t, err)
	require.Equal(t, "1.33.0", newer.Version, "edited sources are built anew")
	require.NotEqual(t, b.Path, newer.Path)

	require.NoError(t, os.WriteFile(filepath.Join(m.opts.SourceDir, "infra", "devserver", "cmd", "devserver", "print.go"), []byte("package nonsense"), 0o644))
	_, err = Temporal(ctx, m.opts)
	var u *UnavailableError
	require.ErrorAs(t, err, &u)
	require.ErrorContains(t, err, "go build")
}
