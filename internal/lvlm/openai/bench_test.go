package openai

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	sdk "github.com/openai/openai-go/v3"

	"cxrepro/internal/lvlm"
)

// discard is a server that reads requests and answers at once.
func discard(b *testing.B) *httptest.Server {
	b.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, fine)
	}))
	b.Cleanup(s.Close)
	return s
}

// BenchmarkAsk is one call with eight pictures of 100 kB, the server in the same process.
func BenchmarkAsk(b *testing.B) {
	s := discard(b)
	for _, mode := range []struct {
		name, version string
	}{{"plain", ""}, {"azure", "2025-01-01-preview"}} {
		b.Run(mode.name, func(b *testing.B) {
			c := client(b, Options{Endpoint: "e", URL: s.URL, Model: "m", Key: lvlm.NewSecret("k"), APIVersion: mode.version, Timeout: time.Minute, Concurrency: 8})
			r := request(pictures.Noise(8, 100_000)...)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Ask(context.Background(), r, pictures.Open); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBody is what of it happens before anything is sent.
func BenchmarkBody(b *testing.B) {
	c := client(b, Options{Endpoint: "e", URL: "http://127.0.0.1/", Model: "m", Timeout: time.Minute, Concurrency: 8})
	r := request(pictures.Noise(8, 100_000)...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.body(r, pictures.Open); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTyped is the same call with a body that the SDK makes of its own types: the reason
// why the body is written here.
func BenchmarkTyped(b *testing.B) {
	s := discard(b)
	c := client(b, Options{Endpoint: "e", URL: s.URL, Model: "m", Timeout: time.Minute, Concurrency: 8})
	refs := pictures.Noise(8, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		parts := []sdk.ChatCompletionContentPartUnionParam{sdk.TextContentPart("Is the heart enlarged?")}
		for _, ref := range refs {
			encoded := base64.StdEncoding.EncodeToString(pictures[ref.Digest])
			parts = append(parts, sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64," + encoded}))
		}
		if _, err := c.chat.New(context.Background(), sdk.ChatCompletionNewParams{Model: "m", Messages: []sdk.ChatCompletionMessageParamUnion{sdk.UserMessage(parts)}}); err != nil {
			b.Fatal(err)
		}
	}
}
