package storeurl_test

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/s3config"
	"cxrepro/artifacts/storetest"
	"cxrepro/artifacts/storeurl"
)

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a b")
	r, err := storeurl.Open(t.Context(), path, storeurl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ref, err := r.Put(t.Context(), []byte("x"), "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	again, err := storeurl.Open(t.Context(), "file://"+(&url.URL{Path: path}).EscapedPath(), storeurl.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Get(t.Context(), ref); err != nil {
		t.Error(err)
	}
	if _, err := storeurl.Open(t.Context(), filepath.Join(dir, "none"), storeurl.Options{ReadOnly: true}); !errors.Is(err, artifacts.ErrUnreachable) {
		t.Errorf("a missing folder opened for reading: %v", err)
	}
	if _, err := storeurl.Open(t.Context(), "mem://x", storeurl.Options{}); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "file://relative", "ftp://x", "s3://u:planted@bucket"} {
		if _, err := storeurl.Open(t.Context(), bad, storeurl.Options{}); err == nil || strings.Contains(err.Error(), "planted") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestRemote opens one server's bucket through both clients: what one wrote, the other
// reads.
func TestRemote(t *testing.T) {
	srv := storetest.StartS3(t, storetest.S3Options{})
	opts := storeurl.Options{Credentials: &s3config.Credentials{AccessKey: srv.AccessKey, SecretKey: srv.SecretKey}}
	var refs []artifacts.Ref
	for _, scheme := range []string{"s3", "minio"} {
		r, err := storeurl.Open(t.Context(), srv.Address(scheme, "shared"), opts)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Fallbacks()) != 0 {
			t.Errorf("%s: fallbacks %q", scheme, r.Fallbacks())
		}
		ref, err := r.Put(t.Context(), []byte("by "+scheme), "text/plain")
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
		for _, ref := range refs {
			if _, err := r.Get(t.Context(), ref); err != nil {
				t.Errorf("%s reads %s: %v", scheme, ref, err)
			}
		}
		report, err := storeurl.Probe(t.Context(), srv.Address(scheme, "shared"), opts, artifacts.ProbeOptions{})
		if err != nil || report.Settings["region"] != srv.Region || report.Settings["path_style"] != "true" || report.Settings["tls"] != "off" {
			t.Errorf("%s: %+v, %v", scheme, report.Settings, err)
		}
		wrong := storeurl.Options{Credentials: &s3config.Credentials{AccessKey: srv.AccessKey, SecretKey: "wrong"}}
		if _, err := storeurl.Open(t.Context(), srv.Address(scheme, "shared"), wrong); !errors.Is(err, artifacts.ErrDenied) {
			t.Errorf("%s with a wrong secret: %v", scheme, err)
		}
	}
}

// TestAttestation: bytes of a class leave for a remote store only if its address attests
// the class, and are refused before anything is sent.
func TestAttestation(t *testing.T) {
	srv := storetest.StartS3(t, storetest.S3Options{})
	opts := storeurl.Options{Credentials: &s3config.Credentials{AccessKey: srv.AccessKey, SecretKey: srv.SecretKey}}
	plain, err := storeurl.Open(t.Context(), srv.Address("s3", "a"), opts)
	if err != nil {
		t.Fatal(err)
	}
	secret := []byte("bytes of a credentialed class")
	_, err = plain.ForClass("credentialed").Put(t.Context(), secret, "text/plain")
	if !errors.Is(err, artifacts.ErrClassRefused) || artifacts.ClassOf(err) != artifacts.Permanent || !strings.Contains(artifacts.HintOf(err), "attest=credentialed") {
		t.Errorf("unattested: %v, hint %q", err, artifacts.HintOf(err))
	}
	if ok, err := plain.Has(t.Context(), artifacts.Sum(secret)); ok || err != nil {
		t.Errorf("the bytes are there: %t, %v", ok, err)
	}
	if _, err := plain.Put(t.Context(), []byte("no class"), "text/plain"); err != nil {
		t.Errorf("bytes without a class: %v", err)
	}
	attested, err := storeurl.Open(t.Context(), srv.Address("s3", "a")+"&attest=credentialed", opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := attested.ForClass("credentialed").Put(t.Context(), secret, "text/plain"); err != nil {
		t.Errorf("attested: %v", err)
	}
	if _, err := attested.ForClass("other").Put(t.Context(), secret, "text/plain"); !errors.Is(err, artifacts.ErrClassRefused) {
		t.Errorf("another class: %v", err)
	}
	local, err := storeurl.Open(t.Context(), t.TempDir(), storeurl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := local.ForClass("credentialed").Put(t.Context(), secret, "text/plain"); err != nil {
		t.Errorf("a local store: %v", err)
	}
}
