package artifacts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
)

// smallBlob is the size in bytes up to which Open reads and checks a blob before it
// hands out the first byte.
const smallBlob = 8 << 20

// probablyNew is the size in bytes up to which a remote store is sent a blob without
// being asked first whether it has it.
const probablyNew = 1 << 20

// Put stores data as a blob. It is idempotent: bytes that are there already are not
// sent again.
func (r *Repository) Put(ctx context.Context, data []byte, mediaType string) (Ref, error) {
	ref := Ref{Digest: Sum(data), Size: int64(len(data)), MediaType: mediaType}
	if err := r.putBlob(ctx, ref, bytes.NewReader(data)); err != nil {
		return Ref{}, err
	}
	return ref, nil
}

// PutFile stores the bytes of a local file as a blob. The file is read twice, once for
// its digest and once to send it; one that changes in between is refused with
// ErrDigestMismatch and nothing is published.
func (r *Repository) PutFile(ctx context.Context, path, mediaType string) (ref Ref, err error) {
	if err := r.checkClass(); err != nil {
		return Ref{}, err
	}
	f, size, err := r.host.OpenFile(path)
	if err != nil {
		return Ref{}, fmt.Errorf("store file %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	content := io.NewSectionReader(f, 0, size)
	d, err := digestOf(ctx, content)
	if err != nil {
		return Ref{}, fmt.Errorf("store file %s: %w", path, err)
	}
	ref = Ref{Digest: d, Size: size, MediaType: mediaType}
	if err := r.putBlob(ctx, ref, content); err != nil {
		return Ref{}, fmt.Errorf("store file %s: %w", path, err)
	}
	return ref, nil
}

func (r *Repository) putBlob(ctx context.Context, ref Ref, content Content) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.checkClass(); err != nil {
		return err
	}
	faultPoint(FaultBeforeBlobPut)
	if err := r.publish(ctx, blobName(ref.Digest), ref, content); err != nil {
		return fmt.Errorf("put blob %s: %w", ref.Digest.Short(), err)
	}
	faultPoint(FaultAfterBlobPut)
	return nil
}

// publish makes content visible under name, whole and with the right digest or not at
// all. Bytes that arrive damaged are sent once more; then it is ErrDigestMismatch.
func (r *Repository) publish(ctx context.Context, name string, ref Ref, content Content) error {
	err := r.publishOnce(ctx, name, ref, content)
	if errors.Is(err, ErrDigestMismatch) {
		err = r.publishOnce(ctx, name, ref, content)
	}
	return err
}

// publishOnce knows the three ways of docs/design/0002-store-layout.md.
func (r *Repository) publishOnce(ctx context.Context, name string, ref Ref, content Content) error {
	if r.opts.Remote && r.sem.VerifiedPut && r.sem.ConditionalCreate && ref.Size <= probablyNew {
		// A new small blob is the rule, and one request is quicker than two.
		_, err := r.bucket.Put(ctx, name, content, PutOptions{MediaType: ref.MediaType, SHA256: ref.Digest, IfAbsent: true, Multipart: MultipartNever})
		if !errors.Is(err, ErrPrecondition) {
			return err
		}
	}
	info, err := r.bucket.Stat(ctx, name)
	switch {
	case err == nil && info.Size == ref.Size && r.host.Now().Sub(info.Modified) < r.opts.RefreshAge:
		return nil
	case err != nil && !errors.Is(err, ErrNotFound):
		return err
	}
	opts := PutOptions{MediaType: ref.MediaType, SHA256: ref.Digest}
	if !r.sem.Multipart {
		opts.Multipart = MultipartNever
	}
	if r.sem.VerifiedPut && (r.sem.SingleMax == 0 || ref.Size <= r.sem.SingleMax) {
		if r.sem.SingleMax > 0 {
			opts.Multipart = MultipartNever
		}
		_, err := r.bucket.Put(ctx, name, content, opts)
		return err
	}
	if !r.sem.Copy {
		return r.publishInPlace(ctx, name, ref, content, opts)
	}
	tmp := areaTmp + r.host.Nonce()
	if _, err := r.bucket.Put(ctx, tmp, content, opts); err != nil {
		return err
	}
	err = r.checkObject(ctx, tmp, ref)
	if err == nil {
		err = r.bucket.Copy(ctx, tmp, name)
	}
	return errors.Join(err, r.bucket.Delete(context.WithoutCancel(ctx), tmp))
}

// publishInPlace is for stores without copy: write, read back, remove when wrong.
func (r *Repository) publishInPlace(ctx context.Context, name string, ref Ref, content Content, opts PutOptions) error {
	if _, err := r.bucket.Put(ctx, name, content, opts); err != nil {
		return err
	}
	err := r.checkObject(ctx, name, ref)
	if errors.Is(err, ErrDigestMismatch) {
		err = errors.Join(err, r.bucket.Delete(context.WithoutCancel(ctx), name))
	}
	return err
}

// checkObject reads an object back and compares it with ref, twice at most.
func (r *Repository) checkObject(ctx context.Context, name string, ref Ref) error {
	var err error
	for try := 0; try < 2; try++ {
		var body io.ReadCloser
		if body, _, err = r.bucket.Open(ctx, name); err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, newCheckedReader(body, ref))
		err = errors.Join(err, body.Close())
		if err == nil || !errors.Is(err, ErrDigestMismatch) {
			return err
		}
	}
	return err
}

