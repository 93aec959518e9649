package dirstore

import "golang.org/x/sys/unix"

// soonPart is how much of a file is asked for at a time: the system takes no more in one call.
const soonPart = 1 << 20

// soon has the system begin to read a file, without waiting for it.
func soon(path string, size int64) {
	fd, err := openRaw(path, unix.O_RDONLY)
	if err != nil {
		return // who reads it is told
	}
	for at := int64(0); at < size; at += soonPart {
		if again(func() error { return unix.Fadvise(fd, at, min(soonPart, size-at), unix.FADV_WILLNEED) }) != nil {
			break
		}
	}
	_ = unix.Close(fd)
}
