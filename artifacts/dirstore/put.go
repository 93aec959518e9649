package dirstore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"cxrepro/artifacts"
)

// pieceSize is how many bytes are copied between two looks at the context.
const pieceSize = 1 << 20

// Put writes an object to tmp/ and renames it into place.
func (b *Bucket) Put(ctx context.Context, name string, content artifacts.Content, opts artifacts.PutOptions) (artifacts.Info, error) {
	if err := ctx.Err(); err != nil {
		return artifacts.Info{}, err
	}
	if opts.IfAbsent && opts.IfMatch != "" {
		return artifacts.Info{}, b.refuse("", "put %s: IfAbsent and IfMatch exclude each other", name)
	}
	path, err := b.path(name)
	if err != nil {
		return artifacts.Info{}, err
	}
	tmp := filepath.Join(b.root, tmpFolder, strings.ToLower(rand.Text()))
	sum, info, err := b.write(ctx, tmp, content)
	if err == nil && !opts.SHA256.IsZero() && sum != opts.SHA256 {
		err = fmt.Errorf("%w: wrote %s, want %s", artifacts.ErrDigestMismatch, sum.Short(), opts.SHA256.Short())
	}
	if err == nil {
		err = b.publish(ctx, tmp, path, name, opts)
	}
	if err != nil {
		if rerr := os.Remove(tmp); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
		return artifacts.Info{}, b.fail("put", name, err)
	}
	info.Name, info.Version = name, sum.Hex()
	return info, nil
}

// write copies content to a new file and returns the digest of what it wrote.
func (b *Bucket) write(ctx context.Context, tmp string, content artifacts.Content) (sum artifacts.Digest, info artifacts.Info, err error) {
	if content.Size() <= pieceSize {
		return b.writeSmall(ctx, tmp, content)
	}
	f, err := b.createTmp(tmp)
	if err != nil {
		return sum, info, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	size := content.Size()
	buf := make([]byte, min(size, pieceSize))
	for at := int64(0); at < size; {
		n, err := copyPiece(ctx, f, h, content, at, buf[:min(size-at, int64(len(buf)))])
		if err != nil {
			return sum, info, err
		}
		at += int64(n)
	}
	h.Sum(sum[:0])
	if b.sync {
		if err := f.Sync(); err != nil {
			return sum, info, err
		}
	}
	return sum, artifacts.Info{Size: size}, nil
}

// writeSmall is write for content that goes in one piece.
func (b *Bucket) writeSmall(ctx context.Context, tmp string, content artifacts.Content) (artifacts.Digest, artifacts.Info, error) {
	buf := make([]byte, content.Size())
	if n, err := content.ReadAt(buf, 0); n < len(buf) {
		if err == io.EOF {
			err = fmt.Errorf("%w: the source ends after %d bytes", artifacts.ErrDigestMismatch, n)
		}
		return artifacts.Digest{}, artifacts.Info{}, err
	}
	if err := ctx.Err(); err != nil {
		return artifacts.Digest{}, artifacts.Info{}, err
	}
	err := writeNew(tmp, buf, b.sync)
	if errors.Is(err, fs.ErrNotExist) {
		if err = b.mkdir(filepath.Dir(tmp)); err == nil {
			err = writeNew(tmp, buf, b.sync)
		}
	}
	return artifacts.Sum(buf), artifacts.Info{Size: int64(len(buf))}, err
}

func copyPiece(ctx context.Context, f io.Writer, h hash.Hash, content io.ReaderAt, at int64, buf []byte) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	n, err := content.ReadAt(buf, at)
	if n < len(buf) {
		if err == io.EOF {
			err = fmt.Errorf("%w: the source ends after %d bytes", artifacts.ErrDigestMismatch, at+int64(n))
		}
		return n, err
	}
	h.Write(buf)
	return f.Write(buf)
}

// createTmp makes the file, and the folder tmp/ if somebody removed it, but never the
// store itself.
func (b *Bucket) createTmp(tmp string) (*os.File, error) {
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := b.mkdir(filepath.Dir(tmp)); err != nil {
		return nil, err
	}
	return os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
}

// mkdir makes a folder inside a store that is there.
func (b *Bucket) mkdir(folder string) error {
	if _, err := os.Stat(filepath.Join(b.root, markerName)); err != nil {
		return err
	}
	if !b.sync {
		return os.MkdirAll(folder, 0o755)
	}
	var made []string
	for d := folder; d != b.root; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil {
			break
		}
		made = append(made, d)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, d := range made {
		if err := syncFolder(filepath.Dir(d)); err != nil {
			return err
		}
	}
	return nil
}

// publish moves tmp to path under the conditions of opts.
func (b *Bucket) publish(ctx context.Context, tmp, path, name string, opts artifacts.PutOptions) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	move := func() error { return rename(tmp, path) }
	switch {
	case opts.IfAbsent:
		move = func() error { return renameNew(tmp, path) }
	case opts.IfMatch != "":
		move = func() error { return b.replace(ctx, tmp, path, name, opts.IfMatch) }
	}
	err := move()
	if errors.Is(err, fs.ErrNotExist) {
		if err = b.mkdir(filepath.Dir(path)); err == nil {
			err = move()
		}
	}
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w: the object is there", artifacts.ErrPrecondition)
	}
	if err == nil && b.sync {
		err = syncFolder(filepath.Dir(path))
	}
	return err
}

// replace moves tmp over path if path still has that version. The lock orders it among
// all replacers, also of other processes, and goes away with a process that dies.
func (b *Bucket) replace(ctx context.Context, tmp, path, name, version string) error {
	folder := filepath.Join(b.root, locksFolder)
	if _, err := os.Stat(folder); err != nil {
		if err := b.mkdir(folder); err != nil {
			return err
		}
	}
	lock := flock.New(filepath.Join(folder, artifacts.Sum([]byte(name)).Hex()[:2]))
	if err := lock.Lock(); err != nil {
		return err
	}
	err := b.replaceLocked(ctx, tmp, path, name, version)
	return errors.Join(err, lock.Close())
}

func (b *Bucket) replaceLocked(ctx context.Context, tmp, path, name, version string) error {
	_, now, err := b.Read(ctx, name)
	if errors.Is(err, artifacts.ErrNotFound) {
		return fmt.Errorf("%w: the object is gone", artifacts.ErrPrecondition)
	}
	if err != nil {
		return err
	}
	if now.Version != version {
		return fmt.Errorf("%w: the object has another version", artifacts.ErrPrecondition)
	}
	return rename(tmp, path)
}

// Copy copies an object's bytes to another name.
func (b *Bucket) Copy(ctx context.Context, from, to string) (err error) {
	f, info, err := b.open(ctx, "copy", from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = b.Put(ctx, to, io.NewSectionReader(f, 0, info.Size), artifacts.PutOptions{})
	return err
}

// renameByLink is renameNew where the system has no such rename: the file is in place
// under both names for a moment, and never replaced.
func renameByLink(tmp, path string) error {
	if err := os.Link(tmp, path); err != nil {
		return err
	}
	return os.Remove(tmp)
}

func syncFolder(folder string) error {
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
