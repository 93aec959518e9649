// Package catalog is a rebuildable index over what a store's statements say: which step gave
// which result from which materials, who ran it when, which model calls were made, and what
// every artifact is part of. It answers what would need every object of the store: one hop or
// the closure of an artifact, up or down.
//
// The store is the only source of truth. A catalog can be deleted at any time; [Catalog.Update]
// brings it up to date, [Catalog.Reindex] makes it anew, and [Catalog.Digest] is the same after
// either, because no row depends on when or in which order it was read.
//
// Links go by digest. A result is linked to the materials of its statement, and a JSON document
// to what it refers to. Statements that lie in index entries (cxrepro.index/2) and statements of
// entries that garbage collection removed are read like any other.
//
// What a key says beside its inputs is linked in the same way: threshold rows, switches, decoding
// and a model's identity are artifacts of their own ([Parameter]), the prompt and the question of
// a call are known by the digest of their text.
//
// The number of a digest is its first 64 bits, so equal stores give equal rows and nothing has to
// be looked up while rows are made. Two digests with one number would make answers wrong; they are
// noticed and refused.
package catalog
