package trainer

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"cxrepro/artifacts"
)

// ManifestName is the file that makes a checkpoint count: it is written after all others.
const ManifestName = "MANIFEST.json"

// Manifest is MANIFEST.json: what lies in a checkpoint, by content. The small trainer writes its
// own; for the others we do, when every file is in the store.
type Manifest struct {
	Schema int    `json:"schema"`
	Run    string `json:"run,omitempty"`
	// Path is the name of the checkpoint's folder.
	Path    string `json:"path,omitempty"`
	Step    int    `json:"step"`
	Counter int    `json:"counter,omitempty"`
	// Weights is the digest of the weights as model cards name it.
	Weights string                  `json:"weights_digest"`
	Files   map[string]ManifestFile `json:"files"`
}

// ManifestFile is one file of a checkpoint; SHA256 is hexadecimal. Weights marks those that the
// digest of the weights is over.
type ManifestFile struct {
	SHA256  string `json:"sha256"`
	Size    int64  `json:"size"`
	Weights bool   `json:"weights,omitempty"`
}

// NewManifest makes the manifest of a checkpoint's files.
func NewManifest(run artifacts.Digest, c Checkpoint, weights artifacts.Digest, all []File) Manifest {
	m := Manifest{Schema: 1, Run: run.String(), Path: c.Path, Step: c.Step, Counter: c.Counter, Weights: weights.String(), Files: map[string]ManifestFile{}}
	for _, f := range all {
		m.Files[f.Name] = ManifestFile{SHA256: f.Digest.Hex(), Size: f.Size, Weights: slices.Contains(c.Weights, f.Name)}
	}
	return m
}

// ErrNoManifest is the error of a checkpoint without MANIFEST.json.
var ErrNoManifest = errors.New(ManifestName + " is missing")

func readManifest(dir string) (Manifest, error) {
	var m Manifest
	data, err := os.ReadFile(filepath.Join(dir, ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return m, ErrNoManifest
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%s does not parse: %v", ManifestName, err)
	}
	return m, nil
}

// check compares the files of a folder with the manifest, by size and digest.
func (m Manifest) check(dir string, step int) error {
	if m.Step != step || len(m.Files) == 0 {
		return fmt.Errorf("%s is of step %d with %d files", ManifestName, m.Step, len(m.Files))
	}
	for name, want := range m.Files {
		if !local(name) {
			return fmt.Errorf("%s names %q", ManifestName, name)
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("%s is missing", name)
		}
		if info.Size() != want.Size {
			return fmt.Errorf("%s has %d bytes of %d", name, info.Size(), want.Size)
		}
		got, err := hashFile(path, name)
		if err != nil {
			return err
		}
		if hex.EncodeToString(got.Digest[:]) != want.SHA256 {
			return fmt.Errorf("%s has other bytes than %s says", name, ManifestName)
		}
	}
	return nil
}

// write puts MANIFEST.json into a checkpoint's folder in one step.
func (m Manifest) write(dir string) error {
	text, err := artifacts.Canonical(m)
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(dir, ManifestName), append(text, '\n'))
}

// replaceFile writes a file in one step.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
