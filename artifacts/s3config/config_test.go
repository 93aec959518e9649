package s3config_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/s3config"
)

func TestParse(t *testing.T) {
	c, err := s3config.Parse("s3://data-1/cxr/v1/?endpoint=https://s3.example.org:9000/&region=eu-1&ca=/etc/ca.pem&sse=aws:kms&kms_key=k1&attest=credentialed,synthetic")
	if err != nil {
		t.Fatal(err)
	}
	if c.URL() != "s3://data-1/cxr/v1" || c.Key("blobs/x") != "cxr/v1/blobs/x" || c.Name("cxr/v1/blobs/x") != "blobs/x" ||
		!c.PathStyle || c.Region != "eu-1" || c.SSE != s3config.SSEKMS || len(c.Attest) != 2 {
		t.Errorf("%+v", c)
	}
	plain, err := s3config.Parse("s3://bucket")
	if err != nil || plain.PathStyle || plain.Key("x") != "x" {
		t.Errorf("%+v, %v", plain, err)
	}
	virtual, err := s3config.Parse("minio://bucket?endpoint=http://h:1&path_style=false")
	if err != nil || virtual.PathStyle {
		t.Errorf("%+v, %v", virtual, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for address, says := range map[string]string{
		"s3://key:planted@bucket/p":               "environment",
		"s3://key:planted@bucket:x%zz/p":          "address",
		"s3://bucket?endpoint=http://k:planted@h": "endpoint",
		"s3://bucket?secret_key=planted":          "not known",
		"s3://bucket?region=a&region=b":           "2 times",
		"s3://BUCKET":                             "bucket",
		"s3://b":                                  "bucket",
		"minio://bucket":                          "endpoint is missing",
		"s3://bucket?endpoint=h:9000":             "endpoint",
		"s3://bucket?endpoint=https://h/path":     "endpoint",
		"s3://bucket?endpoint=http://h&ca=/x":     "ca",
		"s3://bucket?sse=des":                     "sse",
		"s3://bucket?kms_key=k":                   "kms_key",
		"s3://bucket?path_style=perhaps":          "path_style",
		"s3://bucket?attest=Credentialed":         "attest",
		"s3://bucket/a/../b":                      "prefix",
		"ftp://bucket":                            "scheme",
	} {
		_, err := s3config.Parse(address)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want a word on %q", address, err, says)
		}
		if err != nil && strings.Contains(err.Error(), "planted") {
			t.Errorf("%s: the message shows the secret: %v", address, err)
		}
	}
}

func TestSecretNeverPrints(t *testing.T) {
	c := s3config.Config{Credentials: &s3config.Credentials{AccessKey: "a", SecretKey: "planted", SessionToken: "planted"}}
	var b strings.Builder
	fmt.Fprintf(&b, "%v %+v %#v %s %q", c.Credentials, *c.Credentials, *c.Credentials, c.Credentials.SecretKey, c.Credentials.SecretKey)
	j, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	b.Write(j)
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "secret", c.Credentials.SecretKey, "all", *c.Credentials)
	fmt.Fprint(&b, c.Settings())
	if strings.Contains(b.String(), "planted") {
		t.Errorf("it prints: %s", b.String())
	}
	if c.Credentials.SecretKey.Reveal() != "planted" {
		t.Error("the secret is lost")
	}
}

