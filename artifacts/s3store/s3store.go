package s3store

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	tmtypes "github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/logging"

	"cxrepro/artifacts"
	"cxrepro/artifacts/s3config"
)

// Sizes in bytes.
const (
	singleMax = 16 << 20 // largest content in one request
	partSize  = 8 << 20
	mostParts = 10_000
	copyMax   = 5 << 30 // largest object that S3 copies in one request
)

// attempts is how often the client sends a request that fails for a passing reason.
const attempts = 4

// Bucket is one bucket, or a prefix of one.
type Bucket struct {
	cfg      s3config.Config
	creds    aws.CredentialsProvider
	client   *s3.Client
	transfer *transfermanager.Client
	copyMax  int64
}

var (
	_ artifacts.Bucket  = (*Bucket)(nil)
	_ artifacts.Uploads = (*Bucket)(nil)
)

// Open makes a client for cfg. It sends nothing; Check does.
//
// Errors: a certificate file or a shared configuration that cannot be read.
func Open(ctx context.Context, cfg s3config.Config) (*Bucket, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	transport, err := cfg.Transport()
	if err != nil {
		return nil, err
	}
	load := []func(*config.LoadOptions) error{
		config.WithLogger(logging.Nop{}), // errors are returned, not logged
		config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired),
		config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired),
		config.WithRetryer(func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = attempts; o.MaxBackoff = 5 * time.Second })
		}),
	}
	if cfg.Region != "" {
		load = append(load, config.WithRegion(cfg.Region))
	}
	if c := cfg.Credentials; c != nil {
		load = append(load, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(c.AccessKey, c.SecretKey.Reveal(), c.SessionToken.Reveal())))
	}
	ac, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", cfg.URL(), err)
	}
	if ac.Region == "" {
		ac.Region = "us-east-1"
	}
	client := s3.NewFromConfig(ac, func(o *s3.Options) {
		o.UsePathStyle = cfg.PathStyle
		o.HTTPClient = &http.Client{Transport: transport}
		if cfg.Endpoint != "" {
			o.BaseEndpoint = aws.String(cfg.Endpoint)
		}
	})
	transfer := transfermanager.New(client, func(o *transfermanager.Options) {
		o.PartSizeBytes, o.MultipartUploadThreshold, o.Concurrency = partSize, 1, 4
		o.FailTimeout = 30 * time.Second
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	})
	return &Bucket{cfg: cfg, creds: ac.Credentials, client: client, transfer: transfer, copyMax: copyMax}, nil
}

// Check asks whether there are credentials and whether the bucket is there and may be
// used.
func (b *Bucket) Check(ctx context.Context) error {
	if _, err := b.creds.Retrieve(ctx); err != nil {
		return b.cfg.Error(s3config.Failure{Op: "open", Code: "NoCredentials", Status: http.StatusForbidden, Err: err})
	}
	// A HEAD would be cheaper, but its refusal says nothing.
	_, err := b.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &b.cfg.Bucket, Prefix: aws.String(b.cfg.Key("")), MaxKeys: aws.Int32(1)})
	return b.cfg.Error(failure("open", "", err))
}

// URL returns the address without settings.
func (b *Bucket) URL() string { return b.cfg.URL() }

// Settings lists how the store is reached.
func (b *Bucket) Settings() map[string]string { return b.cfg.Settings() }

// Semantics assumes little: a probe finds out what the store keeps to.
func (b *Bucket) Semantics() artifacts.Semantics {
	return artifacts.Semantics{Copy: true, Multipart: true, SingleMax: singleMax}
}

// Open streams an object.
func (b *Bucket) Open(ctx context.Context, name string) (io.ReadCloser, artifacts.Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, artifacts.Info{}, err
	}
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.cfg.Bucket, Key: aws.String(b.cfg.Key(name))})
	if err != nil {
		return nil, artifacts.Info{}, b.cfg.Error(failure("open", name, err))
	}
	info := artifacts.Info{Name: name, Size: aws.ToInt64(out.ContentLength), Modified: aws.ToTime(out.LastModified), Version: aws.ToString(out.ETag)}
	return &body{out.Body, b, name}, info, nil
}

// body gives errors in the middle of a stream their class.
type body struct {
	io.ReadCloser
	b    *Bucket
	name string
}

// Read passes bytes on.
func (r *body) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = r.b.cfg.Error(s3config.Failure{Op: "read", Name: r.name, Err: err})
	}
	return n, err
}

// Read returns a small object.
func (b *Bucket) Read(ctx context.Context, name string) (data []byte, info artifacts.Info, err error) {
	rc, info, err := b.Open(ctx, name)
	if err != nil {
		return nil, info, err
	}
	data, err = io.ReadAll(rc)
	return data, info, errors.Join(err, rc.Close())
}

