// Package s3config is what the two clients of the S3 protocol, s3store and miniostore,
// have in common: the address of a store, the transport with its certificates, a secret
// that does not print, and what the protocol's error codes mean.
package s3config
