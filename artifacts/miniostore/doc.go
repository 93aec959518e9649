// Package miniostore keeps a bucket in S3 through MinIO's client. It serves minio://
// addresses.
//
// It uses the client's lower calls, so that every request body is signed as a whole
// with its SHA-256: the store then checks the bytes itself, and stores that cannot read
// the client's usual chunked bodies are not asked to. Credentials come from the
// environment (AWS_ACCESS_KEY_ID, MINIO_ACCESS_KEY and theirs), the usual files, or the
// machine's role.
package miniostore
