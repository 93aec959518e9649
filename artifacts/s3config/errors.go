package s3config

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"cxrepro/artifacts"
)

// Failure is what a client knows about a failed request: the protocol's error code (""
// when there was no answer), the HTTP status (0 likewise), and whether the request was
// a conditional write.
type Failure struct {
	Op          string
	Name        string
	Code        string
	Status      int
	Conditional bool
	Err         error
}

const (
	hintCredentials = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or a profile) to credentials that may read and write this bucket"
	hintRegion      = "name the bucket's region with ?region="
)

// Error turns a failure into the error that artifacts speaks of.
func (c Config) Error(f Failure) error {
	if f.Err == nil {
		return nil
	}
	if errors.Is(f.Err, context.Canceled) || errors.Is(f.Err, context.DeadlineExceeded) {
		return f.Err
	}
	var done *artifacts.BucketError
	if errors.As(f.Err, &done) {
		return f.Err
	}
	e := &artifacts.BucketError{Op: f.Op, Bucket: c.URL(), Object: f.Name, Class: artifacts.Unknown, Err: f.Err}
	set := func(class artifacts.Class, sentinel error, hint string) {
		e.Class, e.Hint = class, hint
		if sentinel != nil {
			e.Err = fmt.Errorf("%w: %w", sentinel, f.Err)
		}
	}
	if f.Code == "" && f.Status == 0 {
		c.noAnswer(f.Err, set)
		return e
	}
	c.answered(f, set)
	return e
}

// answered classifies a failure that the store reported.
func (c Config) answered(f Failure, set func(artifacts.Class, error, string)) {
	missing := f.Code == "NoSuchKey" || f.Code == "NotFound" || f.Code == "NoSuchUpload" || f.Code == "" && f.Status == 404
	switch {
	case f.Code == "NoSuchBucket":
		set(artifacts.Permanent, artifacts.ErrUnreachable, "create the bucket "+c.Bucket+", or correct its name, endpoint or region")
	case missing && f.Conditional, f.Code == "PreconditionFailed", f.Code == "ConditionalRequestConflict",
		f.Status == 412, f.Status == 304 && f.Conditional:
		set(artifacts.Permanent, artifacts.ErrPrecondition, "")
	case missing:
		set(artifacts.Permanent, artifacts.ErrNotFound, "")
	case f.Code == "SignatureDoesNotMatch":
		set(artifacts.Permanent, artifacts.ErrDenied, "the secret key does not belong to the access key: correct AWS_SECRET_ACCESS_KEY")
	case f.Code == "InvalidAccessKeyId", f.Code == "XAdminUserNotFound":
		set(artifacts.Permanent, artifacts.ErrDenied, "the store does not know this access key: correct AWS_ACCESS_KEY_ID")
	case f.Code == "RequestTimeTooSkewed":
		set(artifacts.Permanent, artifacts.ErrDenied, "this machine's clock is wrong: set it")
	case f.Code == "ExpiredToken" || f.Code == "InvalidToken" || f.Code == "TokenRefreshRequired":
		set(artifacts.Permanent, artifacts.ErrDenied, "the session token has run out: get new credentials")
	case f.Code == "PermanentRedirect", f.Code == "AuthorizationHeaderMalformed", f.Code == "IllegalLocationConstraintException",
		f.Status == 301, f.Status == 307:
		set(artifacts.Permanent, nil, hintRegion)
	case f.Code == "BadDigest", f.Code == "XAmzContentSHA256Mismatch", f.Code == "XAmzContentChecksumMismatch":
		set(artifacts.Permanent, artifacts.ErrDigestMismatch, "")
	case f.Code == "QuotaExceeded", f.Code == "XMinioStorageFull", f.Code == "XMinioAdminBucketQuotaExceeded", f.Status == 507:
		set(artifacts.Transient, artifacts.ErrNoSpace, "")
	case f.Code == "SlowDown", f.Code == "TooManyRequests", f.Code == "RequestTimeout", f.Status == 429:
		set(artifacts.Transient, nil, "")
	case f.Status == 401 || f.Status == 403:
		set(artifacts.Permanent, artifacts.ErrDenied, hintCredentials)
	case f.Status >= 500:
		set(artifacts.Transient, artifacts.ErrUnreachable, "")
	case f.Status >= 400:
		set(artifacts.Permanent, nil, "")
	}
}

// noAnswer classifies a failure without an answer of the store.
func (c Config) noAnswer(err error, set func(artifacts.Class, error, string)) {
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verification *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var dns *net.DNSError
	var network net.Error
	switch {
	case errors.As(err, &authority):
		set(artifacts.Permanent, artifacts.ErrUnreachable, "the store's certificate is signed by an unknown authority: name its PEM file with ?ca=")
	case errors.As(err, &host), errors.As(err, &invalid), errors.As(err, &verification):
		set(artifacts.Permanent, artifacts.ErrUnreachable, "the store's certificate does not fit its address: correct endpoint=, or path_style=true")
	case errors.As(err, &record):
		set(artifacts.Permanent, artifacts.ErrUnreachable, "the endpoint does not speak TLS: use http:// in endpoint=")
	case errors.As(err, &dns) && dns.IsNotFound:
		set(artifacts.Transient, artifacts.ErrUnreachable, "there is no such host; if the bucket's name is part of it, add path_style=true")
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		set(artifacts.Transient, artifacts.ErrUnreachable, "is the store running, and is endpoint= right?")
	}
}
