package trainer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"cxrepro/artifacts"
)

// ManifestMediaType is that of a checkpoint's manifest in the store; FileMediaType that of
// its files.
const (
	ManifestMediaType = "application/vnd.cxrepro.checkpoint-manifest+json"
	FileMediaType     = "application/octet-stream"
)

// Putter stores files and documents by content; it may be called again for the same bytes.
type Putter interface {
	Put(ctx context.Context, data []byte, mediaType string) (artifacts.Ref, error)
	PutFile(ctx context.Context, path, mediaType string) (artifacts.Ref, error)
}

// Opener opens stored bytes, which are checked to their end.
type Opener interface {
	Open(ctx context.Context, ref artifacts.Ref) (io.ReadCloser, error)
}

// WeightsDigest is the identity of weights, of one file or of several.
type WeightsDigest func(weights []File) (artifacts.Digest, error)

// Upload stores a complete checkpoint: every file, and then its manifest, which goes into the
// folder too unless the trainer wrote one. fault is called before the manifest.
func Upload(ctx context.Context, store Putter, run artifacts.Digest, folder string, c Checkpoint, digest WeightsDigest, fault func()) (Manifest, artifacts.Ref, error) {
	all, weights, err := c.Hash(folder)
	if err != nil {
		return Manifest{}, artifacts.Ref{}, err
	}
	id, err := digest(weights)
	if err != nil {
		return Manifest{}, artifacts.Ref{}, err
	}
	dir := filepath.Join(folder, c.Path)
	for _, f := range all {
		ref, err := store.PutFile(ctx, filepath.Join(dir, filepath.FromSlash(f.Name)), FileMediaType)
		if err != nil {
			return Manifest{}, artifacts.Ref{}, err
		}
		if ref.Digest != f.Digest {
			return Manifest{}, artifacts.Ref{}, fmt.Errorf("checkpoint %s: %s changed while it was stored", c.Path, f.Name)
		}
	}
	fault()
	m := NewManifest(run, c, id, all)
	if _, err := readManifest(dir); errors.Is(err, ErrNoManifest) {
		err = m.write(dir)
		if err != nil {
			return m, artifacts.Ref{}, err
		}
	} else if err != nil {
		return m, artifacts.Ref{}, err
	}
	text, err := artifacts.Canonical(m)
	if err != nil {
		return m, artifacts.Ref{}, err
	}
	ref, err := store.Put(ctx, text, ManifestMediaType)
	return m, ref, err
}

// List is the manifest's files in the order of their names.
func (m Manifest) List() ([]File, error) {
	var out []File
	for name, f := range m.Files {
		d, err := artifacts.ParseHex(f.SHA256)
		if err != nil || !local(name) {
			return nil, fmt.Errorf("%s: file %q with digest %q", ManifestName, name, f.SHA256)
		}
		out = append(out, File{Name: name, Digest: d, Size: f.Size})
	}
	slices.SortFunc(out, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// Download brings a stored checkpoint into a folder, whole or not at all, and returns its path.
// What lies there under its name is replaced when it is another.
func Download(ctx context.Context, store Opener, m Manifest, folder, layout string) (path string, err error) {
	l, err := LayoutOf(layout)
	if err != nil {
		return "", err
	}
	list, err := m.List()
	if err != nil {
		return "", err
	}
	if !local(m.Path) || filepath.Base(m.Path) != m.Path {
		return "", fmt.Errorf("%s: path %q is not the name of a folder", ManifestName, m.Path)
	}
	path = filepath.Join(folder, m.Path)
	if have, err := readManifest(path); err == nil && have.Weights == m.Weights && have.check(path, m.Step) == nil {
		return path, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	part, err := os.MkdirTemp(folder, ".restore-")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(part))
		}
	}()
	for _, f := range list {
		if err := fetch(ctx, store, f, part); err != nil {
			return "", fmt.Errorf("checkpoint %s: %s: %w", m.Path, f.Name, err)
		}
	}
	if err := m.write(part); err != nil {
		return "", err
	}
	if err := os.RemoveAll(path); err != nil {
		return "", err
	}
	if err := os.Rename(part, path); err != nil {
		return "", err
	}
	return path, l.Restored(folder, m.Step)
}

func fetch(ctx context.Context, store Opener, f File, folder string) error {
	path := filepath.Join(folder, filepath.FromSlash(f.Name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	from, err := store.Open(ctx, artifacts.Ref{Digest: f.Digest, Size: f.Size, MediaType: FileMediaType})
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// Prune removes complete checkpoints but the newest keep and those of the named steps, which are
// in use. The caller has them in the store. keep 0 removes nothing.
func (j *Job) Prune(keep int, used ...int) error {
	if keep == 0 {
		return nil
	}
	list, err := j.List()
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(c Checkpoint) bool { return c.Torn != "" || slices.Contains(used, c.Step) })
	for _, c := range list[:max(0, len(list)-keep)] {
		if err := os.RemoveAll(filepath.Join(j.CheckpointsFolder(), c.Path)); err != nil {
			return err
		}
	}
	return nil
}
