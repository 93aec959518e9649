//go:build !unix

package dirstore

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// writeNew writes data to a new file.
func writeNew(path string, data []byte, sync bool) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// readSmall reads a regular file whole.
func readSmall(path string) (data []byte, at time.Time, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, at, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, at, err
	}
	data = make([]byte, st.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, at, errShort
	}
	return data, st.ModTime(), nil
}

// rename moves a file over another one or to a new name.
func rename(from, to string) error { return os.Rename(from, to) }
