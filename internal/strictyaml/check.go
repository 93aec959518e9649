package strictyaml

import (
	"encoding"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Problem is one thing wrong with a file: where it stands, and what to do about it.
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

// Error reports everything wrong with a file at once.
type Error struct{ Problems []Problem }

func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Checker compares a YAML tree with the Go type it is meant for.
type Checker struct {
	// Where names the origin of a line: file:line, or the argument it came with.
	Where func(line int) string
	// Kind is what the document is called in messages, for example "spec".
	Kind     string
	Problems []Problem
	// Lines remembers where each field stands, for later checks of its value.
	Lines map[string]int
}

// New returns a checker of a document of that kind.
func New(kind string, where func(line int) string) *Checker {
	return &Checker{Where: where, Kind: kind, Lines: map[string]int{}}
}

func (c *Checker) add(n ast.Node, field, format string, args ...any) {
	line := 0
	if n != nil && n.GetToken() != nil {
		line = n.GetToken().Position.Line
	}
	c.Problems = append(c.Problems, Problem{Where: c.Where(line), Field: field, Message: fmt.Sprintf(format, args...)})
}

// Check walks n and records every place where it does not fit t.
func (c *Checker) Check(n ast.Node, t reflect.Type, field string) {
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
		c.Lines[field] = n.GetToken().Position.Line
	}
	if t == duration || (t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(textual)) {
		// A whole number is no duration, nor a text form of anything.
		if c.text(n, field) {
			c.form(n, t, field)
		}
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		c.Check(n, t.Elem(), field)
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
			c.Check(item, t.Elem(), fmt.Sprintf("%s[%d]", field, i))
		}
	case reflect.String:
		c.text(n, field)
	case reflect.Bool:
		if _, ok := n.(*ast.BoolNode); !ok {
			c.add(n, field, "want true or false, got %s", describe(n))
		}
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64:
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

var (
	duration = reflect.TypeFor[time.Duration]()
	textual  = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func (c *Checker) text(n ast.Node, field string) bool {
	switch n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return true
	}
	c.add(n, field, "want a text, got %s", describe(n))
	return false
}

// form checks a text that has a form of its own, so that a fault in it has a line.
func (c *Checker) form(n ast.Node, t reflect.Type, field string) {
	text := ""
	switch v := n.(type) {
	case *ast.StringNode:
		text = v.Value
	case *ast.LiteralNode:
		text = v.Value.Value
	}
	if t == duration {
		if _, err := time.ParseDuration(text); err != nil {
			c.add(n, field, "want a duration such as 30s or 5m, got the text %q", text)
		}
		return
	}
	if err := reflect.New(t).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
		c.add(n, field, "%v", err)
	}
}

func (c *Checker) checkStruct(n ast.Node, t reflect.Type, field string) {
	pairs, ok := mapping(n)
	if !ok {
		c.add(n, field, "want fields (%s), got %s", strings.Join(FieldNames(t), ", "), describe(n))
		return
	}
	known := Fields(t)
	seen := map[string]bool{}
	for _, p := range pairs {
		name := keyText(p)
		f, ok := known[name]
		if !ok {
			c.add(p.Key, field, "unknown field %q; known fields: %s", name, strings.Join(FieldNames(t), ", "))
			continue
		}
		if seen[name] {
			c.add(p.Key, field, "field %q stands twice", name)
		}
		seen[name] = true
		c.Check(p.Value, f.Type, Join(field, name))
	}
	for _, name := range FieldNames(t) {
		if f := known[name]; !f.Optional && !seen[name] {
			c.add(n, Join(field, name), "is missing; every %s states it", c.Kind)
		}
	}
}

func (c *Checker) checkMap(n ast.Node, t reflect.Type, field string) {
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
		c.Check(p.Value, t.Elem(), Join(field, name))
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

// Join appends a field to a path.
func Join(path, name string) string {
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
		// A wrong file may hold anything, secrets too.
		const most = 24
		if len(v.Value) > most || strings.ContainsAny(v.Value, "=\n") {
			return "a text"
		}
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

// Field is a YAML field of a struct type.
type Field struct {
	Type     reflect.Type
	Index    int
	Optional bool
}

// Fields lists the YAML fields of struct type t by name.
func Fields(t reflect.Type) map[string]Field {
	out := map[string]Field{}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("yaml")
		if !ok {
			tag = f.Tag.Get("json") // as the decoder does
		}
		name, opts, _ := strings.Cut(tag, ",")
		if name == "-" {
			continue
		}
		out[name] = Field{Type: f.Type, Index: i, Optional: opts == "omitempty" || opts == "omitzero"}
	}
	return out
}

// FieldNames lists the YAML fields of struct type t, sorted.
func FieldNames(t reflect.Type) []string {
	var out []string
	for name := range Fields(t) {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}
