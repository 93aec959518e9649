package temporalconn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// refused reports whether the server answered and does not accept who we are.
func refused(err error) bool {
	var denied *serviceerror.PermissionDenied
	if errors.As(err, &denied) {
		return true
	}
	code := status.Code(err)
	return code == codes.Unauthenticated || code == codes.PermissionDenied
}

// diagnose finds out why nothing usable answers at address, layer by layer: name, port,
// TLS. The connection library reports all of these alike; what it said is kept where we
// cannot tell better.
func diagnose(address string, conf *tls.Config, said error) (kind Kind, hint string, why error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		var dns *net.DNSError
		if errors.As(err, &dns) {
			return KindUnreachable, "check the address and the network", fmt.Errorf("host name not found")
		}
		return KindUnreachable, "check the address, and that the cluster runs; without an address the embedded server is used", fmt.Errorf("no connection: %w", err)
	}
	conn.Close()
	if conf == nil {
		if _, err := handshake(ctx, address, &tls.Config{InsecureSkipVerify: true}); err == nil { // only to learn whether it speaks TLS
			return KindTLS, "set TEMPORAL_TLS=true, and TEMPORAL_TLS_* for certificates", errors.New("the server speaks TLS and none is configured")
		}
		return KindUnreachable, "check the port (7233 is usual), and whether a proxy stands between", fmt.Errorf("something listens there and does not answer as Temporal: %w", said)
	}
	state, err := handshake(ctx, address, conf)
	var (
		record   tls.RecordHeaderError
		host     x509.HostnameError
		verify   *tls.CertificateVerificationError
		alert    tls.AlertError
		asksCert = len(conf.Certificates) == 0
	)
	switch {
	case err == nil && state.NegotiatedProtocol != "h2":
		return KindTLS, "check the port, and whether a proxy stands between", errors.New("the server speaks TLS but not the protocol gRPC needs")
	case err == nil && asksCert:
		return KindTLS, "the server may ask for a client certificate: set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH", fmt.Errorf("TLS works and the call fails: %w", said)
	case err == nil:
		return KindTLS, "check that the client certificate is one that the server accepts", fmt.Errorf("TLS works and the call fails: %w", said)
	case errors.As(err, &record):
		return KindTLS, "set TEMPORAL_TLS=false, and unset TEMPORAL_TLS_* and TEMPORAL_API_KEY", errors.New("TLS is configured and the server does not speak it")
	case errors.As(err, &host):
		return KindTLS, "set TEMPORAL_TLS_SERVER_NAME", fmt.Errorf("the server's certificate is for another name: %w", err)
	case errors.As(err, &verify):
		return KindTLS, "set TEMPORAL_TLS_SERVER_CA_CERT_PATH to the CA that signed it", fmt.Errorf("the server's certificate is not trusted: %w", err)
	case errors.As(err, &alert) || remoteAlert(err):
		return KindTLS, "set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH to a certificate that it accepts", fmt.Errorf("the server ended the TLS handshake: %w", err)
	}
	return KindTLS, "check the port and the TEMPORAL_TLS_* settings", fmt.Errorf("TLS handshake: %w", err)
}

// remoteAlert reports whether the other side ended TLS with an alert: package tls gives
// those as a network error of operation "remote error".
func remoteAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// handshake connects by TLS, waits a moment for the server's first word, and hangs up: a
// server may refuse a client certificate only after the client's side of the handshake.
func handshake(ctx context.Context, address string, conf *tls.Config) (tls.ConnectionState, error) {
	conf = conf.Clone()
	conf.NextProtos = []string{"h2"}
	d := tls.Dialer{Config: conf}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(time.Second))
	var alert tls.AlertError
	if _, err := conn.Read(make([]byte, 1)); errors.As(err, &alert) || remoteAlert(err) {
		return tls.ConnectionState{}, err
	}
	return conn.(*tls.Conn).ConnectionState(), nil
}
