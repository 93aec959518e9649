package storeurl

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/localhost"
	"cxrepro/artifacts/memstore"
	"cxrepro/artifacts/miniostore"
	"cxrepro/artifacts/s3config"
	"cxrepro/artifacts/s3store"
)

// Options say how to open a store. The zero value opens it for work.
type Options struct {
	// Host is the machine; nil means this one.
	Host artifacts.Host
	// Durability of a folder store; zero means DurabilityProcess.
	Durability dirstore.Durability
	// ReadOnly is for commands that only look: a missing folder is not made, and a
	// remote store is not probed, so nothing is written.
	ReadOnly bool
	// Credentials replace the client's own chain. They never come from an address.
	Credentials *s3config.Credentials
}

// Store is a bucket with how a repository over it is configured.
type Store struct {
	Bucket artifacts.Bucket
	Remote bool
	Attest artifacts.Attestation
	// Settings lists, for people, how a remote store is reached; nil for the others.
	Settings map[string]string

	check func(context.Context) error
	host  artifacts.Host
}

// AddressError reports an address that cannot be read: nothing was sent anywhere.
type AddressError struct{ Err error }

// Error is the cause's text, which names what is wrong and what there is instead.
func (e *AddressError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *AddressError) Unwrap() error { return e.Err }

// Open opens the store that address names and returns a repository over it.
//
// A remote store is asked for the bucket and, unless ReadOnly, probed: what it breaks is
// replaced by a fallback that Repository.Fallbacks names, or it is refused.
//
// Errors: *AddressError; ErrUnreachable, ErrDenied, ErrUnsafeStore.
func Open(ctx context.Context, address string, opts Options) (*artifacts.Repository, error) {
	s, err := Resolve(ctx, address, opts)
	if err != nil {
		return nil, err
	}
	ro := artifacts.Options{Host: s.host, Remote: s.Remote, Attestation: s.Attest}
	if s.Remote {
		if err := s.check(ctx); err != nil {
			return nil, err
		}
		if !opts.ReadOnly {
			report, err := artifacts.Probe(ctx, s.Bucket, s.host, artifacts.ProbeOptions{})
			if err != nil {
				return nil, err
			}
			ro.Semantics = &report.Semantics
		}
	}
	return artifacts.New(s.Bucket, ro)
}

// Probe opens the store and measures its semantics; see artifacts.Probe. The report is
// worth showing also beside an error.
func Probe(ctx context.Context, address string, opts Options, po artifacts.ProbeOptions) (artifacts.Report, error) {
	s, err := Resolve(ctx, address, opts)
	if err != nil {
		return artifacts.Report{}, err
	}
	if s.check != nil {
		if err := s.check(ctx); err != nil {
			return artifacts.Report{Store: s.Bucket.URL(), Settings: s.Settings}, err
		}
	}
	report, err := artifacts.Probe(ctx, s.Bucket, s.host, po)
	report.Settings = s.Settings
	return report, err
}

// Resolve reads address and makes the bucket's client. It sends nothing to a remote
// store; a folder is made unless ReadOnly.
func Resolve(ctx context.Context, address string, opts Options) (Store, error) {
	s := Store{host: opts.Host}
	if s.host == nil {
		s.host = localhost.New()
	}
	scheme, rest, ok := strings.Cut(address, "://")
	switch {
	case address == "":
		return s, &AddressError{errors.New("store address is empty: want a folder, file://, mem://, s3:// or minio://")}
	case !ok:
		return s.folder(address, opts)
	case scheme == "file":
		path, err := url.PathUnescape(rest)
		if err != nil || !filepath.IsAbs(path) {
			return s, &AddressError{fmt.Errorf("store %q: want file:///absolute/path", address)}
		}
		return s.folder(path, opts)
	case scheme == "mem":
		s.Bucket = memstore.New(rest)
		return s, nil
	case scheme == "s3", scheme == "minio":
		return s.remote(ctx, address, opts)
	}
	return s, &AddressError{fmt.Errorf("store scheme %q is not known; want a folder, file://, mem://, s3:// or minio://", scheme)}
}

func (s Store) folder(path string, opts Options) (Store, error) {
	b, err := dirstore.Open(path, dirstore.Options{Durability: opts.Durability, MustExist: opts.ReadOnly})
	if err != nil {
		return s, err
	}
	s.Bucket = b
	return s, nil
}

func (s Store) remote(ctx context.Context, address string, opts Options) (Store, error) {
	cfg, err := s3config.Parse(address)
	if err != nil {
		return s, &AddressError{err}
	}
	cfg.Credentials = opts.Credentials
	s.Remote, s.Settings = true, cfg.Settings()
	s.Attest = artifacts.Attestation{Classes: cfg.Attest}
	if cfg.Scheme == "s3" {
		b, err := s3store.Open(ctx, cfg)
		if err != nil {
			return s, err
		}
		s.Bucket, s.check = b, b.Check
		return s, nil
	}
	b, err := miniostore.Open(cfg)
	if err != nil {
		return s, err
	}
	s.Bucket, s.check = b, b.Check
	return s, nil
}
