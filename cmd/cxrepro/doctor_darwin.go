package main

import "golang.org/x/sys/unix"

// networkFileSystem names the network file system that path is on, "" for a local one.
func networkFileSystem(path string) string {
	var s unix.Statfs_t
	if unix.Statfs(path, &s) != nil || s.Flags&unix.MNT_LOCAL != 0 {
		return ""
	}
	return unix.ByteSliceToString(s.Fstypename[:])
}
