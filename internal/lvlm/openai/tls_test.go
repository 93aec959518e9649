package openai

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/wire/wiretest"
)

// TestMain trusts the certificate of the tests' TLS servers, the way an institution's own
// authority is trusted.
func TestMain(m *testing.M) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	dir, err := os.MkdirTemp("", "ca")
	if err != nil {
		panic(err)
	}
	path := filepath.Join(dir, "ca.pem")
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	s.Close()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		panic(err)
	}
	_ = os.Setenv("SSL_CERT_FILE", path)
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// TestHTTP2: the way to a cloud: encrypted, one connection, streams that break by themselves.
func TestHTTP2(t *testing.T) {
	for name, c := range map[string]struct {
		answer  http.HandlerFunc
		outcome lvlm.Outcome
		class   lvlm.Class
		detail  string
	}{
		"fine": {func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor != 2 || r.ContentLength <= 0 {
				t.Errorf("%s with length %d", r.Proto, r.ContentLength)
			}
			_, _ = io.Copy(io.Discard, r.Body)
			wiretest.Respond(200, fine)(w, r)
		}, lvlm.Answered, "", ""},
		"throttled before the body is read": {func(w http.ResponseWriter, r *http.Request) { wiretest.Respond(429, `{}`, "Retry-After", "3")(w, r) }, "", lvlm.Throttled, ""},
		"stream reset":                      {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "", lvlm.Transient, "connection broken"},
		"stream reset in the body": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"id":`)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "", lvlm.Transient, "connection broken"},
		"stalls": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "", lvlm.Transient, "no complete reply within 2s"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(c.answer)
			s.EnableHTTP2 = true
			s.Config.ErrorLog = nil
			s.StartTLS()
			defer s.Close()
			o := Options{Endpoint: "e", URL: s.URL, Model: "m", Key: lvlm.NewSecret(plantedKey), Timeout: 2 * time.Second, Concurrency: 2}
			got, err := client(t, o).Ask(context.Background(), request(pictures.Ref(make([]byte, 300_000), "image/png")), pictures.Open)
			var e *lvlm.CallError
			if c.class == "" && (err != nil || got.Answer.Outcome != c.outcome) {
				t.Errorf("%+v, %v", got, err)
			}
			if c.class != "" && (!errors.As(err, &e) || e.Class != c.class || !e.Sent || e.Detail != c.detail) {
				t.Errorf("%#v", err)
			}
			if text := shows(err); text != "" {
				t.Errorf("shows %s", text)
			}
		})
	}
}

// TestUntrusted: a certificate that no authority vouches for is a matter for a person, and
// nothing was sent.
func TestUntrusted(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.StartTLS()
	defer s.Close()
	o := Options{Endpoint: "e", URL: s.URL, Model: "m", Timeout: 5 * time.Second, Concurrency: 1}
	_, err = client(t, o).Ask(context.Background(), request(), pictures.Open)
	var e *lvlm.CallError
	if !errors.As(err, &e) || e.Class != lvlm.Configured || e.Sent || !strings.Contains(e.Detail, "SSL_CERT_FILE") {
		t.Errorf("%#v", err)
	}
}
