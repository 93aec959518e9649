// Package lru keeps what was used last, up to a total weight.
package lru

import (
	"container/list"
	"sync"
)

// Cache keeps what was used last, up to a total weight. It serves several goroutines. Values
// are shared: nobody changes them.
type Cache[K comparable, V any] struct {
	most int64

	mu     sync.Mutex // guards what follows
	weight int64
	kept   map[K]*list.Element
	order  list.List // of *entry, latest use first
}

type entry[K comparable, V any] struct {
	key    K
	value  V
	weight int64
}

// New returns an empty cache of at most so much weight.
func New[K comparable, V any](most int64) *Cache[K, V] {
	return &Cache[K, V]{most: most, kept: map[K]*list.Element{}}
}

// Get returns the value of key, if it is kept.
func (c *Cache[K, V]) Get(key K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.kept[key]
	if !ok {
		return v, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Put keeps a value that weighs so much. One that weighs more than the whole cache is not kept.
func (c *Cache[K, V]) Put(key K, v V, weight int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.kept[key]; there || weight > c.most {
		return
	}
	c.kept[key] = c.order.PushFront(&entry[K, V]{key, v, weight})
	for c.weight += weight; c.weight > c.most; {
		last := c.order.Back()
		old := c.order.Remove(last).(*entry[K, V])
		delete(c.kept, old.key)
		c.weight -= old.weight
	}
}

// Weight returns how much is kept.
func (c *Cache[K, V]) Weight() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.weight
}

// Load returns the value of key, making it where it is not kept. read also returns its weight;
// what it fails with is not kept.
func (c *Cache[K, V]) Load(key K, read func() (V, int64, error)) (V, error) {
	if v, ok := c.Get(key); ok {
		return v, nil
	}
	v, weight, err := read()
	if err != nil {
		return v, err
	}
	c.Put(key, v, weight)
	return v, nil
}
