package s3store

import (
	"context"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"cxrepro/artifacts"
)

// Copy copies an object inside the store, in parts where it is too large for one
// request.
func (b *Bucket) Copy(ctx context.Context, from, to string) error {
	info, err := b.Stat(ctx, from)
	if err != nil {
		return err
	}
	if info.Size > b.copyMax {
		err = b.copyParts(ctx, info, to)
	} else {
		_, err = b.client.CopyObject(ctx, &s3.CopyObjectInput{
			Bucket: &b.cfg.Bucket, Key: aws.String(b.cfg.Key(to)), CopySource: b.source(from),
			ServerSideEncryption: types.ServerSideEncryption(b.cfg.SSE), SSEKMSKeyId: text(b.cfg.KMSKey),
		})
	}
	if err != nil {
		return b.cfg.Error(failure("copy", from, err))
	}
	return nil
}

func (b *Bucket) copyParts(ctx context.Context, info artifacts.Info, to string) error {
	_, err := b.inParts(ctx, to, artifacts.PutOptions{}, info.Size, b.copyMax, func(up *string, n int32, at, length int64) (*string, error) {
		out, err := b.client.UploadPartCopy(ctx, &s3.UploadPartCopyInput{Bucket: &b.cfg.Bucket, Key: aws.String(b.cfg.Key(to)), UploadId: up,
			PartNumber: &n, CopySource: b.source(info.Name), CopySourceRange: aws.String(fmt.Sprintf("bytes=%d-%d", at, at+length-1))})
		if err != nil {
			return nil, err
		}
		return out.CopyPartResult.ETag, nil
	})
	return err
}

// putPartsIf sends content part by part and completes under the conditions of opts.
func (b *Bucket) putPartsIf(ctx context.Context, name string, content artifacts.Content, opts artifacts.PutOptions) (string, error) {
	size := content.Size()
	each := max(partSize, (size+mostParts-1)/mostParts)
	return b.inParts(ctx, name, opts, size, each, func(up *string, n int32, at, length int64) (*string, error) {
		out, err := b.client.UploadPart(ctx, &s3.UploadPartInput{Bucket: &b.cfg.Bucket, Key: aws.String(b.cfg.Key(name)), UploadId: up,
			PartNumber: &n, Body: io.NewSectionReader(content, at, length), ContentLength: &length})
		if err != nil {
			return nil, err
		}
		return out.ETag, nil
	})
}

// inParts makes an object of size bytes out of parts, and leaves none behind when that
// fails. Part sends one part and returns its ETag; inParts returns the object's.
func (b *Bucket) inParts(ctx context.Context, name string, opts artifacts.PutOptions, size, each int64,
	part func(up *string, n int32, at, length int64) (*string, error)) (etag string, err error) {
	key := aws.String(b.cfg.Key(name))
	up, err := b.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &b.cfg.Bucket, Key: key,
		ContentType: text(opts.MediaType), ServerSideEncryption: types.ServerSideEncryption(b.cfg.SSE), SSEKMSKeyId: text(b.cfg.KMSKey)})
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			// gc aborts what this cannot.
			_, _ = b.client.AbortMultipartUpload(context.WithoutCancel(ctx), &s3.AbortMultipartUploadInput{Bucket: &b.cfg.Bucket, Key: key, UploadId: up.UploadId})
		}
	}()
	var done []types.CompletedPart
	for at, n := int64(0), int32(1); at < size; at, n = at+each, n+1 {
		tag, err := part(up.UploadId, n, at, min(each, size-at))
		if err != nil {
			return "", err
		}
		done = append(done, types.CompletedPart{ETag: tag, PartNumber: aws.Int32(n)})
	}
	in := &s3.CompleteMultipartUploadInput{Bucket: &b.cfg.Bucket, Key: key, UploadId: up.UploadId,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: done}, IfMatch: text(opts.IfMatch)}
	if opts.IfAbsent {
		in.IfNoneMatch = aws.String("*")
	}
	out, err := b.client.CompleteMultipartUpload(ctx, in)
	if err != nil {
		return "", err
	}
	return aws.ToString(out.ETag), nil
}

// ListUploads pages through the unfinished uploads under the prefix.
func (b *Bucket) ListUploads(ctx context.Context, fn func(artifacts.Upload) error) error {
	pages := s3.NewListMultipartUploadsPaginator(b.client, &s3.ListMultipartUploadsInput{Bucket: &b.cfg.Bucket, Prefix: aws.String(b.cfg.Key(""))})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return b.cfg.Error(failure("list uploads", "", err))
		}
		for _, u := range page.Uploads {
			up := artifacts.Upload{Name: b.cfg.Name(aws.ToString(u.Key)), ID: aws.ToString(u.UploadId), Started: aws.ToTime(u.Initiated)}
			if err := fn(up); err != nil {
				return err
			}
		}
	}
	return nil
}

// UploadSize adds up the parts that were sent.
func (b *Bucket) UploadSize(ctx context.Context, u artifacts.Upload) (int64, error) {
	pages := s3.NewListPartsPaginator(b.client, &s3.ListPartsInput{Bucket: &b.cfg.Bucket, Key: aws.String(b.cfg.Key(u.Name)), UploadId: &u.ID})
	var n int64
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return n, b.cfg.Error(failure("list parts", u.Name, err))
		}
		for _, p := range page.Parts {
			n += aws.ToInt64(p.Size)
		}
	}
	return n, nil
}

// AbortUpload frees an upload's parts.
func (b *Bucket) AbortUpload(ctx context.Context, u artifacts.Upload) error {
	_, err := b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &b.cfg.Bucket, Key: aws.String(b.cfg.Key(u.Name)), UploadId: &u.ID})
	return b.cfg.Error(failure("abort upload", u.Name, err))
}
