package experiments

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"cxrepro/internal/strictyaml"
)

// Parse decodes and validates a spec. file is its name for messages; sets are --set
// arguments (path=value), applied in order before anything is checked across fields.
//
// Errors: *SpecError with every problem found, each with file and line.
func Parse(file string, data []byte, sets ...string) (*Spec, error) {
	var s Spec
	origin, err := strictyaml.Decode(file, data, "spec", &s)
	if err != nil {
		return nil, err
	}
	for _, set := range sets {
		path, err := apply(&s, set)
		if err != nil {
			return nil, err
		}
		origin[path] = "--set " + set
	}
	if err := validate(&s, file, origin); err != nil {
		return nil, err
	}
	return &s, nil
}

// apply sets one field of s and returns the field's path.
//
// Paths are the field names joined by dots; null takes an optional field out; below thresholds and labels the rest of the
// path is one name, since rows are called task.rule.name.
func apply(s *Spec, set string) (string, error) {
	path, text, ok := strings.Cut(set, "=")
	fail := func(format string, args ...any) error {
		return &SpecError{Problems: []Problem{{Where: "--set " + set, Message: fmt.Sprintf(format, args...)}}}
	}
	if !ok || path == "" {
		return "", fail("want path=value, for example --set thresholds.cardiomegaly.label.PA_min=0.55")
	}
	v, rest := reflect.ValueOf(s).Elem(), path
	at := ""
	for rest != "" {
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		switch v.Kind() {
		case reflect.Struct:
			var name string
			name, rest, _ = strings.Cut(rest, ".")
			f, known := strictyaml.Fields(v.Type())[name]
			if !known {
				return "", fail("unknown field %q%s; known fields: %s", name, in(at), strings.Join(strictyaml.FieldNames(v.Type()), ", "))
			}
			v, at = v.Field(f.Index), strictyaml.Join(at, name)
		case reflect.Map:
			return path, setMapEntry(v, rest, text, path, set)
		default:
			return "", fail("%s has no field %q", at, rest)
		}
	}
	if v.Kind() == reflect.Pointer && text == "null" {
		v.SetZero() // takes an optional field out
		return path, nil
	}
	return path, decodeInto(v, text, path, set)
}

func in(at string) string {
	if at == "" {
		return ""
	}
	return " in " + at
}

func setMapEntry(m reflect.Value, key, text, path, set string) error {
	if m.IsNil() {
		m.Set(reflect.MakeMap(m.Type()))
	}
	entry := reflect.New(m.Type().Elem()).Elem()
	if err := decodeInto(entry, text, path, set); err != nil {
		return err
	}
	m.SetMapIndex(reflect.ValueOf(key), entry)
	return nil
}

// decodeInto reads text as YAML into v after the same checks as a file gets.
func decodeInto(v reflect.Value, text, path, set string) error {
	c := strictyaml.New("spec", func(int) string { return "--set " + set })
	tree, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return c.Syntax(err)
	}
	if len(tree.Docs) != 1 || tree.Docs[0].Body == nil {
		return &SpecError{Problems: []Problem{{Where: "--set " + set, Field: path, Message: "has no value"}}}
	}
	c.Check(tree.Docs[0].Body, v.Type(), path)
	if len(c.Problems) > 0 {
		return &SpecError{Problems: c.Problems}
	}
	v.SetZero()
	if v.Kind() == reflect.Pointer {
		// The decoder leaves a pointer to a pointer nil.
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if err := yaml.Unmarshal([]byte(text), v.Addr().Interface()); err != nil {
		return c.Syntax(err)
	}
	return nil
}
