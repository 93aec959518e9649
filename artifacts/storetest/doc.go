// Package storetest is the conformance suite that every store runs: [Run] takes a maker
// of empty buckets and checks first the bucket's promises, then everything that a
// repository builds on them.
//
// It also starts the S3 server that the tests of remote stores talk to ([StartS3]).
package storetest
