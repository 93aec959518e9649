package miniostore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/encrypt"

	"cxrepro/artifacts"
	"cxrepro/artifacts/s3config"
)

// Sizes in bytes.
const (
	singleMax = 16 << 20 // largest content in one request
	partSize  = 8 << 20
	mostParts = 10_000
)

// attempts is how often the client sends a request that fails for a passing reason.
const attempts = 4

// Bucket is one bucket, or a prefix of one.
type Bucket struct {
	cfg   s3config.Config
	creds *credentials.Credentials
	core  *minio.Core
	sse   encrypt.ServerSide // nil for none
}

var (
	_ artifacts.Bucket  = (*Bucket)(nil)
	_ artifacts.Uploads = (*Bucket)(nil)
)

// Open makes a client for cfg. It sends nothing; Check does.
func Open(cfg s3config.Config) (*Bucket, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	transport, err := cfg.Transport()
	if err != nil {
		return nil, err
	}
	endpoint, err := url.Parse(cfg.Endpoint)
	if err != nil || endpoint.Host == "" {
		return nil, fmt.Errorf("open store %s: endpoint is missing; add ?endpoint=https://host:port", cfg.URL())
	}
	b := &Bucket{cfg: cfg, creds: chain(cfg)}
	opts := &minio.Options{Creds: b.creds, Secure: endpoint.Scheme == "https", Transport: transport,
		Region: cfg.Region, BucketLookup: minio.BucketLookupDNS, MaxRetries: attempts}
	if cfg.PathStyle {
		opts.BucketLookup = minio.BucketLookupPath
	}
	if opts.Region == "" {
		opts.Region = "us-east-1" // otherwise the client asks for it before every first request
	}
	switch cfg.SSE {
	case s3config.SSEAES256:
		b.sse = encrypt.NewSSE()
	case s3config.SSEKMS:
		if b.sse, err = encrypt.NewSSEKMS(cfg.KMSKey, nil); err != nil {
			return nil, fmt.Errorf("open store %s: %w", cfg.URL(), err)
		}
	}
	if b.core, err = minio.NewCore(endpoint.Host, opts); err != nil {
		return nil, fmt.Errorf("open store %s: %w", cfg.URL(), err)
	}
	return b, nil
}

func chain(cfg s3config.Config) *credentials.Credentials {
	if c := cfg.Credentials; c != nil {
		return credentials.NewStaticV4(c.AccessKey, c.SecretKey.Reveal(), c.SessionToken.Reveal())
	}
	return credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{}, &credentials.EnvMinio{}, &credentials.FileAWSCredentials{}, &credentials.FileMinioClient{}, &credentials.IAM{},
	})
}

// Check asks whether there are credentials and whether the bucket is there and may be
// used.
func (b *Bucket) Check(ctx context.Context) error {
	v, err := b.creds.GetWithContext(b.core.CredContext())
	if err == nil && v.AccessKeyID == "" {
		err = errors.New("no credentials found")
	}
	if err != nil {
		return b.cfg.Error(s3config.Failure{Op: "open", Code: "NoCredentials", Status: http.StatusForbidden, Err: err})
	}
	// A HEAD would be cheaper, but its refusal says nothing.
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	first := <-b.core.Client.ListObjects(ctx, b.cfg.Bucket, minio.ListObjectsOptions{Prefix: b.cfg.Key(""), Recursive: true, MaxKeys: 1})
	return b.cfg.Error(failure("open", "", first.Err))
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
	rc, oi, _, err := b.core.GetObject(ctx, b.cfg.Bucket, b.cfg.Key(name), minio.GetObjectOptions{})
	if err != nil {
		return nil, artifacts.Info{}, b.cfg.Error(failure("open", name, err))
	}
	return &body{rc, b, name}, info(name, oi), nil
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
func (b *Bucket) Read(ctx context.Context, name string) (data []byte, oi artifacts.Info, err error) {
	rc, oi, err := b.Open(ctx, name)
	if err != nil {
		return nil, oi, err
	}
	data, err = io.ReadAll(rc)
	return data, oi, errors.Join(err, rc.Close())
}

// Stat describes an object.
func (b *Bucket) Stat(ctx context.Context, name string) (artifacts.Info, error) {
	if err := ctx.Err(); err != nil {
		return artifacts.Info{}, err
	}
	oi, err := b.core.StatObject(ctx, b.cfg.Bucket, b.cfg.Key(name), minio.StatObjectOptions{})
	if err != nil {
		return artifacts.Info{}, b.cfg.Error(failure("stat", name, err))
	}
	return info(name, oi), nil
}

func info(name string, oi minio.ObjectInfo) artifacts.Info {
	return artifacts.Info{Name: name, Size: oi.Size, Modified: oi.LastModified, Version: oi.ETag}
}

// Delete removes an object.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := b.core.RemoveObject(ctx, b.cfg.Bucket, b.cfg.Key(name), minio.RemoveObjectOptions{})
	err = b.cfg.Error(failure("delete", name, err))
	if errors.Is(err, artifacts.ErrNotFound) {
		return nil
	}
	return err
}

// Copy copies an object inside the store, in parts where it is large.
func (b *Bucket) Copy(ctx context.Context, from, to string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := b.core.ComposeObject(ctx,
		minio.CopyDestOptions{Bucket: b.cfg.Bucket, Object: b.cfg.Key(to), Encryption: b.sse},
		minio.CopySrcOptions{Bucket: b.cfg.Bucket, Object: b.cfg.Key(from)})
	return b.cfg.Error(failure("copy", from, err))
}

// List pages through the keys. The client fetches ahead on its own; it is stopped when
// fn ends the listing.
func (b *Bucket) List(ctx context.Context, prefix, after string, fn func(artifacts.Info) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	opts := minio.ListObjectsOptions{Prefix: b.cfg.Key(prefix), Recursive: true}
	if after != "" {
		opts.StartAfter = b.cfg.Key(after)
	}
	for oi := range b.core.Client.ListObjects(ctx, b.cfg.Bucket, opts) {
		if oi.Err != nil {
			return b.cfg.Error(failure("list", prefix, oi.Err))
		}
		if strings.HasSuffix(oi.Key, "/") {
			continue // some stores list folders
		}
		if err := fn(info(b.cfg.Name(oi.Key), oi)); err != nil {
			return err
		}
	}
	return ctx.Err()
}
