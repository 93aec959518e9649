package gemini

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"

	"cxrepro/artifacts"
)

// BenchmarkAsk is one call with eight pictures of 100 kB, the service in the same process.
func BenchmarkAsk(b *testing.B) {
	s := newService(b, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, fine)
	})
	s.discard = true
	source := rand.New(rand.NewPCG(1, 2))
	refs := make([]artifacts.Ref, 8)
	for i := range refs {
		data := make([]byte, 100_000)
		for k := range data {
			data[k] = byte(source.Uint32())
		}
		refs[i] = pictureRef(data, "image/png")
	}
	c, r := client(b, s, nil), request(refs...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Ask(context.Background(), r, fetch); err != nil {
			b.Fatal(err)
		}
	}
}
