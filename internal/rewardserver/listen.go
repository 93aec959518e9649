package rewardserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
)

// ErrNeedsTLS: an address that others can reach, without TLS. The bearer token could be read on
// the way.
var ErrNeedsTLS = errors.New("only loopback may be served without TLS")

// Listen opens an address. Without a certificate it must be a loopback address.
func Listen(ctx context.Context, address string, certificate *tls.Certificate) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if certificate == nil {
		if err := loopback(ctx, host); err != nil {
			return nil, fmt.Errorf("listen on %s: %w", address, err)
		}
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil || certificate == nil {
		return l, err
	}
	return tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*certificate}}), nil
}

// loopback refuses a host that does not mean this machine alone.
func loopback(ctx context.Context, host string) error {
	if host == "" {
		return ErrNeedsTLS // every address of this machine
	}
	addresses, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return err
	}
	for _, a := range addresses {
		if ip := net.ParseIP(a); ip == nil || !ip.IsLoopback() {
			return ErrNeedsTLS
		}
	}
	return nil
}
