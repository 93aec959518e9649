// Package s3store keeps a bucket in S3 through AWS's own client. It serves s3://
// addresses, at AWS and at compatible stores.
//
// Small content goes in one request that carries its SHA-256, which the store must
// check; large content goes in parts. Credentials come from the client's standard chain.
// The client's automatic checksums are off where the protocol does not need them,
// because compatible stores break on them and every byte is checked by SHA-256 anyway.
package s3store
