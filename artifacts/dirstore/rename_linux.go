package dirstore

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNew moves tmp to path if there is nothing at path (fs.ErrExist otherwise).
func renameNew(tmp, path string) error {
	for {
		err := unix.Renameat2(unix.AT_FDCWD, tmp, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP):
			return renameByLink(tmp, path) // the file system lacks the flag
		}
		return &os.LinkError{Op: "rename", Old: tmp, New: path, Err: err}
	}
}