// Get returns a blob's bytes after checking size and digest. A damaged read is tried
// once more; then it is ErrDigestMismatch, which is permanent.
func (r *Repository) Get(ctx context.Context, ref Ref) ([]byte, error) {
	return r.get(ctx, blobName(ref.Digest), ref)
}

func (r *Repository) get(ctx context.Context, name string, ref Ref) ([]byte, error) {
	if ref.IsZero() {
		return nil, errors.New("get blob: the ref is zero")
	}
	var err error
	for try := 0; try < 2; try++ {
		var data []byte
		if data, err = r.readOnce(ctx, name, ref); err == nil {
			return data, nil
		}
		if !errors.Is(err, ErrDigestMismatch) && !errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
	}
	return nil, fmt.Errorf("get %s: %w", ref.Digest.Short(), err)
}

func (r *Repository) readOnce(ctx context.Context, name string, ref Ref) (data []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	body, _, err := r.bucket.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	// With room for the look beyond the end that finds it, so that the buffer does not grow.
	buf := bytes.NewBuffer(make([]byte, 0, max(ref.Size, 0)+bytes.MinRead))
	if _, err := io.Copy(buf, newCheckedReader(body, ref)); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// Open returns a blob for reading. Blobs up to 8 MiB are checked first, with one retry
// as in Get. Larger ones are checked while they are read: the last Read returns
// ErrDigestMismatch instead of io.EOF, and nothing read before is true until then.
func (r *Repository) Open(ctx context.Context, ref Ref) (io.ReadCloser, error) {
	if ref.Size > smallBlob {
		return r.Stream(ctx, ref)
	}
	data, err := r.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// Stream returns a blob for reading that is checked while it is read, whatever its size, as Open
// does with large ones: the last Read returns ErrDigestMismatch instead of io.EOF.
func (r *Repository) Stream(ctx context.Context, ref Ref) (io.ReadCloser, error) {
	if ref.IsZero() {
		return nil, errors.New("open blob: the ref is zero")
	}
	body, _, err := r.bucket.Open(ctx, blobName(ref.Digest))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", ref.Digest.Short(), err)
	}
	return struct {
		io.Reader
		io.Closer
	}{newCheckedReader(body, ref), body}, nil
}

// Soon says that a blob is going to be read, so that a store that can begins to fetch it. Nobody
// waits for that.
func (r *Repository) Soon(ctx context.Context, ref Ref) {
	if b, ok := r.bucket.(Forewarned); ok {
		b.Soon(ctx, blobName(ref.Digest), ref.Size)
	}
}

// Has reports whether the blob is there.
func (r *Repository) Has(ctx context.Context, d Digest) (bool, error) {
	_, err := r.bucket.Stat(ctx, blobName(d))
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("stat blob %s: %w", d.Short(), err)
	}
	return true, nil
}

