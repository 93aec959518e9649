package s3store

import (
	"errors"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"cxrepro/artifacts/s3config"
)

// failure reads code and status out of the client's error; nil gives a nil Err.
func failure(op, name string, err error) s3config.Failure {
	f := s3config.Failure{Op: op, Name: name, Err: err}
	var api smithy.APIError
	if errors.As(err, &api) {
		f.Code = api.ErrorCode()
	}
	var resp *awshttp.ResponseError
	if errors.As(err, &resp) {
		f.Status = resp.HTTPStatusCode()
	}
	return f
}
