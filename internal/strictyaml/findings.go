package strictyaml

import "fmt"

// Findings collects what is wrong with the values of a file whose form is right.
type Findings struct {
	// File is the file's name, Origin what Decode returned.
	File     string
	Origin   map[string]string
	Problems []Problem
}

// Add reports a problem of a field.
func (f *Findings) Add(field, format string, args ...any) {
	f.Problems = append(f.Problems, Problem{Where: At(f.Origin, f.File, field), Field: field, Message: fmt.Sprintf(format, args...)})
}

// Err returns an *Error with every problem, nil if there is none.
func (f *Findings) Err() error {
	if len(f.Problems) == 0 {
		return nil
	}
	return &Error{Problems: f.Problems}
}
