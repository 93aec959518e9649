package storetest

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/s3config"
)

// S3Bucket is what the clients of the S3 protocol offer besides a bucket.
type S3Bucket interface {
	artifacts.Bucket
	artifacts.Uploads
	Check(ctx context.Context) error
}

// RunS3 checks what only remote stores have: certificates, credentials, encryption,
// outages, unfinished uploads. Open makes a client; scheme is the client's.
func RunS3(t *testing.T, scheme string, open func(*testing.T, s3config.Config) (S3Bucket, error)) {
	s := s3suite{scheme: scheme, open: open}
	t.Run("Certificates", s.certificates)
	t.Run("Credentials", s.credentials)
	t.Run("Missing", s.missing)
	t.Run("Encryption", s.encryption)
	t.Run("OutageAndReturn", s.outage)
	t.Run("UnfinishedUploads", s.unfinished)
	t.Run("LostReply", s.lostReply)
	t.Run("Sidecar", s.sidecar)
}

type s3suite struct {
	scheme string
	open   func(*testing.T, s3config.Config) (S3Bucket, error)
}

func (s s3suite) bucket(t *testing.T, c s3config.Config) S3Bucket {
	t.Helper()
	b, err := s.open(t, c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (s s3suite) certificates(t *testing.T) {
	srv := StartS3(t, S3Options{TLS: true})
	c := srv.Config(t, s.scheme, "tls")
	b := s.bucket(t, c)
	if err := b.Check(t.Context()); err != nil {
		t.Fatalf("with its authority: %v", err)
	}
	body := pattern(9<<20, 1)
	if _, err := b.Put(t.Context(), "blobs/x", bytes.NewReader(body), artifacts.PutOptions{SHA256: artifacts.Sum(body)}); err != nil {
		t.Fatal(err)
	}
	rc, _, err := b.Open(t.Context(), "blobs/x")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(readAll(t, rc), body) {
		t.Error("other bytes over TLS")
	}
	c.CAFile = ""
	t.Setenv("AWS_CA_BUNDLE", "")
	err = s.bucket(t, c).Check(t.Context())
	wantErr(t, "without its authority", err, artifacts.ErrUnreachable)
	if artifacts.ClassOf(err) != artifacts.Permanent || !strings.Contains(artifacts.HintOf(err), "?ca=") {
		t.Errorf("class %s, hint %q", artifacts.ClassOf(err), artifacts.HintOf(err))
	}
	c.CAFile = filepath.Join(t.TempDir(), "none.pem")
	if _, err := s.open(t, c); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing ca file: %v", err)
	}
	if err := os.WriteFile(c.CAFile, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.open(t, c); err == nil || !strings.Contains(err.Error(), "PEM") {
		t.Errorf("an empty ca file: %v", err)
	}
}

// credentials: wrong ones are permanent, say what to correct, and never print.
func (s s3suite) credentials(t *testing.T) {
	srv := StartS3(t, S3Options{})
	for name, c := range map[string]struct {
		creds s3config.Credentials
		hint  string
	}{
		"secret": {s3config.Credentials{AccessKey: srv.AccessKey, SecretKey: "planted-secret"}, "AWS_SECRET_ACCESS_KEY"},
		"access": {s3config.Credentials{AccessKey: "NOBODY", SecretKey: "planted-secret"}, "AWS_ACCESS_KEY_ID"},
	} {
		cfg := srv.Config(t, s.scheme, "creds")
		cfg.Credentials = &c.creds
		b := s.bucket(t, cfg)
		_, err := b.Put(t.Context(), "pins/x", strings.NewReader("x"), artifacts.PutOptions{})
		wantErr(t, name, err, artifacts.ErrDenied)
		if artifacts.ClassOf(err) != artifacts.Permanent || !strings.Contains(artifacts.HintOf(err), c.hint) {
			t.Errorf("%s: class %s, hint %q", name, artifacts.ClassOf(err), artifacts.HintOf(err))
		}
		_, _, err2 := b.Open(t.Context(), "pins/x")
		_, err3 := b.Stat(t.Context(), "pins/x")
		for what, e := range map[string]error{"put": err, "open": err2, "stat": err3, "check": b.Check(t.Context())} {
			if e == nil || artifacts.ClassOf(e) != artifacts.Permanent || strings.Contains(e.Error(), "planted-secret") {
				t.Errorf("%s %s: %v", name, what, e)
			}
		}
	}
}

func (s s3suite) missing(t *testing.T) {
	srv := StartS3(t, S3Options{})
	c := srv.Config(t, s.scheme, "x")
	c.Bucket = "another-bucket"
	b := s.bucket(t, c)
	err := b.Check(t.Context())
	wantErr(t, "check of a missing bucket", err, artifacts.ErrUnreachable)
	if artifacts.ClassOf(err) != artifacts.Permanent || !strings.Contains(artifacts.HintOf(err), "another-bucket") {
		t.Errorf("class %s, hint %q", artifacts.ClassOf(err), artifacts.HintOf(err))
	}
	if _, _, err := b.Open(t.Context(), "blobs/x"); errors.Is(err, artifacts.ErrNotFound) {
		t.Errorf("a missing bucket reads as a missing object: %v", err)
	}
}

// encryption looks at the headers that leave the client.
func (s s3suite) encryption(t *testing.T) {
	srv := StartS3(t, S3Options{})
	proxy := NewProxy(t, srv.Endpoint)
	c := srv.Config(t, s.scheme, "sse")
	put(t, s.bucket(t, c), "tmp/from", "x", artifacts.PutOptions{})
	proxy.Answer(func(r *http.Request) int {
		if r.Method == http.MethodHead {
			return 0
		}
		return http.StatusBadRequest
	})
	for _, want := range []struct{ sse, key string }{{s3config.SSEKMS, "key-1"}, {s3config.SSEAES256, ""}, {"", ""}} {
		c.Endpoint, c.SSE, c.KMSKey = proxy.Endpoint, want.sse, want.key
		b := s.bucket(t, c)
		proxy.Seen()
		body := pattern(1<<20, 1)
		_, one := b.Put(t.Context(), "blobs/a", bytes.NewReader(body), artifacts.PutOptions{})
		_, parts := b.Put(t.Context(), "blobs/b", bytes.NewReader(body), artifacts.PutOptions{Multipart: artifacts.MultipartAlways})
		if one == nil || parts == nil || b.Copy(t.Context(), "tmp/from", "blobs/c") == nil {
			t.Fatal("a refused request succeeded")
		}
		checked := 0
		for _, r := range proxy.Seen() {
			if r.Method == http.MethodHead || r.Method == http.MethodGet {
				continue
			}
			checked++
			sse, key := r.Header.Get("X-Amz-Server-Side-Encryption"), r.Header.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id")
			if sse != want.sse || key != want.key {
				t.Errorf("%s %s carries %q and key %q, want %q and %q", r.Method, r.URL, sse, key, want.sse, want.key)
			}
		}
		if checked != 3 {
			t.Errorf("%d writing requests, want put, begin of an upload, copy", checked)
		}
	}
}

// outage: a store that is gone is transient and unreachable, and works when it is back.
func (s s3suite) outage(t *testing.T) {
	srv := StartS3(t, S3Options{})
	b := s.bucket(t, srv.Config(t, s.scheme, "outage"))
	put(t, b, "pins/x", "before", artifacts.PutOptions{})
	srv.Kill()
	_, err := b.Put(t.Context(), "pins/x", strings.NewReader("meanwhile"), artifacts.PutOptions{})
	wantErr(t, "put", err, artifacts.ErrUnreachable)
	_, err = b.Stat(t.Context(), "pins/x")
	wantErr(t, "stat", err, artifacts.ErrUnreachable)
	if artifacts.ClassOf(err) != artifacts.Transient {
		t.Errorf("class %s", artifacts.ClassOf(err))
	}
	if !strings.Contains(err.Error(), b.URL()) {
		t.Errorf("%v does not name the store", err)
	}
	srv.Restart(t)
	if got := read(t, b, "pins/x"); got != "before" {
		t.Errorf("after the outage: %q", got)
	}
	put(t, b, "pins/x", "after", artifacts.PutOptions{})
}

// unfinished leaves an upload that could neither be completed nor aborted: gc finds,
// counts and aborts it.
func (s s3suite) unfinished(t *testing.T) {
	srv := StartS3(t, S3Options{})
	proxy := NewProxy(t, srv.Endpoint)
	proxy.Answer(func(r *http.Request) int {
		if r.URL.Query().Has("uploadId") && (r.Method == http.MethodPost || r.Method == http.MethodDelete) {
			return http.StatusBadRequest
		}
		return 0
	})
	c := srv.Config(t, s.scheme, "unfinished")
	c.Endpoint = proxy.Endpoint
	body := pattern(9<<20, 5)
	opts := artifacts.PutOptions{Multipart: artifacts.MultipartAlways, IfAbsent: true}
	if _, err := s.bucket(t, c).Put(t.Context(), "tmp/x", bytes.NewReader(body), opts); err == nil {
		t.Fatal("the upload was completed")
	}
	b := s.bucket(t, srv.Config(t, s.scheme, "unfinished"))
	h := NewHost()
	r, err := artifacts.New(b, artifacts.Options{Host: h, Remote: true})
	if err != nil {
		t.Fatal(err)
	}
	young, err := r.GC(t.Context(), artifacts.GCOptions{Apply: true})
	if err != nil || young.Uploads.Count != 0 {
		t.Fatalf("a young upload: %+v, %v", young.Uploads, err)
	}
	h.Advance(48 * time.Hour)
	dry, err := r.GC(t.Context(), artifacts.GCOptions{})
	if err != nil || dry.Uploads != (artifacts.Pile{Count: 1, Bytes: 9 << 20}) {
		t.Fatalf("dry run: %+v, %v", dry.Uploads, err)
	}
	if got, err := r.GC(t.Context(), artifacts.GCOptions{Apply: true}); err != nil || got.Uploads != dry.Uploads {
		t.Fatalf("gc: %+v, %v", got.Uploads, err)
	}
	n := 0
	if err := b.ListUploads(t.Context(), func(artifacts.Upload) error { n++; return nil }); err != nil || n != 0 {
		t.Errorf("%d uploads left, %v", n, err)
	}
}

// lostReply: a conditional write whose reply is lost was done once. The client's own
// retry is refused, and the repository recognises its own bytes.
func (s s3suite) lostReply(t *testing.T) {
	srv := StartS3(t, S3Options{})
	proxy := NewProxy(t, srv.Endpoint)
	c := srv.Config(t, s.scheme, "lost")
	c.Endpoint = proxy.Endpoint
	b := s.bucket(t, c)
	sem := b.Semantics()
	sem.ConditionalCreate, sem.ConditionalSwap, sem.VerifiedPut = true, true, true
	r, err := artifacts.New(b, artifacts.Options{Host: NewHost(), Semantics: &sem})
	if err != nil {
		t.Fatal(err)
	}
	loseOne := func(part string) {
		lost := false
		proxy.After(func(r *http.Request) int {
			if lost || r.Method != http.MethodPut || !strings.Contains(r.URL.Path, part) {
				return 0
			}
			lost = true
			return http.StatusInternalServerError
		})
	}
	_, k := key(t, "lost", 1)
	loseOne("/claims/")
	claim, err := r.Claim(t.Context(), k, owner(1, 1), time.Minute)
	if err != nil || claim.Fence != 1 {
		t.Fatalf("claim: %+v, %v", claim, err)
	}
	rec := record(t, r, k, `{}`)
	loseOne("/index/")
	if got, err := r.CommitClaimed(t.Context(), claim, rec); err != nil || !got.Equal(rec) {
		t.Fatalf("commit: %+v, %v", got, err)
	}
}

// sidecar runs the conditions on a server that keeps metadata in files.
func (s s3suite) sidecar(t *testing.T) {
	srv := StartS3(t, S3Options{Sidecar: true})
	b := s.bucket(t, srv.Config(t, s.scheme, "sidecar"))
	report, err := artifacts.Probe(t.Context(), b, NewHost(), artifacts.ProbeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Checks {
		if c.Verdict != artifacts.VerdictKept {
			t.Errorf("%s: %s %s", c.Name, c.Verdict, c.Detail)
		}
	}
	put(t, b, "index/a", "x", artifacts.PutOptions{})
	if got := names(t, b, "", ""); !slices.Equal(got, []string{"index/a"}) {
		t.Errorf("store holds %q", got)
	}
}

// EnvEndpoint returns the configuration of the store that the environment names, for
// running the suite against MinIO, AWS or another server: S3_ENDPOINT (https://host),
// S3_BUCKET, and optionally S3_REGION, S3_CA, S3_ACCESS_KEY and S3_SECRET_KEY; without
// keys the client's own chain is asked. It skips the test when S3_ENDPOINT is not set.
func EnvEndpoint(t *testing.T, scheme, prefix string) s3config.Config {
	t.Helper()
	endpoint := os.Getenv("S3_ENDPOINT")
	if endpoint == "" {
		t.Skip("S3_ENDPOINT is not set")
	}
	c := s3config.Config{Scheme: scheme, Bucket: os.Getenv("S3_BUCKET"), Prefix: prefix, Endpoint: endpoint,
		Region: os.Getenv("S3_REGION"), CAFile: os.Getenv("S3_CA"), PathStyle: true}
	if key := os.Getenv("S3_ACCESS_KEY"); key != "" {
		c.Credentials = &s3config.Credentials{AccessKey: key, SecretKey: s3config.Secret(os.Getenv("S3_SECRET_KEY"))}
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return c
}
