package picture

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"sync"
	"testing"

	"cxrepro/artifacts"
)

func TestCache(t *testing.T) {
	c := NewCache(1000)
	fetched := map[artifacts.Digest]int{}
	var mu sync.Mutex
	data := map[artifacts.Digest][]byte{}
	ref := func(k byte, n int) artifacts.Ref {
		b := bytes.Repeat([]byte{k}, n)
		d := artifacts.Sum(b)
		data[d] = b
		return artifacts.Ref{Digest: d, Size: int64(n)}
	}
	fetch := func(_ context.Context, r artifacts.Ref) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		fetched[r.Digest]++
		return data[r.Digest], nil
	}
	ask := func(r artifacts.Ref) {
		t.Helper()
		got, err := c.Encoded(context.Background(), r, fetch)
		if err != nil || string(got) != base64.StdEncoding.EncodeToString(data[r.Digest]) {
			t.Fatalf("%s, %v", got, err)
		}
	}
	a, b, d, big := ref('a', 300), ref('b', 300), ref('d', 200), ref('e', 2000)
	ask(a)
	ask(b)
	ask(a) // now b is the oldest
	ask(d) // 400 + 400 + 268 > 1000: b goes
	ask(a)
	ask(b)
	if fetched[a.Digest] != 1 || fetched[b.Digest] != 2 || fetched[d.Digest] != 1 {
		t.Errorf("fetched a %d, b %d, d %d times", fetched[a.Digest], fetched[b.Digest], fetched[d.Digest])
	}
	ask(big)
	ask(big)
	if fetched[big.Digest] != 2 || c.Bytes() > 1000 {
		t.Errorf("a picture beyond the bound is held: %d bytes", c.Bytes())
	}
	// Bytes that are not the picture's are refused, and not kept.
	wrong := artifacts.Ref{Digest: artifacts.Sum([]byte("other"))}
	data[wrong.Digest] = []byte("damaged")
	for range 2 {
		if _, err := c.Encoded(context.Background(), wrong, fetch); !errors.Is(err, artifacts.ErrDigestMismatch) {
			t.Errorf("damaged bytes: %v", err)
		}
	}
	broken := errors.New("store away")
	if _, err := c.Encoded(context.Background(), ref('f', 1), func(context.Context, artifacts.Ref) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("fetch failed: %v", err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 100 {
				if _, err := c.Encoded(context.Background(), []artifacts.Ref{a, b, d}[i%3], fetch); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
