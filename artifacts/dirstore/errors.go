package dirstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"cxrepro/artifacts"
)

// fail says what an error of the file system means to a store.
func (b *Bucket) fail(op, name string, err error) error {
	var done *artifacts.BucketError
	if errors.As(err, &done) {
		return err
	}
	e := &artifacts.BucketError{Op: op, Bucket: b.URL(), Object: name, Class: artifacts.Unknown, Err: err}
	switch {
	case errors.Is(err, artifacts.ErrPrecondition), errors.Is(err, artifacts.ErrDigestMismatch):
		e.Class = artifacts.Permanent
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		if !b.there() {
			e.Class, e.Err = artifacts.Transient, fmt.Errorf("%w: the folder holds no %s", artifacts.ErrUnreachable, markerName)
			e.Hint = "is the disk or share mounted? the store is used again as soon as it is back"
			break
		}
		e.Class, e.Err = artifacts.Permanent, artifacts.ErrNotFound
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		e.Class, e.Err = artifacts.Transient, fmt.Errorf("%w: %w", artifacts.ErrNoSpace, err)
		e.Hint = "free space in " + b.root + " (`cxrepro artifacts gc` shows what may go) and run again"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		e.Class, e.Err = artifacts.Permanent, fmt.Errorf("%w: %w", artifacts.ErrDenied, err)
		e.Hint = "make " + b.root + " writable for this user, or choose another store with --store"
	case errors.Is(err, syscall.EIO), errors.Is(err, syscall.ESTALE), errors.Is(err, syscall.ENOTCONN), errors.Is(err, syscall.EHOSTDOWN):
		e.Class, e.Err = artifacts.Transient, fmt.Errorf("%w: %w", artifacts.ErrUnreachable, err)
	}
	return e
}

// there reports whether the folder still is a store.
func (b *Bucket) there() bool {
	_, err := os.Stat(filepath.Join(b.root, markerName))
	return err == nil
}
