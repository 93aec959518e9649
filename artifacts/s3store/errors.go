package s3store

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

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
	var sent *url.Error
	switch {
	case api != nil && resp != nil && api.ErrorMessage() != "":
		text := fmt.Sprintf("%s: %s (status %d)", f.Code, strings.TrimSpace(api.ErrorMessage()), f.Status)
		if id := resp.RequestID; id != "" {
			text = strings.TrimSuffix(text, ")") + ", request " + id + ")"
		}
		f.Err = &plain{err, text}
	case api == nil && errors.As(err, &sent):
		f.Err = &plain{err, sent.Error()}
	}
	return f
}

// plain is an error of the client with a text that people can read; the client's own repeats
// its layers.
type plain struct {
	error
	text string
}

func (p *plain) Error() string { return p.text }
func (p *plain) Unwrap() error { return p.error }
