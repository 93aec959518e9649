// Package sqlcache is a local SQLite copy of what a store's index says: entries, their
// statements with key documents, blobs, and the lineage edges between results and
// materials. It answers questions that would need every object of the store.
//
// The store is the only source of truth. The cache can be deleted at any time and is
// rebuilt from the store alone ([Cache.Reindex]); [Cache.Refresh] brings it up to date.
package sqlcache
