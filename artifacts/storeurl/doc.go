// Package storeurl opens the artifact store that a URL names: a plain path or file://
// for a folder, mem:// for memory, s3:// for AWS's client and minio:// for MinIO's.
//
//	s3://bucket/prefix?endpoint=https://s3.example.org&region=eu-1&path_style=true&ca=/etc/ca.pem&sse=AES256&attest=credentialed
//
// Credentials never stand in a URL; they come from the environment or from the client's
// standard chain. A URL with a user part is refused.
//
// Remote stores are probed when they are opened, because many break promises; see
// [artifacts.Probe].
package storeurl
