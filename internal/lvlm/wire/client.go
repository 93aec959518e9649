package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

// maxReply bounds the body of a reply. Texts of models have kilobytes.
const maxReply = 32 << 20

// errLongReply is returned by readers of a body beyond maxReply.
var errLongReply = errors.New("the reply is longer than 32 MiB")

// Client returns an HTTP client for one endpoint that keeps up to concurrency connections. A
// proxy of the environment is used for https, which it cannot read, and for nothing else.
func Client(concurrency int) *http.Client {
	t := &http.Transport{
		Proxy:                 proxy,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          concurrency,
		MaxIdleConnsPerHost:   concurrency,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ExpectContinueTimeout: time.Second,
		WriteBufferSize:       64 << 10,
	}
	return &http.Client{
		Transport:     Bounded(t),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func proxy(r *http.Request) (*url.URL, error) {
	if r.URL.Scheme != "https" {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

// Bounded returns a transport whose replies end with an error beyond a fixed size.
func Bounded(next http.RoundTripper) http.RoundTripper { return bounded{next} }

type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	res.Body = &boundedBody{ReadCloser: res.Body, left: maxReply}
	return res, nil
}

type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLongReply
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// Watch notes whether anything of a request reached a connection.
type Watch struct{ sent atomic.Bool }

// Context returns a context whose requests are watched.
func (w *Watch) Context(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { w.sent.Store(true) }})
}

// Sent reports whether a request may have reached the endpoint.
func (w *Watch) Sent() bool { return w.sent.Load() }
