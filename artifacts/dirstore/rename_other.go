//go:build !linux

package dirstore

// renameNew moves tmp to path if there is nothing at path (fs.ErrExist otherwise).
func renameNew(tmp, path string) error { return renameByLink(tmp, path) }
