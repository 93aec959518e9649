package lru

import (
	"errors"
	"testing"
)

func TestCache(t *testing.T) {
	c := New[int, string](10)
	c.Put(1, "one", 4)
	c.Put(2, "two", 4)
	if _, ok := c.Get(1); !ok {
		t.Error("1 is gone")
	}
	c.Put(3, "three", 4) // 2 was used longest ago
	if _, ok := c.Get(2); ok {
		t.Error("2 was kept beyond the weight")
	}
	if v, ok := c.Get(1); !ok || v != "one" {
		t.Error("what was used last is gone")
	}
	c.Put(4, "too heavy", 11)
	if _, ok := c.Get(4); ok || c.Weight() != 8 {
		t.Errorf("weight %d", c.Weight())
	}
	calls := 0
	for range 2 {
		if v, err := c.Load(5, func() (string, int64, error) { calls++; return "five", 1, nil }); v != "five" || err != nil || calls != 1 {
			t.Errorf("%q, %v, read %d times", v, err, calls)
		}
	}
	if _, err := c.Load(6, func() (string, int64, error) { return "", 0, errors.New("no") }); err == nil {
		t.Error("a failed read was kept")
	}
}
