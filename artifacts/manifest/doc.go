// Package manifest keeps lists that are too long for a workflow history: the items lie
// in chunks, the chunks are listed in a root, and only the root's ref (about 150 bytes)
// travels.
//
// A chunk is a JSON array of items. Chunks end where the writer says ([Writer.Cut]), so
// that windows may follow the data (an image digest's prefix, say) and an item more
// changes one chunk; or after a fixed number of items or bytes.
//
// Same items and cuts, same bytes, same ref. Refs inside items are seen by garbage
// collection, because root and chunks are JSON.
package manifest
