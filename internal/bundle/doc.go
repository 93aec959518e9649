// Package bundle packs a reproduction into one file and reads it again: the objects of a store
// under the names that they have there, a ledger that lists them with their digests, a crate
// that describes them, and signed statements about all of it.
//
// Terms. A leaf is one object of a reproduction's ledger: an index entry, a statement or a
// blob. The root is that of a Merkle tree over the leaves in the order of their objects; it does
// not depend on which bytes are at hand. A leaf is withheld when its bytes have a data-use class
// that does not let them leave; the reader's own store may hold them.
//
// The container is a zip file whose bytes follow from its entries alone. [File.Scan] reads
// every byte of it and names the entry in which one differs; [Bucket] lets everything that
// reads a store read a bundle.
//
// docs/design/0016-bundles.md fixes the layout.
package bundle
