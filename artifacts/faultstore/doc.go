// Package faultstore is a bucket that misbehaves on order: single calls fail, come late,
// lose or change bytes, or report a failure although they succeeded ([Bucket.Inject]);
// or the whole bucket breaks promises as real stores do ([Lies]).
//
// It wraps a real bucket, so that what is stored is real.
package faultstore
