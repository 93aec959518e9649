package s3config

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// Transport returns the HTTP transport for a store: system authorities and those of
// CAFile (or, without one, of AWS_CA_BUNDLE), TLS 1.2 or later, enough idle connections
// for a busy worker.
//
// Errors: a file of authorities that cannot be read or holds no certificate.
func (c Config) Transport() (*http.Transport, error) {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 2 * time.Minute,
		ExpectContinueTimeout: time.Second,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConns:          128,
		MaxIdleConnsPerHost:   128,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
		DisableCompression:    true, // stored bytes are returned as they are
	}
	file := c.CAFile
	if file == "" {
		file = os.Getenv("AWS_CA_BUNDLE")
	}
	if file == "" {
		return t, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("store %s: ca: %w", c.URL(), err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("store %s: ca: %s holds no PEM certificate", c.URL(), file)
	}
	t.TLSClientConfig.RootCAs = pool
	return t, nil
}
