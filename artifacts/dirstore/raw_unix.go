//go:build unix

package dirstore

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The files of a store are small and many. What follows asks the system for what is
// needed and nothing else: os.File also tries to poll each file and asks for its flags.

// writeNew writes data to a new file.
func writeNew(path string, data []byte, sync bool) error {
	fd, err := openRaw(path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return err
	}
	err = writeRaw(fd, data)
	if err == nil && sync {
		err = again(func() error { return unix.Fsync(fd) })
	}
	if cerr := unix.Close(fd); err == nil && cerr != unix.EINTR {
		err = cerr
	}
	if err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

func writeRaw(fd int, data []byte) error {
	for len(data) > 0 {
		n := 0
		err := again(func() (err error) { n, err = unix.Write(fd, data); return err })
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// readSmall reads a regular file whole.
func readSmall(path string) ([]byte, time.Time, error) {
	fd, err := openRaw(path, unix.O_RDONLY)
	if err != nil {
		return nil, time.Time{}, err
	}
	data, at, err := readRaw(fd)
	if cerr := unix.Close(fd); err == nil && cerr != unix.EINTR {
		err = cerr
	}
	if err != nil {
		return nil, time.Time{}, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return data, at, nil
}

func readRaw(fd int) ([]byte, time.Time, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return nil, time.Time{}, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, time.Time{}, fs.ErrNotExist
	}
	data := make([]byte, st.Size)
	for at := 0; at < len(data); {
		n := 0
		err := again(func() (err error) { n, err = unix.Read(fd, data[at:]); return err })
		if err != nil {
			return nil, time.Time{}, err
		}
		if n == 0 {
			return nil, time.Time{}, errShort
		}
		at += n
	}
	return data, time.Unix(st.Mtim.Unix()), nil
}

func openRaw(path string, flags int) (fd int, err error) {
	err = again(func() (err error) { fd, err = unix.Open(path, flags|unix.O_CLOEXEC, 0o444); return err })
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// rename moves a file over another one or to a new name.
func rename(from, to string) error {
	err := again(func() error { return syscall.Rename(from, to) })
	if err != nil {
		return &fs.PathError{Op: "rename", Path: to, Err: err}
	}
	return nil
}

// again repeats a call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}
