// Package verify says how far the tables of a reproduction follow from what lies below them,
// for a run in a store and for a bundle alike.
//
// Levels. L1: bytes are those of their digests, the ledger has its root, signatures hold. L2:
// tables follow from outcome records. L3: outcomes follow from transcripts. L4: findings follow
// from masks and pictures, questions from both. A level counts for a table only above the
// levels below it, and what could not be looked at is a reason, not a fault: withheld bytes
// leave a table at the level below.
//
// The package computes nothing by itself: package activities runs what a live reproduction
// runs, over the store alone, and this one compares and tells.
package verify