// TestErrors is the table of what the protocol's answers mean.
func TestErrors(t *testing.T) {
	c := s3config.Config{Scheme: "s3", Bucket: "bucket"}
	cause := errors.New("cause")
	for _, tc := range []struct {
		name     string
		f        s3config.Failure
		sentinel error
		class    artifacts.Class
		hint     string
	}{
		{"missing object", s3config.Failure{Code: "NoSuchKey", Status: 404}, artifacts.ErrNotFound, artifacts.Permanent, ""},
		{"missing, head", s3config.Failure{Status: 404}, artifacts.ErrNotFound, artifacts.Permanent, ""},
		{"swap of a missing object", s3config.Failure{Code: "NoSuchKey", Status: 404, Conditional: true}, artifacts.ErrPrecondition, artifacts.Permanent, ""},
		{"exists", s3config.Failure{Code: "PreconditionFailed", Status: 412, Conditional: true}, artifacts.ErrPrecondition, artifacts.Permanent, ""},
		{"race", s3config.Failure{Code: "ConditionalRequestConflict", Status: 409, Conditional: true}, artifacts.ErrPrecondition, artifacts.Permanent, ""},
		{"304 for 412", s3config.Failure{Status: 304, Conditional: true}, artifacts.ErrPrecondition, artifacts.Permanent, ""},
		{"no bucket", s3config.Failure{Code: "NoSuchBucket", Status: 404}, artifacts.ErrUnreachable, artifacts.Permanent, "create the bucket"},
		{"wrong secret", s3config.Failure{Code: "SignatureDoesNotMatch", Status: 403}, artifacts.ErrDenied, artifacts.Permanent, "AWS_SECRET_ACCESS_KEY"},
		{"no right", s3config.Failure{Code: "AccessDenied", Status: 403}, artifacts.ErrDenied, artifacts.Permanent, "AWS_ACCESS_KEY_ID"},
		{"clock", s3config.Failure{Code: "RequestTimeTooSkewed", Status: 403}, artifacts.ErrDenied, artifacts.Permanent, "clock"},
		{"region", s3config.Failure{Code: "PermanentRedirect", Status: 301}, nil, artifacts.Permanent, "region"},
		{"checksum", s3config.Failure{Code: "BadDigest", Status: 400}, artifacts.ErrDigestMismatch, artifacts.Permanent, ""},
		{"full", s3config.Failure{Code: "XMinioStorageFull", Status: 507}, artifacts.ErrNoSpace, artifacts.Transient, ""},
		{"throttled", s3config.Failure{Code: "SlowDown", Status: 503}, nil, artifacts.Transient, ""},
		{"broken", s3config.Failure{Code: "InternalError", Status: 500}, artifacts.ErrUnreachable, artifacts.Transient, ""},
		{"bad request", s3config.Failure{Code: "InvalidArgument", Status: 400}, nil, artifacts.Permanent, ""},
		{"refused connection", s3config.Failure{Err: &url.Error{Op: "Get", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}}, artifacts.ErrUnreachable, artifacts.Transient, "running"},
		{"no such host", s3config.Failure{Err: &net.DNSError{Err: "no such host", IsNotFound: true}}, artifacts.ErrUnreachable, artifacts.Transient, "path_style"},
		{"unknown authority", s3config.Failure{Err: &url.Error{Op: "Get", Err: x509.UnknownAuthorityError{}}}, artifacts.ErrUnreachable, artifacts.Permanent, "?ca="},
		{"anything else", s3config.Failure{}, nil, artifacts.Unknown, ""},
	} {
		tc.f.Op, tc.f.Name = "put", "index/x"
		if tc.f.Err == nil {
			tc.f.Err = cause
		}
		err := c.Error(tc.f)
		if tc.sentinel != nil && !errors.Is(err, tc.sentinel) || artifacts.ClassOf(err) != tc.class || !strings.Contains(artifacts.HintOf(err), tc.hint) {
			t.Errorf("%s: %v, class %s, hint %q", tc.name, err, artifacts.ClassOf(err), artifacts.HintOf(err))
		}
		if !errors.Is(err, tc.f.Err) || !strings.Contains(err.Error(), "index/x") || !strings.Contains(err.Error(), "s3://bucket") {
			t.Errorf("%s: %v lacks cause, object or store", tc.name, err)
		}
	}
	if c.Error(s3config.Failure{}) != nil {
		t.Error("no error became one")
	}
	if err := c.Error(s3config.Failure{Err: context.Canceled}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}
