package bundle

import (
	"crypto/sha256"

	"cxrepro/artifacts"
)

// Domains of the tree's hashes: a leaf can never be taken for a node.
const (
	leafDomain = 0x00
	nodeDomain = 0x01
)

// Tree computes the root of a Merkle tree over leaves that are added in order, in the way of
// RFC 6962 section 2.1: H(0x00 || leaf), H(0x01 || left || right), the larger half left. It
// keeps one hash for each bit of the number of leaves. The zero value is an empty tree.
type Tree struct {
	// stack[i] is the root of a complete subtree of 2^level leaves, levels falling.
	stack []subtree
	n     int64
}

type subtree struct {
	level int
	hash  artifacts.Digest
}

// LeafHash is the hash of a leaf's text.
func LeafHash(text []byte) artifacts.Digest {
	// One buffer and one call are quicker than a hash that is written to twice.
	var space [256]byte
	buf := append(append(space[:0], leafDomain), text...)
	return sha256.Sum256(buf)
}

func nodeHash(left, right artifacts.Digest) artifacts.Digest {
	var buf [1 + 2*sha256.Size]byte
	buf[0] = nodeDomain
	copy(buf[1:], left[:])
	copy(buf[1+sha256.Size:], right[:])
	return sha256.Sum256(buf[:])
}

// Add appends a leaf by its hash.
func (t *Tree) Add(leaf artifacts.Digest) {
	s := subtree{hash: leaf}
	for n := len(t.stack); n > 0 && t.stack[n-1].level == s.level; n = len(t.stack) {
		s = subtree{level: s.level + 1, hash: nodeHash(t.stack[n-1].hash, s.hash)}
		t.stack = t.stack[:n-1]
	}
	t.stack = append(t.stack, s)
	t.n++
}

// Leaves is the number of leaves.
func (t *Tree) Leaves() int64 { return t.n }

// Root is the root over the leaves so far; of no leaf it is the digest of nothing.
func (t *Tree) Root() artifacts.Digest {
	if len(t.stack) == 0 {
		return artifacts.Sum(nil)
	}
	hash := t.stack[len(t.stack)-1].hash
	for i := len(t.stack) - 2; i >= 0; i-- {
		hash = nodeHash(t.stack[i].hash, hash)
	}
	return hash
}
