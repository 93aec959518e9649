package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// errNotAFile: what stands where a file is expected is a pipe, a socket or a device.
var errNotAFile = errors.New("not a regular file")

// openFolder returns a data folder. Reading a named pipe would wait for ever for somebody
// who writes; everything but files and folders is an error instead.
func openFolder(root string) fs.FS { return folder{os.DirFS(root)} }

type folder struct{ fs.FS }

func (f folder) check(op, name string) error {
	info, err := fs.Stat(f.FS, name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return &fs.PathError{Op: op, Path: name, Err: errNotAFile}
	}
	return nil
}

func (f folder) Open(name string) (fs.File, error) {
	if err := f.check("open", name); err != nil {
		return nil, err
	}
	return f.FS.Open(name)
}

func (f folder) ReadFile(name string) ([]byte, error) {
	if err := f.check("read", name); err != nil {
		return nil, err
	}
	return fs.ReadFile(f.FS, name)
}

func (f folder) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.FS, name) }
func (f folder) Stat(name string) (fs.FileInfo, error)      { return fs.Stat(f.FS, name) }

// outFolder writes files below a folder.
type outFolder string

func (f outFolder) WriteFile(name string, data []byte) error {
	path := filepath.Join(string(f), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// unusedFolder refuses a folder to write to that holds something already.
func unusedFolder(verb, name string) error {
	entries, err := os.ReadDir(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("%s: %w", verb, err)
	case len(entries) > 0:
		return usageError("give a new folder, or empty this one yourself", "%s: %s is not empty", verb, name)
	}
	return nil
}
