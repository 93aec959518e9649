// Package wiretest is the other end of the wire, for the tests of the model adapters: handlers
// that answer as told and keep what they were sent, pictures by digest, and a search for what
// must not be shown.
package wiretest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"cxrepro/artifacts"
)

// Seen is one request as it came.
type Seen struct {
	Method, Path, Query string
	Header              http.Header
	Body                []byte
}

// Log keeps requests. It serves several goroutines.
type Log struct {
	mu  sync.Mutex
	got []Seen
}

// Keep returns a handler that keeps each request before next answers it. One that does not come
// whole is neither kept nor answered.
func (l *Log) Keep(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		l.mu.Lock()
		l.got = append(l.got, Seen{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, r.Header.Clone(), body})
		l.mu.Unlock()
		next(w, r)
	}
}

// Requests returns what was kept, in the order of arrival.
func (l *Log) Requests() []Seen {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Seen{}, l.got...)
}

// Respond answers with a JSON body. header holds names and values in turn; they win.
func Respond(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Raw takes the connection over, writes text as it is and closes.
func Raw(t testing.TB, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = conn.Write([]byte(text))
		_ = conn.Close()
	}
}

// Pictures holds bytes of pictures by their digest.
type Pictures map[artifacts.Digest][]byte

// Ref adds a picture.
func (p Pictures) Ref(data []byte, mediaType string) artifacts.Ref {
	d := artifacts.Sum(data)
	p[d] = data
	return artifacts.Ref{Digest: d, Size: int64(len(data)), MediaType: mediaType}
}

// Noise adds n pictures of size bytes each, the same ones every time.
func (p Pictures) Noise(n, size int) []artifacts.Ref {
	source := rand.New(rand.NewPCG(1, 2))
	refs := make([]artifacts.Ref, n)
	for i := range refs {
		data := make([]byte, size)
		for k := range data {
			data[k] = byte(source.Uint32())
		}
		refs[i] = p.Ref(data, "image/png")
	}
	return refs
}

// Open reads a picture's bytes; nothing for one that was not added.
func (p Pictures) Open(_ context.Context, ref artifacts.Ref) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(p[ref.Digest])), nil
}

// Shows returns a printed or encoded form of v that holds one of the secrets; empty if none does.
func Shows(v any, secrets ...string) string {
	encoded, _ := json.Marshal(v)
	for _, text := range []string{fmt.Sprintf("%v", v), fmt.Sprintf("%+v", v), fmt.Sprintf("%#v", v), fmt.Sprintf("%q", v), fmt.Sprintf("%s", v), string(encoded)} {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				return text
			}
		}
	}
	return ""
}
