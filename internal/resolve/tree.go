package resolve

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// sealName is the file that holds a tree's digest as it was placed.
const sealName = ".cxrepro-seal"

// tree is a folder that is being placed.
type tree struct{ root string }

// placeTree makes the folder dest of what fill adds, by way of a folder beside it, so that a
// reader sees the whole folder or none. An earlier, damaged one is replaced.
func placeTree(dest string, fill func(*tree) error) error {
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dest), ".new-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) // fails after the rename, as it should
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	if err := fill(&tree{tmp}); err != nil {
		return err
	}
	seal, err := treeDigest(tmp)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tmp, sealName), []byte(seal), 0o644); err != nil {
		return err
	}
	if err := os.RemoveAll(dest); err != nil {
		return err
	}
	return os.Rename(tmp, dest)
}

// path returns where a member lies, with its folder made.
func (t *tree) path(name string) (string, error) {
	if !fs.ValidPath(name) || name == "." || name == sealName {
		return "", fmt.Errorf("the package holds a file of the name %q", name)
	}
	path := filepath.Join(t.root, filepath.FromSlash(name))
	return path, os.MkdirAll(filepath.Dir(path), 0o755)
}

// file adds a file.
func (t *tree) file(name string, mode fs.FileMode, r io.Reader) error {
	path, err := t.path(name)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644|mode&0o111)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, r); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// link adds a link to another member.
func (t *tree) link(source, target string) error {
	from, err := t.path(source)
	if err != nil {
		return err
	}
	path, err := t.path(target)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(filepath.Dir(path), from)
	if err != nil {
		return err
	}
	return os.Symlink(rel, path)
}

// treeDigest is the digest over names and contents of a folder, the seal left out.
func treeDigest(root string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == filepath.Join(root, sealName) {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		content := ""
		if d.Type()&fs.ModeSymlink != 0 {
			content, err = os.Readlink(path)
		} else {
			content, err = fileSHA256(path)
		}
		fmt.Fprintf(h, "%q %q\n", filepath.ToSlash(name), content)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}
