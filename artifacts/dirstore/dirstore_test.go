package dirstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/localhost"
	"cxrepro/artifacts/storetest"
)

func open(t testing.TB, folder string, opts dirstore.Options) *dirstore.Bucket {
	t.Helper()
	b, err := dirstore.Open(folder, opts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func repository(t testing.TB, b artifacts.Bucket) *artifacts.Repository {
	t.Helper()
	r, err := artifacts.New(b, artifacts.Options{Host: localhost.New()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Options{}, func(t *testing.T) artifacts.Bucket { return open(t, t.TempDir(), dirstore.Options{}) })
}

func TestConformancePower(t *testing.T) {
	storetest.RunRepository(t, storetest.Options{Small: true}, func(t *testing.T) artifacts.Bucket {
		return open(t, t.TempDir(), dirstore.Options{Durability: dirstore.DurabilityPower})
	})
}

// TestMain lets the test program be one of several processes that count together.
func TestMain(m *testing.M) {
	if folder := os.Getenv("DIRSTORE_COUNT_IN"); folder != "" {
		if err := count(folder, 40); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if folder := os.Getenv("DIRSTORE_STEPS_IN"); folder != "" {
		if err := steps(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// count adds n to the counter in folder, one by one: created if absent, replaced if
// unchanged.
func count(folder string, n int) error {
	b, err := dirstore.Open(folder, dirstore.Options{})
	if err != nil {
		return err
	}
	ctx := localContext()
	for n > 0 {
		data, info, err := b.Read(ctx, "claims/counter")
		opts := artifacts.PutOptions{IfMatch: info.Version}
		v := 0
		switch {
		case errors.Is(err, artifacts.ErrNotFound):
			opts = artifacts.PutOptions{IfAbsent: true}
		case err != nil:
			return err
		default:
			if v, err = strconv.Atoi(string(data)); err != nil {
				return fmt.Errorf("half an object: %q", data)
			}
		}
		_, err = b.Put(ctx, "claims/counter", strings.NewReader(strconv.Itoa(v+1)), opts)
		switch {
		case err == nil:
			n--
		case !errors.Is(err, artifacts.ErrPrecondition):
			return err
		}
	}
	return nil
}

// TestProcessesCountTogether: no increment of five processes is lost.
func TestProcessesCountTogether(t *testing.T) {
	folder := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const processes = 5
	var cmds []*exec.Cmd
	var outs []*bytes.Buffer
	for range processes {
		c := exec.Command(exe)
		c.Env = append(os.Environ(), "DIRSTORE_COUNT_IN="+folder)
		out := &bytes.Buffer{}
		c.Stderr = out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		cmds, outs = append(cmds, c), append(outs, out)
	}
	for i, c := range cmds {
		if err := c.Wait(); err != nil {
			t.Errorf("process %d: %v: %s", i, err, outs[i])
		}
	}
	data, _, err := open(t, folder, dirstore.Options{}).Read(t.Context(), "claims/counter")
	if err != nil || string(data) != strconv.Itoa(processes*40) {
		t.Errorf("counter %q, %v; want %d", data, err, processes*40)
	}
}

// TestGoneAndBack: a folder that vanishes is unreachable, not empty, is not made anew,
// and works when it is back.
func TestGoneAndBack(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "store")
	b := open(t, folder, dirstore.Options{})
	r := repository(t, b)
	ref, err := r.Put(t.Context(), []byte("x"), "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	away := folder + ".away"
	for name, leave := range map[string]func() error{
		"removed":          func() error { return os.Rename(folder, away) },
		"empty mountpoint": func() error { return errors.Join(os.Rename(folder, away), os.Mkdir(folder, 0o755)) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := leave(); err != nil {
				t.Fatal(err)
			}
			_, err := r.Get(t.Context(), ref)
			if !errors.Is(err, artifacts.ErrUnreachable) || errors.Is(err, artifacts.ErrNotFound) {
				t.Errorf("get: %v", err)
			}
			key, _ := artifacts.KeyDoc{Step: "s", Version: 1}.Key()
			if _, err := r.Lookup(t.Context(), key); !errors.Is(err, artifacts.ErrUnreachable) {
				t.Errorf("look up: %v", err)
			}
			if _, err := r.Put(t.Context(), []byte("y"), "text/plain"); !errors.Is(err, artifacts.ErrUnreachable) || artifacts.ClassOf(err) != artifacts.Transient {
				t.Errorf("put: %v", err)
			}
			if err := b.List(t.Context(), "", "", func(artifacts.Info) error { return nil }); !errors.Is(err, artifacts.ErrUnreachable) {
				t.Errorf("list: %v", err)
			}
			if _, err := os.Stat(filepath.Join(folder, "blobs")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("something was made in the place of the store: %v", err)
			}
			if err := errors.Join(os.RemoveAll(folder), os.Rename(away, folder)); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Get(t.Context(), ref); err != nil {
				t.Errorf("when it is back: %v", err)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign")
	later := filepath.Join(dir, "later")
	file := filepath.Join(dir, "file")
	for path, text := range map[string]string{
		filepath.Join(foreign, "thesis.tex"):       "hands off",
		filepath.Join(later, "cxrepro-store.json"): `{"format":"cxrepro.store","layout":2}`,
		file: "x",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		folder string
		opts   dirstore.Options
		says   string
	}{
		{foreign, dirstore.Options{}, "thesis.tex"},
		{later, dirstore.Options{}, "layout is 2"},
		{file, dirstore.Options{}, "file"},
		{filepath.Join(dir, "none"), dirstore.Options{MustExist: true}, "no store"},
	} {
		if _, err := dirstore.Open(c.folder, c.opts); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want a word on %q", c.folder, err, c.says)
		}
	}
	if left, _ := os.ReadDir(foreign); len(left) != 1 {
		t.Errorf("the foreign folder was touched: %v", left)
	}
}

func TestNamesStayInside(t *testing.T) {
	b := open(t, t.TempDir(), dirstore.Options{})
	for _, name := range []string{"", ".", "..", "../x", "/x", "a/../../x", "a//b", "a/", `a\..\x`} {
		if _, err := b.Put(t.Context(), name, strings.NewReader("x"), artifacts.PutOptions{}); err == nil {
			t.Errorf("%q was accepted", name)
		}
	}
}

// TestChangingFile: a file that changes between digest and copy is refused.
func TestChangingFile(t *testing.T) {
	b := open(t, t.TempDir(), dirstore.Options{})
	path := filepath.Join(t.TempDir(), "growing")
	for name, change := range map[string]func() error{
		"other bytes": func() error { return os.WriteFile(path, []byte("other byte"), 0o600) },
		"shorter":     func() error { return os.Truncate(path, 3) },
	} {
		if err := os.WriteFile(path, []byte("some bytes"), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := artifacts.New(b, artifacts.Options{Host: &changingHost{Host: localhost.New(), change: change}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.PutFile(t.Context(), path, "text/plain"); !errors.Is(err, artifacts.ErrDigestMismatch) {
			t.Errorf("%s: %v", name, err)
		}
		n := 0
		if err := b.List(t.Context(), "", "", func(artifacts.Info) error { n++; return nil }); err != nil || n != 0 {
			t.Errorf("%s: %d objects left, %v", name, n, err)
		}
	}
}

// changingHost changes the file after its first reading.
type changingHost struct {
	*localhost.Host
	change func() error
}

type changingFile struct {
	artifacts.File
	change func() error
	size   int64
	seen   int64
}

func (h *changingHost) OpenFile(path string) (artifacts.File, int64, error) {
	f, size, err := h.Host.OpenFile(path)
	return &changingFile{File: f, change: h.change, size: size}, size, err
}

func (f *changingFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(p, at)
	if f.seen += int64(n); f.seen == f.size {
		err = errors.Join(err, f.change())
	}
	return n, err
}
