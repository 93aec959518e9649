package gemini

import (
	"context"
	"io"
	"net/http"
	"testing"

	"cxrepro/internal/lvlm/wire/wiretest"
)

// BenchmarkAsk is one call with eight pictures of 100 kB, the service in the same process.
func BenchmarkAsk(b *testing.B) {
	s := &service{}
	s.serve(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		wiretest.Respond(200, fine)(w, r)
	})
	refs := pictures.Noise(8, 100_000)
	c, r := client(b, s, nil), request(refs...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Ask(context.Background(), r, pictures.Open); err != nil {
			b.Fatal(err)
		}
	}
}
