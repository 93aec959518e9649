package storeurl

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/localhost"
	"cxrepro/artifacts/memstore"
)

// Options say how to open a store. The zero value opens it for work.
type Options struct {
	// Host is the machine; nil means this one.
	Host artifacts.Host
	// Durability of a folder store; zero means DurabilityProcess.
	Durability dirstore.Durability
	// ReadOnly is for commands that only look: a missing folder is not made, and a
	// remote store is not probed.
	ReadOnly bool
}

// Open opens the store that address names.
//
// Errors: an address that cannot be read; ErrUnreachable, ErrDenied, ErrUnsafeStore
// from the store.
func Open(ctx context.Context, address string, opts Options) (*artifacts.Repository, error) {
	if opts.Host == nil {
		opts.Host = localhost.New()
	}
	bucket, ropts, err := OpenBucket(ctx, address, opts)
	if err != nil {
		return nil, err
	}
	return artifacts.New(bucket, ropts)
}

// OpenBucket opens the bucket alone and says how a repository over it is configured.
func OpenBucket(_ context.Context, address string, opts Options) (artifacts.Bucket, artifacts.Options, error) {
	ropts := artifacts.Options{Host: opts.Host}
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		if address == "" {
			return nil, ropts, fmt.Errorf("store address is empty: want a folder, file://, mem://, s3:// or minio://")
		}
		return openFolder(address, opts, ropts)
	}
	switch scheme {
	case "file":
		path, err := url.PathUnescape(rest)
		if err != nil || !filepath.IsAbs(path) {
			return nil, ropts, fmt.Errorf("store %q: want file:///absolute/path", address)
		}
		return openFolder(path, opts, ropts)
	case "mem":
		return memstore.New(rest), ropts, nil
	}
	return nil, ropts, fmt.Errorf("store %q: scheme %q is not known; want a folder, file://, mem://, s3:// or minio://", address, scheme)
}

func openFolder(path string, opts Options, ropts artifacts.Options) (artifacts.Bucket, artifacts.Options, error) {
	b, err := dirstore.Open(path, dirstore.Options{Durability: opts.Durability, MustExist: opts.ReadOnly})
	if err != nil {
		return nil, ropts, err
	}
	return b, ropts, nil
}
