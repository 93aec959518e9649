package picture

import (
	"context"
	"encoding/base64"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/lru"
)

// DefaultCacheBytes bounds a cache of which nothing else is said.
const DefaultCacheBytes = 64 << 20

// Cache keeps pictures in base64, as requests carry them: a dialogue sends the same ones
// again with every turn. The least recently used go first. It serves several goroutines.
type Cache struct {
	kept *lru.Cache[artifacts.Digest, []byte]
}

// NewCache returns a cache of at most limit bytes; 0 means DefaultCacheBytes.
func NewCache(limit int64) *Cache {
	if limit <= 0 {
		limit = DefaultCacheBytes
	}
	return &Cache{kept: lru.New[artifacts.Digest, []byte](limit)}
}

// Fetch returns the bytes of a picture.
type Fetch func(ctx context.Context, ref artifacts.Ref) ([]byte, error)

// Encoded returns the picture in base64, fetching it if it is not held. Bytes whose digest is
// not the reference's are an error: what is sent is what the key says. Callers must not
// change the result.
func (c *Cache) Encoded(ctx context.Context, ref artifacts.Ref, fetch Fetch) ([]byte, error) {
	return c.kept.Load(ref.Digest, func() ([]byte, int64, error) {
		data, err := fetch(ctx, ref)
		if err != nil {
			return nil, 0, fmt.Errorf("picture %s: %w", ref.Digest.Short(), err)
		}
		if got := artifacts.Sum(data); got != ref.Digest {
			return nil, 0, fmt.Errorf("picture %s: fetched bytes have the digest %s: %w", ref.Digest.Short(), got.Short(), artifacts.ErrDigestMismatch)
		}
		text := make([]byte, base64.StdEncoding.EncodedLen(len(data)))
		base64.StdEncoding.Encode(text, data)
		return text, int64(len(text)), nil
	})
}

// Bytes returns how much is held.
func (c *Cache) Bytes() int64 { return c.kept.Weight() }
