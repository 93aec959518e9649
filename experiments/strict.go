package experiments

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Problem is one thing wrong with a spec: where it stands, and what to do about it.
type Problem struct {
	// Where is file:line, or the --set argument.
	Where string
	// Field is the path of the field, for example dataset.views.
	Field   string
	Message string
}

func (p Problem) String() string {
	if p.Field == "" {
		return fmt.Sprintf("%s: %s", p.Where, p.Message)
	}
	return fmt.Sprintf("%s: %s: %s", p.Where, p.Field, p.Message)
}

// SpecError reports everything wrong with a spec at once.
type SpecError struct{ Problems []Problem }

func (e *SpecError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// checker compares a YAML tree with the Go type it is meant for.
type checker struct {
	// where names the origin of a line: file:line, or the --set argument.
	where    func(line int) string
	problems []Problem
	// lines remembers where each field stands, for later checks of its value.
	lines map[string]int
}

func (c *checker) add(n ast.Node, field, format string, args ...any) {
	line := 0
	if n != nil && n.GetToken() != nil {
		line = n.GetToken().Position.Line
	}
	c.problems = append(c.problems, Problem{Where: c.where(line), Field: field, Message: fmt.Sprintf(format, args...)})
}

// check walks n and records every place where it does not fit t.
func (c *checker) check(n ast.Node, t reflect.Type, field string) {
	for {
		switch v := n.(type) {
		case *ast.AnchorNode:
			n = v.Value
			continue
		case *ast.TagNode:
			n = v.Value
			continue
		}
		break
	}
	if n != nil && n.GetToken() != nil {
		c.lines[field] = n.GetToken().Position.Line
	}
	switch t.Kind() {
	case reflect.Pointer:
		c.check(n, t.Elem(), field)
	case reflect.Struct:
		c.checkStruct(n, t, field)
	case reflect.Map:
		c.checkMap(n, t, field)
	case reflect.Slice:
		seq, ok := n.(*ast.SequenceNode)
		if !ok {
			c.add(n, field, "want a list, got %s", describe(n))
			return
		}
		for i, item := range seq.Values {
			c.check(item, t.Elem(), fmt.Sprintf("%s[%d]", field, i))
		}
	case reflect.String:
		if _, ok := n.(*ast.StringNode); !ok {
			if _, ok := n.(*ast.LiteralNode); !ok {
				c.add(n, field, "want a text, got %s", describe(n))
			}
		}
	case reflect.Int, reflect.Int64:
		if _, ok := n.(*ast.IntegerNode); !ok {
			c.add(n, field, "want a whole number, got %s", describe(n))
		}
	case reflect.Float64:
		_, whole := n.(*ast.IntegerNode)
		if _, ok := n.(*ast.FloatNode); !ok && !whole {
			c.add(n, field, "want a number, got %s", describe(n))
		}
	case reflect.Interface:
		if _, ok := n.(*ast.NullNode); ok || n == nil {
			c.add(n, field, "has no value")
		}
	}
}

func (c *checker) checkStruct(n ast.Node, t reflect.Type, field string) {
	pairs, ok := mapping(n)
	if !ok {
		c.add(n, field, "want fields (%s), got %s", strings.Join(fieldNames(t), ", "), describe(n))
		return
	}
	known := fieldsOf(t)
	seen := map[string]bool{}
	for _, p := range pairs {
		name := keyText(p)
		f, ok := known[name]
		if !ok {
			c.add(p.Key, field, "unknown field %q; known fields: %s", name, strings.Join(fieldNames(t), ", "))
			continue
		}
		if seen[name] {
			c.add(p.Key, field, "field %q stands twice", name)
		}
		seen[name] = true
		c.check(p.Value, f.typ, join(field, name))
	}
	for _, name := range fieldNames(t) {
		if f := known[name]; !f.optional && !seen[name] {
			c.add(n, join(field, name), "is missing; every spec states it")
		}
	}
}

func (c *checker) checkMap(n ast.Node, t reflect.Type, field string) {
	pairs, ok := mapping(n)
	if !ok {
		c.add(n, field, "want name: value pairs, got %s", describe(n))
		return
	}
	seen := map[string]bool{}
	for _, p := range pairs {
		name := keyText(p)
		if seen[name] {
			c.add(p.Key, field, "%q stands twice", name)
		}
		seen[name] = true
		c.check(p.Value, t.Elem(), join(field, name))
	}
}

func mapping(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch v := n.(type) {
	case *ast.MappingNode:
		return v.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{v}, true
	}
	return nil, false
}

func keyText(p *ast.MappingValueNode) string { return p.Key.GetToken().Value }

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// describe names a YAML value for people: the text "high", the number 3, a list.
func describe(n ast.Node) string {
	switch v := n.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.StringNode:
		return fmt.Sprintf("the text %q", v.Value)
	case *ast.IntegerNode, *ast.FloatNode:
		return "the number " + v.GetToken().Value
	case *ast.BoolNode:
		return v.GetToken().Value
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "fields"
	}
	return "a " + strings.ToLower(n.Type().String())
}

type specField struct {
	typ      reflect.Type
	index    int
	optional bool
}

// fieldsOf lists the YAML fields of struct type t by name.
func fieldsOf(t reflect.Type) map[string]specField {
	out := map[string]specField{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		out[name] = specField{typ: f.Type, index: i, optional: opts == "omitempty"}
	}
	return out
}

func fieldNames(t reflect.Type) []string {
	var out []string
	for name := range fieldsOf(t) {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}
