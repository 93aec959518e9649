package dirstore_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
)

// TestFullDisk fills a real, tiny file system. Mounting one needs privileges; without
// them the same is tested through package faultstore.
func TestFullDisk(t *testing.T) {
	mount := t.TempDir()
	if err := unix.Mount("tmpfs", mount, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("cannot mount a tmpfs: %v", err)
	}
	defer func() {
		if err := unix.Unmount(mount, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	}()
	b := open(t, filepath.Join(mount, "store"), dirstore.Options{})
	r := repository(t, b)
	small, err := r.Put(t.Context(), []byte("fits"), "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	big := bytes.Repeat([]byte("does not fit "), 40_000)
	_, err = r.Put(t.Context(), big, "text/plain")
	if !errors.Is(err, artifacts.ErrNoSpace) || artifacts.ClassOf(err) != artifacts.Transient || artifacts.HintOf(err) == "" {
		t.Fatalf("put: %v, hint %q", err, artifacts.HintOf(err))
	}
	t.Logf("message: %v\nhint: %s", err, artifacts.HintOf(err))
	if ok, err := r.Has(t.Context(), artifacts.Sum(big)); ok || err != nil {
		t.Errorf("half a blob is visible: %t, %v", ok, err)
	}
	n := 0
	if err := b.List(t.Context(), "tmp/", "", func(artifacts.Info) error { n++; return nil }); err != nil || n != 0 {
		t.Errorf("%d left-overs, %v", n, err)
	}
	if _, err := r.Get(t.Context(), small); err != nil {
		t.Errorf("what was stored before: %v", err)
	}
	if _, err := r.Put(t.Context(), []byte("fits too"), "text/plain"); err != nil {
		t.Errorf("a small blob afterwards: %v", err)
	}
}
