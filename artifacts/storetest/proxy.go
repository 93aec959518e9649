package storetest

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// Proxy stands between a client and a server. Answer, when it returns a status other
// than 0, answers a request itself, before the server has seen it; After does so after
// the server has done what the request asked for.
type Proxy struct {
	Endpoint string

	mu     sync.Mutex // guards what follows
	answer func(*http.Request) int
	after  func(*http.Request) int
	seen   []*http.Request
}

// NewProxy returns a proxy to endpoint that passes everything on.
func NewProxy(t testing.TB, endpoint string) *Proxy {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{}
	forward := &httputil.ReverseProxy{
		// The host stays as the client signed it.
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host
			r.Out.Host = r.In.Host
		},
		ErrorLog: log.New(io.Discard, "", 0), // a server that is gone is what some tests are about
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.seen = append(p.seen, r.Clone(r.Context()))
		answer, after := p.answer, p.after
		p.mu.Unlock()
		if answer != nil {
			if status := answer(r); status != 0 {
				w.WriteHeader(status)
				return
			}
		}
		if after != nil {
			if status := after(r); status != 0 {
				forward.ServeHTTP(httptest.NewRecorder(), r)
				w.WriteHeader(status)
				return
			}
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	p.Endpoint = srv.URL
	return p
}

// Answer sets what the proxy answers itself; nil passes everything on.
func (p *Proxy) Answer(fn func(*http.Request) int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = fn
}

// After sets which replies the proxy replaces; nil passes everything on.
func (p *Proxy) After(fn func(*http.Request) int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.after = fn
}

// Seen returns the requests so far, without their bodies, and forgets them.
func (p *Proxy) Seen() []*http.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	p.seen = nil
	return seen
}
