package miniostore

import (
	"errors"

	"github.com/minio/minio-go/v7"

	"cxrepro/artifacts/s3config"
)

// failure reads code and status out of the client's error; nil gives a nil Err.
func failure(op, name string, err error) s3config.Failure {
	f := s3config.Failure{Op: op, Name: name, Err: err}
	var resp minio.ErrorResponse
	if errors.As(err, &resp) {
		f.Code, f.Status = resp.Code, resp.StatusCode
	}
	return f
}
