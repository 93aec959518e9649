// Package memstore keeps a bucket in memory: for tests, and for work that need not
// outlive the process. It keeps every promise of [artifacts.Bucket], so code that works
// over it works over the others.
package memstore