// StatBlob returns size and modification time of a blob. Errors: ErrNotFound.
func (r *Repository) StatBlob(ctx context.Context, d Digest) (Info, error) {
	return r.bucket.Stat(ctx, blobName(d))
}

// checkedReader passes bytes on and fails at the end when size or digest is wrong. It
// never reads more than one byte past the stated size.
type checkedReader struct {
	from io.Reader
	ref  Ref
	n    int64
	sum  hash.Hash
	err  error
}

// Checked passes bytes on, and ends with ErrDigestMismatch instead of io.EOF where they are not those
// of the reference.
func Checked(from io.Reader, ref Ref) io.Reader { return newCheckedReader(from, ref) }

func newCheckedReader(from io.Reader, ref Ref) *checkedReader {
	return &checkedReader{from: from, ref: ref, sum: sha256.New()}
}

// Read passes bytes on; see checkedReader.
func (c *checkedReader) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	if room := c.ref.Size - c.n + 1; int64(len(p)) > room {
		p = p[:room]
	}
	n, err := c.from.Read(p)
	c.n += int64(n)
	c.sum.Write(p[:n])
	switch {
	case c.n > c.ref.Size:
		c.err = fmt.Errorf("%w: %s has more than %d bytes", ErrDigestMismatch, c.ref.Digest.Short(), c.ref.Size)
		return 0, c.err
	case err == io.EOF:
		c.err = c.verdict()
		return n, c.err
	case err != nil:
		c.err = err
	}
	return n, err
}

func (c *checkedReader) verdict() error {
	if c.n != c.ref.Size {
		return fmt.Errorf("%w: %s has %d bytes, want %d", ErrDigestMismatch, c.ref.Digest.Short(), c.n, c.ref.Size)
	}
	var got Digest
	c.sum.Sum(got[:0])
	if got != c.ref.Digest {
		return fmt.Errorf("%w: %s reads as %s", ErrDigestMismatch, c.ref.Digest.Short(), got.Short())
	}
	return io.EOF
}

// digestOf hashes content from its start, looking at ctx between pieces.
func digestOf(ctx context.Context, content Content) (Digest, error) {
	sum := sha256.New()
	buf := make([]byte, 1<<20)
	rd := io.NewSectionReader(content, 0, content.Size())
	for {
		if err := ctx.Err(); err != nil {
			return Digest{}, err
		}
		n, err := rd.Read(buf)
		sum.Write(buf[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			return Digest{}, err
		}
	}
	var d Digest
	sum.Sum(d[:0])
	return d, nil
}

// Blobs calls fn for every blob, in ascending order of the digest's text. Objects among
// them that are no blobs are passed over; Verify names them.
func (r *Repository) Blobs(ctx context.Context, fn func(Digest, Info) error) error {
	return r.BlobsPrefixed(ctx, "", fn)
}

// BlobsPrefixed is Blobs for the digests that begin with the given hexadecimal digits.
func (r *Repository) BlobsPrefixed(ctx context.Context, hex string, fn func(Digest, Info) error) error {
	prefix := areaBlobs + hex
	if len(hex) >= 2 {
		prefix = areaBlobs + hex[:2] + "/" + hex
	}
	return r.bucket.List(ctx, prefix, "", func(info Info) error {
		d, err := digestOfPath(strings.TrimPrefix(info.Name, areaBlobs))
		if err != nil {
			return nil
		}
		return fn(d, info)
	})
}
