package contract

import "fmt"

// Failure is an error that knows its type, one of the constants of this package.
type Failure struct {
	Type string
	Err  error
}

func (e *Failure) Error() string { return e.Err.Error() }
func (e *Failure) Unwrap() error { return e.Err }

// Fail returns an error of a type. Its text may enter a history: it must name nothing of the
// data set but digests and case numbers.
func Fail(errType, format string, args ...any) error {
	return &Failure{Type: errType, Err: fmt.Errorf(format, args...)}
}
