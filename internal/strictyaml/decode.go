package strictyaml

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
)

// Decode checks the one YAML document in data against v, a pointer to a struct, and decodes
// it. file and kind ("spec", "model card") are for messages. The result says for each field's
// path where it stands, as file:line.
//
// Errors: *Error with every problem found.
func Decode(file string, data []byte, kind string, v any) (origin map[string]string, err error) {
	t := reflect.TypeOf(v).Elem()
	c := New(kind, func(line int) string { return fmt.Sprintf("%s:%d", file, line) })
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, c.Syntax(err)
	}
	if len(tree.Docs) != 1 || tree.Docs[0].Body == nil {
		return nil, &Error{Problems: []Problem{{Where: file, Message: fmt.Sprintf("want one YAML document with the fields %s", strings.Join(FieldNames(t), ", "))}}}
	}
	c.Check(tree.Docs[0].Body, t, "")
	if len(c.Problems) > 0 {
		return nil, &Error{Problems: c.Problems}
	}
	if err := yaml.UnmarshalWithOptions(data, v, yaml.Strict()); err != nil {
		return nil, c.Syntax(err)
	}
	origin = map[string]string{}
	for path, line := range c.Lines {
		origin[path] = c.Where(line)
	}
	return origin, nil
}

// Syntax turns an error of the YAML library into an *Error with its place.
func (c *Checker) Syntax(err error) error {
	var ye yaml.Error
	if errors.As(err, &ye) && ye.GetToken() != nil {
		return &Error{Problems: []Problem{{Where: c.Where(ye.GetToken().Position.Line), Message: ye.GetMessage()}}}
	}
	return &Error{Problems: []Problem{{Where: c.Where(1), Message: err.Error()}}}
}

// Parent is the path of the field that holds path; empty at the top.
func Parent(path string) string {
	if i := strings.LastIndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return ""
}

// At returns where a field stands. A list item or map entry that was not written has its
// parent's place, and what has none stands in file.
func At(origin map[string]string, file, field string) string {
	for at := field; at != ""; at = Parent(at) {
		if o, ok := origin[at]; ok {
			return o
		}
	}
	return file
}