// Stat describes an object.
func (b *Bucket) Stat(ctx context.Context, name string) (artifacts.Info, error) {
	if err := ctx.Err(); err != nil {
		return artifacts.Info{}, err
	}
	out, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.cfg.Bucket, Key: aws.String(b.cfg.Key(name))})
	if err != nil {
		return artifacts.Info{}, b.cfg.Error(failure("stat", name, err))
	}
	return artifacts.Info{Name: name, Size: aws.ToInt64(out.ContentLength), Modified: aws.ToTime(out.LastModified), Version: aws.ToString(out.ETag)}, nil
}

// Put stores an object, in one request or in parts.
func (b *Bucket) Put(ctx context.Context, name string, content artifacts.Content, opts artifacts.PutOptions) (artifacts.Info, error) {
	if err := ctx.Err(); err != nil {
		return artifacts.Info{}, err
	}
	size := content.Size()
	parts := opts.Multipart == artifacts.MultipartAlways && size > 0 || opts.Multipart == artifacts.MultipartAuto && size > singleMax
	var etag string
	var err error
	if parts {
		etag, err = b.putParts(ctx, name, content, opts)
	} else {
		etag, err = b.putOne(ctx, name, content, opts)
	}
	if err != nil {
		f := failure("put", name, err)
		f.Conditional = opts.IfAbsent || opts.IfMatch != ""
		return artifacts.Info{}, b.cfg.Error(f)
	}
	return artifacts.Info{Name: name, Size: size, Version: etag}, nil
}

func (b *Bucket) putOne(ctx context.Context, name string, content artifacts.Content, opts artifacts.PutOptions) (string, error) {
	in := &s3.PutObjectInput{
		Bucket: &b.cfg.Bucket, Key: aws.String(b.cfg.Key(name)),
		Body: io.NewSectionReader(content, 0, content.Size()), ContentLength: aws.Int64(content.Size()),
		ContentType: text(opts.MediaType), IfMatch: text(opts.IfMatch),
		ServerSideEncryption: types.ServerSideEncryption(b.cfg.SSE), SSEKMSKeyId: text(b.cfg.KMSKey),
	}
	if opts.IfAbsent {
		in.IfNoneMatch = aws.String("*")
	}
	if !opts.SHA256.IsZero() {
		in.ChecksumSHA256 = aws.String(base64.StdEncoding.EncodeToString(opts.SHA256[:]))
	}
	out, err := b.client.PutObject(ctx, in)
	if err != nil {
		return "", err
	}
	return aws.ToString(out.ETag), nil
}

// putParts leaves unconditional content to the transfer manager, which sends parts side
// by side; conditional content, which is rare, goes part by part.
func (b *Bucket) putParts(ctx context.Context, name string, content artifacts.Content, opts artifacts.PutOptions) (string, error) {
	if opts.IfAbsent || opts.IfMatch != "" {
		return b.putPartsIf(ctx, name, content, opts)
	}
	out, err := b.transfer.UploadObject(ctx, &transfermanager.UploadObjectInput{
		Bucket: &b.cfg.Bucket, Key: aws.String(b.cfg.Key(name)),
		Body: io.NewSectionReader(content, 0, content.Size()), ContentType: text(opts.MediaType),
		ServerSideEncryption: tmtypes.ServerSideEncryption(b.cfg.SSE), SSEKMSKeyID: text(b.cfg.KMSKey),
	})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.ETag), nil
}

// Delete removes an object.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.cfg.Bucket, Key: aws.String(b.cfg.Key(name))})
	err = b.cfg.Error(failure("delete", name, err))
	if errors.Is(err, artifacts.ErrNotFound) {
		return nil
	}
	return err
}

// List pages through the keys.
func (b *Bucket) List(ctx context.Context, prefix, after string, fn func(artifacts.Info) error) error {
	in := &s3.ListObjectsV2Input{Bucket: &b.cfg.Bucket, Prefix: aws.String(b.cfg.Key(prefix))}
	if after != "" {
		in.StartAfter = aws.String(b.cfg.Key(after))
	}
	pages := s3.NewListObjectsV2Paginator(b.client, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return b.cfg.Error(failure("list", prefix, err))
		}
		for _, o := range page.Contents {
			key := aws.ToString(o.Key)
			if strings.HasSuffix(key, "/") {
				continue // some stores list folders
			}
			if err := fn(artifacts.Info{Name: b.cfg.Name(key), Size: aws.ToInt64(o.Size), Modified: aws.ToTime(o.LastModified)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// source names an object as the source of a copy: every part escaped, spaces as %20.
func (b *Bucket) source(name string) *string {
	parts := strings.Split(b.cfg.Bucket+"/"+b.cfg.Key(name), "/")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(url.QueryEscape(p), "+", "%20")
	}
	return aws.String(strings.Join(parts, "/"))
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
