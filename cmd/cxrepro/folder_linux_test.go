package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestFolderRefusesPipes(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.csv"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "table.csv"), []byte("a,b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := openFolder(dir)
	if _, err := f.Open("pipe.csv"); !errors.Is(err, errNotAFile) {
		t.Errorf("open a pipe: %v", err)
	}
	if _, err := fs.ReadFile(f, "pipe.csv"); !errors.Is(err, errNotAFile) {
		t.Errorf("read a pipe: %v", err)
	}
	if text, err := fs.ReadFile(f, "table.csv"); err != nil || string(text) != "a,b\n" {
		t.Errorf("read a file: %q %v", text, err)
	}
	if _, err := f.Open("absent"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open what is not there: %v", err)
	}
	if found, err := fs.Glob(f, "*.csv"); err != nil || len(found) != 2 {
		t.Errorf("glob: %v %v", found, err)
	}
}
