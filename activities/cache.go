package activities

import (
	linked "container/list"
	"sync"
)

// cache keeps what was used last, up to a total weight. It serves several goroutines. Values
// are shared: nobody changes them.
type cache[K comparable, V any] struct {
	most int64

	mu     sync.Mutex // guards what follows
	weight int64
	kept   map[K]*linked.Element
	order  linked.List // of *cached, latest use first
}

type cached[K comparable, V any] struct {
	key    K
	value  V
	weight int64
}

func newCache[K comparable, V any](most int64) *cache[K, V] {
	return &cache[K, V]{most: most, kept: map[K]*linked.Element{}}
}

func (c *cache[K, V]) get(key K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.kept[key]
	if !ok {
		return v, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached[K, V]).value, true
}

// put keeps a value that weighs so much. One that weighs more than the whole cache is not kept.
func (c *cache[K, V]) put(key K, v V, weight int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.kept[key]; there || weight > c.most {
		return
	}
	c.kept[key] = c.order.PushFront(&cached[K, V]{key, v, weight})
	for c.weight += weight; c.weight > c.most; {
		last := c.order.Back()
		old := c.order.Remove(last).(*cached[K, V])
		delete(c.kept, old.key)
		c.weight -= old.weight
	}
}

// load returns the value of key, making it where it is not kept.
func (c *cache[K, V]) load(key K, read func() (V, int64, error)) (V, error) {
	if v, ok := c.get(key); ok {
		return v, nil
	}
	v, weight, err := read()
	if err != nil {
		return v, err
	}
	c.put(key, v, weight)
	return v, nil
}
