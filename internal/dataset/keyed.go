package dataset

import (
	"bytes"
	"crypto/sha256"
	"slices"
)

// nameKey stands for an identifier or a path in lookup tables: the first 16 bytes of its
// SHA-256. Two names of one data set share a key with a probability below 1e-27.
type nameKey [16]byte

func keyOf(name string) nameKey {
	sum := sha256.Sum256([]byte(name))
	return nameKey(sum[:16])
}

// keyed is a compact lookup table: filled once, sorted, then read by binary search.
type keyed[V any] struct {
	items []keyedItem[V]
}

type keyedItem[V any] struct {
	key   nameKey
	value V
}

func (k *keyed[V]) add(key nameKey, v V) { k.items = append(k.items, keyedItem[V]{key, v}) }

// freeze sorts the table and returns the number of keys that occur more than once. Of
// those the first one added is found.
func (k *keyed[V]) freeze() (repeated int) {
	slices.SortStableFunc(k.items, func(a, b keyedItem[V]) int { return bytes.Compare(a.key[:], b.key[:]) })
	for i := 1; i < len(k.items); i++ {
		if k.items[i].key == k.items[i-1].key {
			repeated++
		}
	}
	k.items = slices.Clip(k.items)
	return repeated
}

func (k *keyed[V]) find(key nameKey) (v V, ok bool) {
	if k == nil {
		return v, false
	}
	i, ok := slices.BinarySearchFunc(k.items, key, func(e keyedItem[V], t nameKey) int { return bytes.Compare(e.key[:], t[:]) })
	if !ok {
		return v, false
	}
	return k.items[i].value, true
}

func (k *keyed[V]) len() int {
	if k == nil {
		return 0
	}
	return len(k.items)
}
