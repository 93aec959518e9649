package miniostore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"sort"
	"sync"

	"github.com/minio/minio-go/v7"
	"golang.org/x/sync/errgroup"

	"cxrepro/artifacts"
)

// Put stores an object, in one request or in parts.
func (b *Bucket) Put(ctx context.Context, name string, content artifacts.Content, opts artifacts.PutOptions) (artifacts.Info, error) {
	if err := ctx.Err(); err != nil {
		return artifacts.Info{}, err
	}
	size := content.Size()
	parts := opts.Multipart == artifacts.MultipartAlways && size > 0 || opts.Multipart == artifacts.MultipartAuto && size > singleMax
	po := minio.PutObjectOptions{ContentType: opts.MediaType, ServerSideEncryption: b.sse, DisableContentSha256: true}
	if opts.IfAbsent {
		po.SetMatchETagExcept("*")
	}
	if opts.IfMatch != "" {
		po.SetMatchETag(opts.IfMatch)
	}
	put := b.putOne
	if parts {
		put = b.putParts
	}
	up, err := put(ctx, name, content, opts.SHA256, po)
	if err != nil {
		f := failure("put", name, err)
		f.Conditional = opts.IfAbsent || opts.IfMatch != ""
		return artifacts.Info{}, b.cfg.Error(f)
	}
	return artifacts.Info{Name: name, Size: size, Version: up.ETag}, nil
}

// putOne signs the content with its digest: the store refuses other bytes.
func (b *Bucket) putOne(ctx context.Context, name string, content artifacts.Content, digest artifacts.Digest, po minio.PutObjectOptions) (minio.UploadInfo, error) {
	size := content.Size()
	if digest.IsZero() {
		var err error
		if digest, err = sum(content, 0, size); err != nil {
			return minio.UploadInfo{}, err
		}
	}
	return b.core.PutObject(ctx, b.cfg.Bucket, b.cfg.Key(name), io.NewSectionReader(content, 0, size), size, "", digest.Hex(), po)
}

// putParts sends parts four at a time and completes under the conditions of po.
func (b *Bucket) putParts(ctx context.Context, name string, content artifacts.Content, _ artifacts.Digest, po minio.PutObjectOptions) (up minio.UploadInfo, err error) {
	key, size := b.cfg.Key(name), content.Size()
	begin := minio.PutObjectOptions{ContentType: po.ContentType, ServerSideEncryption: po.ServerSideEncryption}
	id, err := b.core.NewMultipartUpload(ctx, b.cfg.Bucket, key, begin)
	if err != nil {
		return up, err
	}
	defer func() {
		if err != nil {
			// gc aborts what this cannot.
			_ = b.core.AbortMultipartUpload(context.WithoutCancel(ctx), b.cfg.Bucket, key, id)
		}
	}()
	each := max(partSize, (size+mostParts-1)/mostParts)
	var mu sync.Mutex // guards done
	var done []minio.CompletePart
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(4)
	for at, n := int64(0), 1; at < size; at, n = at+each, n+1 {
		g.Go(func() error {
			length := min(each, size-at)
			d, err := sum(content, at, length)
			if err != nil {
				return err
			}
			part, err := b.core.PutObjectPart(gctx, b.cfg.Bucket, key, id, n, io.NewSectionReader(content, at, length), length,
				minio.PutObjectPartOptions{Sha256Hex: d.Hex(), DisableContentSha256: true})
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done = append(done, minio.CompletePart{PartNumber: n, ETag: part.ETag})
			return nil
		})
	}
	if err = g.Wait(); err != nil {
		return up, err
	}
	sort.Slice(done, func(i, j int) bool { return done[i].PartNumber < done[j].PartNumber })
	return b.core.CompleteMultipartUpload(ctx, b.cfg.Bucket, key, id, done, po)
}

func sum(content io.ReaderAt, at, length int64) (artifacts.Digest, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(content, at, length)); err != nil {
		return artifacts.Digest{}, err
	}
	return artifacts.ParseHex(hex.EncodeToString(h.Sum(nil)))
}

// ListUploads pages through the unfinished uploads under the prefix.
func (b *Bucket) ListUploads(ctx context.Context, fn func(artifacts.Upload) error) error {
	key, id := "", ""
	for {
		page, err := b.core.ListMultipartUploads(ctx, b.cfg.Bucket, b.cfg.Key(""), key, id, "", 1000)
		if err != nil {
			return b.cfg.Error(failure("list uploads", "", err))
		}
		for _, u := range page.Uploads {
			if err := fn(artifacts.Upload{Name: b.cfg.Name(u.Key), ID: u.UploadID, Started: u.Initiated}); err != nil {
				return err
			}
		}
		if !page.IsTruncated {
			return nil
		}
		key, id = page.NextKeyMarker, page.NextUploadIDMarker
	}
}

// UploadSize adds up the parts that were sent.
func (b *Bucket) UploadSize(ctx context.Context, u artifacts.Upload) (int64, error) {
	var n int64
	for marker := 0; ; {
		page, err := b.core.ListObjectParts(ctx, b.cfg.Bucket, b.cfg.Key(u.Name), u.ID, marker, 1000)
		if err != nil {
			return n, b.cfg.Error(failure("list parts", u.Name, err))
		}
		for _, p := range page.ObjectParts {
			n += p.Size
		}
		if !page.IsTruncated {
			return n, nil
		}
		marker = page.NextPartNumberMarker
	}
}

// AbortUpload frees an upload's parts.
func (b *Bucket) AbortUpload(ctx context.Context, u artifacts.Upload) error {
	err := b.core.AbortMultipartUpload(ctx, b.cfg.Bucket, b.cfg.Key(u.Name), u.ID)
	return b.cfg.Error(failure("abort upload", u.Name, err))
}
