package picture

import (
	"container/list"
	"context"
	"encoding/base64"
	"fmt"
	"sync"

	"cxrepro/artifacts"
)

// DefaultCacheBytes bounds a cache of which nothing else is said.
const DefaultCacheBytes = 64 << 20

// Cache keeps pictures in base64, as requests carry them: a dialogue sends the same ones
// again with every turn. The least recently used go first. It serves several goroutines.
type Cache struct {
	limit int64

	mu    sync.Mutex // guards everything below
	held  int64
	items map[artifacts.Digest]*list.Element
	order *list.List // of *encoded, most recently used first
}

type encoded struct {
	digest artifacts.Digest
	text   []byte
}

// NewCache returns a cache of at most limit bytes; 0 means DefaultCacheBytes.
func NewCache(limit int64) *Cache {
	if limit <= 0 {
		limit = DefaultCacheBytes
	}
	return &Cache{limit: limit, items: map[artifacts.Digest]*list.Element{}, order: list.New()}
}

// Fetch returns the bytes of a picture.
type Fetch func(ctx context.Context, ref artifacts.Ref) ([]byte, error)

// Encoded returns the picture in base64, fetching it if it is not held. Bytes whose digest is
// not the reference's are an error: what is sent is what the key says. Callers must not
// change the result.
func (c *Cache) Encoded(ctx context.Context, ref artifacts.Ref, fetch Fetch) ([]byte, error) {
	if text, ok := c.get(ref.Digest); ok {
		return text, nil
	}
	data, err := fetch(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("picture %s: %w", ref.Digest.Short(), err)
	}
	if got := artifacts.Sum(data); got != ref.Digest {
		return nil, fmt.Errorf("picture %s: fetched bytes have the digest %s: %w", ref.Digest.Short(), got.Short(), artifacts.ErrDigestMismatch)
	}
	text := make([]byte, base64.StdEncoding.EncodedLen(len(data)))
	base64.StdEncoding.Encode(text, data)
	c.put(ref.Digest, text)
	return text, nil
}

// Bytes returns how much is held.
func (c *Cache) Bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held
}

func (c *Cache) get(d artifacts.Digest) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[d]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*encoded).text, true
}

func (c *Cache) put(d artifacts.Digest, text []byte) {
	size := int64(len(text))
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.items[d]; ok || size > c.limit {
		return
	}
	c.items[d] = c.order.PushFront(&encoded{digest: d, text: text})
	c.held += size
	for c.held > c.limit {
		last := c.order.Back()
		e := c.order.Remove(last).(*encoded)
		delete(c.items, e.digest)
		c.held -= int64(len(e.text))
	}
}
