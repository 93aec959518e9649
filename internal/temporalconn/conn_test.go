package temporalconn

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"cxrepro/internal/devserver"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// TestOpen opens the embedded server, then reaches the same server as a cluster: plainly,
// through mutual TLS, and in every way that must fail.
func TestOpen(t *testing.T) {
	var logs syncBuffer
	logger := slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	conn, err := Open(t.Context(), Options{Logger: logger, Environment: environment{}, Server: devserver.Options{
		StateDir: t.TempDir(), NoUI: true, Resolve: func(context.Context) (string, error) { return temporalBinary, nil },
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
		if strings.Contains(logs.String(), secret) {
			t.Error("the credential is in the log")
		}
	}()
	if !conn.Embedded() || conn.Namespace != devserver.DefaultNamespace || conn.Address != conn.Server.Address() {
		t.Errorf("connection %+v", conn)
	}
	ca := newAuthority(t)
	mutual := proxy(t, conn.Address, ca.serverConfig(t, tls.RequireAndVerifyClientCert))
	oneWay := proxy(t, conn.Address, ca.serverConfig(t, tls.NoClientCert))
	deaf := deafListener(t)
	cert, key := ca.issue(t, "worker", x509.ExtKeyUsageClientAuth)
	trust := environment{"TEMPORAL_TLS_SERVER_CA_CERT_DATA": ca.pem}
	full := trust.with("TEMPORAL_TLS_CLIENT_CERT_DATA", cert).with("TEMPORAL_TLS_CLIENT_KEY_DATA", key)
	strange, strangeKey := newAuthority(t).issue(t, "stranger", x509.ExtKeyUsageClientAuth)
	for _, c := range []struct {
		name string
		o    Options
		env  environment
		kind Kind // zero: it works
		want string
	}{
		{"plain", Options{Address: conn.Address}, nil, 0, ""},
		{"mutual TLS", Options{Address: mutual}, full, 0, ""},
		{"TLS and key", Options{Address: oneWay}, trust.with("TEMPORAL_API_KEY", secret), 0, ""},
		{"no certificate", Options{Address: mutual}, trust, KindTLS, "TEMPORAL_TLS_CLIENT_CERT_PATH"},
		{"certificate of others", Options{Address: mutual}, trust.with("TEMPORAL_TLS_CLIENT_CERT_DATA", strange).with("TEMPORAL_TLS_CLIENT_KEY_DATA", strangeKey), KindTLS, "accepts"},
		{"CA not known", Options{Address: oneWay}, environment{"TEMPORAL_TLS": "true"}, KindTLS, "TEMPORAL_TLS_SERVER_CA_CERT_PATH"},
		{"other name", Options{Address: oneWay}, trust.with("TEMPORAL_TLS_SERVER_NAME", "other.example.org"), KindTLS, "TEMPORAL_TLS_SERVER_NAME"},
		{"TLS off, server on", Options{Address: oneWay}, nil, KindTLS, "TEMPORAL_TLS=true"},
		{"TLS on, server off", Options{Address: conn.Address}, environment{"TEMPORAL_TLS": "true", "TEMPORAL_API_KEY": secret}, KindTLS, "TEMPORAL_TLS=false"},
		{"nobody", Options{Address: "127.0.0.1:1"}, nil, KindUnreachable, "embedded server"},
		{"no such host", Options{Address: "nowhere.invalid:7233"}, nil, KindUnreachable, "check the address"},
		{"not Temporal", Options{Address: deaf}, nil, KindUnreachable, "check the port"},
		{"no such namespace", Options{Address: conn.Address, Namespace: "none"}, nil, KindNamespace, "namespace create --namespace none"},
		{"attributes missing", Options{Address: conn.Address, Attributes: []string{"Paper", "Other"}}, nil, KindSearchAttributes, "--name Other --type Keyword"},
		{"wrong key", Options{Address: gatekeeper(t)}, environment{"TEMPORAL_API_KEY": secret, "TEMPORAL_TLS": "false"}, KindRefused, "TEMPORAL_API_KEY"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Environment, c.o.Logger = c.env, logger
			if c.env == nil {
				c.o.Environment = environment{}
			}
			if c.o.Namespace == "" {
				c.o.Namespace = conn.Namespace
			}
			got, err := Open(t.Context(), c.o)
			if c.kind == 0 {
				if err != nil {
					t.Fatal(err)
				}
				if got.Embedded() || got.Close(t.Context()) != nil {
					t.Errorf("connection %+v", got)
				}
				return
			}
			var e *Error
			if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Hint(), c.want) {
				t.Fatalf("error %v, want kind %v with %q in its hint", err, c.kind, c.want)
			}
			if strings.Contains(err.Error()+e.Hint(), secret) {
				t.Error("the credential is in the error")
			}
			t.Logf("message: %v; hint: %s", err, e.Hint())
		})
	}
}

// TestOpenCancelled returns at once with the context's error.
func TestOpenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	_, err := Open(ctx, Options{Address: "127.0.0.1:1", Environment: environment{}})
	if !errors.Is(err, context.Canceled) || time.Since(began) > 2*time.Second {
		t.Errorf("error %v after %v", err, time.Since(began))
	}
}

func (e environment) with(k, v string) environment {
	out := environment{k: v}
	for k, v := range e {
		out[k] = v
	}
	return out
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// authority is a certificate authority of one test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert: cert, key: key, pem: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))}
}

// issue returns a certificate and its key in PEM.
func (a *authority) issue(t *testing.T, name string, use x509.ExtKeyUsage) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{use},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &k.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	kder, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: kder}))
}

func (a *authority) serverConfig(t *testing.T, clients tls.ClientAuthType) *tls.Config {
	t.Helper()
	cert, key := a.issue(t, "server", x509.ExtKeyUsageServerAuth)
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: clients, ClientCAs: pool, NextProtos: []string{"h2"}}
}

// proxy ends TLS in front of target, as a load balancer of a cluster does.
func proxy(t *testing.T, target string, conf *tls.Config) string {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", conf)
	if err != nil {
		t.Fatal(err)
	}
	accept(t, l, func(in net.Conn) {
		if in.(*tls.Conn).Handshake() != nil {
			return
		}
		out, err := net.Dial("tcp", target)
		if err != nil {
			return
		}
		defer out.Close()
		go func() {
			_, _ = io.Copy(out, in)
			out.Close()
		}()
		_, _ = io.Copy(in, out)
	})
	return l.Addr().String()
}

// deafListener takes connections and closes them without a word.
func deafListener(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accept(t, l, func(net.Conn) {})
	return l.Addr().String()
}

// accept serves l until the test ends.
func accept(t *testing.T, l net.Listener, serve func(net.Conn)) {
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				serve(c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
}

// gatekeeper is a front end that knows no API key: the development server cannot check any.
func gatekeeper(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(s, keyless{})
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

type keyless struct {
	workflowservice.UnimplementedWorkflowServiceServer
}

func (keyless) GetSystemInfo(ctx context.Context, _ *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	if got := md.Get("authorization"); len(got) != 1 || got[0] != "Bearer "+secret {
		return nil, status.Error(codes.InvalidArgument, "the key did not arrive")
	}
	return nil, status.Error(codes.Unauthenticated, "not this one")
}
