package attest

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Errors that callers act on.
var (
	// ErrNoKey: the folder has no key to sign with.
	ErrNoKey = errors.New("there is no signing key")
	// ErrHaveKey: the folder has one already.
	ErrHaveKey = errors.New("there is a signing key already")
)

// Names in a key folder.
const (
	currentFile   = "current"
	privateSuffix = ".key"
	publicSuffix  = ".pub"
)

// Folder keeps the key of a state folder: one that signs, and the public halves of those that
// it followed.
type Folder struct{ dir string }

// Open returns the keys below dir, which need not be there.
func Open(dir string) *Folder { return &Folder{dir: dir} }

// Init makes the first key.
//
// Errors: ErrHaveKey.
func (f *Folder) Init() (*Key, error) {
	if _, err := os.Stat(f.path(currentFile)); err == nil {
		return nil, fmt.Errorf("%w in %s", ErrHaveKey, f.dir)
	}
	key, err := f.create()
	if err != nil {
		return nil, err
	}
	// Of two that begin at a time one gets the name; the other's key is taken away again.
	if err := f.write(currentFile, []byte(key.ID()+"\n"), 0o644); err != nil {
		err = errors.Join(err, os.Remove(f.path(key.ID()+privateSuffix)), os.Remove(f.path(key.ID()+publicSuffix)))
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%w in %s", ErrHaveKey, f.dir)
		}
		return nil, err
	}
	return key, nil
}

// Rotated is what became of a key that was replaced.
type Rotated struct {
	// Now signs from here on; Before is the id of the key that did.
	Now    *Key
	Before string
	// Kept is where the private file of Before lies if it was damaged, empty if it was destroyed.
	Kept string
}

// Rotate makes a new key and destroys the private half of the old one, whose public half stays
// known. A private file that is not that key is kept under another name: it may be somebody's.
//
// Errors: ErrNoKey.
func (f *Folder) Rotate() (out Rotated, err error) {
	if out.Before, err = f.currentID(); err != nil {
		return out, err
	}
	if out.Now, err = f.create(); err != nil {
		return out, err
	}
	const next = currentFile + ".next"
	if err := f.write(next, []byte(out.Now.ID()+"\n"), 0o644); err != nil {
		return out, err
	}
	if err := os.Rename(f.path(next), f.path(currentFile)); err != nil {
		return out, err
	}
	out.Kept, err = f.retire(out.Before)
	return out, err
}

// retire destroys the private half of a key, or moves what lies in its place out of the way.
func (f *Folder) retire(id string) (kept string, err error) {
	path := f.path(id + privateSuffix)
	_, err = f.private(id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		kept = path + ".damaged"
		return kept, os.Rename(path, kept)
	}
	return "", os.Remove(path)
}

// currentID is the id of the key that signs.
//
// Errors: ErrNoKey; a file that holds no id.
func (f *Folder) currentID() (string, error) {
	text, err := os.ReadFile(f.path(currentFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w in %s", ErrNoKey, f.dir)
	}
	id := strings.TrimSpace(string(text))
	if raw, bad := hex.DecodeString(id); err == nil && (bad != nil || len(raw) != sha256.Size) {
		err = fmt.Errorf("%s: it holds no key id; hint: move it away and make another key with `cxrepro keys init`", f.path(currentFile))
	}
	return id, err
}

// Current returns the key that signs.
//
// Errors: ErrNoKey; a key file that others may read, or that is none.
func (f *Folder) Current() (*Key, error) {
	const another = "; hint: `cxrepro keys rotate` makes another one"
	id, err := f.currentID()
	if err != nil {
		return nil, err
	}
	path := f.path(id + privateSuffix)
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("signing key: %w"+another, err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("signing key %s: its mode is %o, so that others may read it; hint: chmod 600 %s, and rotate it if somebody may have", path, info.Mode().Perm(), path)
	}
	key, err := f.private(id)
	if err != nil {
		return nil, fmt.Errorf("%w"+another, err)
	}
	return key, nil
}

// private reads the private half of a key.
//
// Errors: a file that is not there, or not that key.
func (f *Folder) private(id string) (*Key, error) {
	path := f.path(id + privateSuffix)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	key, err := parseKey(data)
	if err != nil {
		return nil, fmt.Errorf("signing key %s: %w", path, err)
	}
	if got := key.ID(); got != id {
		return nil, fmt.Errorf("signing key %s: it is the key %s", path, short(got))
	}
	return key, nil
}

// Public returns the public keys of the folder, the current one and former ones, by id.
func (f *Folder) Public() (map[string]PublicKey, error) {
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]PublicKey{}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), publicSuffix)
		if !ok {
			continue
		}
		data, err := os.ReadFile(f.path(e.Name()))
		if err != nil {
			return nil, err
		}
		key, err := ParsePublicKey(data)
		if err != nil || key.ID() != id {
			return nil, fmt.Errorf("%s: it is not the public key that its name says", f.path(e.Name()))
		}
		out[id] = key
	}
	return out, nil
}

// IDs lists the ids of Public, sorted.
func IDs(keys map[string]PublicKey) []string {
	out := make([]string, 0, len(keys))
	for id := range keys {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// create makes a key and writes both halves.
func (f *Folder) create() (*Key, error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return nil, err
	}
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	key := &Key{private: private}
	text, err := key.pem()
	if err != nil {
		return nil, err
	}
	if err := f.write(key.ID()+privateSuffix, text, 0o600); err != nil {
		return nil, err
	}
	return key, f.write(key.ID()+publicSuffix, key.Public().PEM(), 0o644)
}

// write makes a new file, durable before it returns. It replaces none.
func (f *Folder) write(name string, data []byte, mode fs.FileMode) error {
	out, err := os.OpenFile(f.path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return errors.Join(err, out.Sync(), out.Close())
}

func (f *Folder) path(name string) string { return filepath.Join(f.dir, name) }
