package strictyaml

import (
	"errors"
	"strings"
	"testing"
	"time"

	"cxrepro/internal/datause"
)

type sample struct {
	Name    string            `yaml:"name"`
	Count   int               `yaml:"count"`
	Share   *float64          `yaml:"share,omitempty"`
	On      bool              `yaml:"on,omitempty"`
	Wait    time.Duration     `yaml:"wait,omitempty"`
	Class   datause.Class     `json:"class,omitzero"`
	Names   map[string]string `yaml:"names,omitempty"`
	Private string            `yaml:"-"`
}

func TestDecode(t *testing.T) {
	var s sample
	origin, err := Decode("a.yaml", []byte("name: x\ncount: 3\nshare: 1\nwait: 90s\nclass: public\nnames:\n  a: b\n"), "card", &s)
	if err != nil {
		t.Fatal(err)
	}
	if s.Wait != 90*time.Second || s.Class != datause.Public || *s.Share != 1 || s.Names["a"] != "b" {
		t.Errorf("decoded %+v", s)
	}
	if origin["wait"] != "a.yaml:4" || At(origin, "a.yaml", "names.c") != "a.yaml:7" || At(origin, "a.yaml", "other") != "a.yaml" {
		t.Errorf("places %v", origin)
	}
}

func TestDecodeReportsEverything(t *testing.T) {
	for text, want := range map[string]string{
		"name: x\ncount: two\n":                   `a.yaml:2: count: want a whole number, got the text "two"`,
		"name: 7\ncount: 1\n":                     `a.yaml:1: name: want a text, got the number 7`,
		"name: x\n":                               `count: is missing; every card states it`,
		"name: x\ncount: 1\nwait: 30\n":           `a.yaml:3: wait: want a text, got the number 30`,
		"name: x\ncount: 1\nclass: secret\n":      `a.yaml:3: class: data-use class "secret" is not one of`,
		"name: x\ncount: 1\nwait: soon\n":         `a.yaml:3: wait: want a duration such as 30s or 5m, got the text "soon"`,
		"name: x\ncount: 1\non: maybe\n":          `a.yaml:3: on: want true or false`,
		"name: x\ncount: 1\nPrivate: y\n":         `a.yaml:3: unknown field "Private"; known fields: class, count, name, names, on, share, wait`,
		"name: x\nname: y\ncount: 1\n":            `"name"`,
		"":                                        `want one YAML document`,
		"name: [x\n":                              `a.yaml:1`,
		"name: x\ncount: 1\nnames:\n  a: b\n - c": `a.yaml:`,
	} {
		var s sample
		_, err := Decode("a.yaml", []byte(text), "card", &s)
		var se *Error
		if !errors.As(err, &se) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", text, err, want)
		}
	}
	var s sample
	_, err := Decode("a.yaml", []byte("name: 7\ncount: two\nx: 1\n"), "card", &s)
	var se *Error
	if !errors.As(err, &se) || len(se.Problems) != 3 {
		t.Errorf("want three problems at once, got %v", err)
	}
}

// TestFindings: problems of values have the places of their fields; none is no error.
func TestFindings(t *testing.T) {
	f := Findings{File: "a.yaml", Origin: map[string]string{"names": "a.yaml:6"}}
	if err := f.Err(); err != nil {
		t.Errorf("nothing is wrong: %v", err)
	}
	f.Add("names.c", "want %d, got %d", 1, 2)
	f.Add("count", "is odd")
	var se *Error
	if err := f.Err(); !errors.As(err, &se) || len(se.Problems) != 2 || err.Error() != "a.yaml:6: names.c: want 1, got 2\na.yaml: count: is odd" {
		t.Errorf("%v", err)
	}
}

// FuzzDecode: whatever a file holds, it decodes, or its problems have places.
func FuzzDecode(f *testing.F) {
	f.Add("name: x\ncount: 3\nshare: 1\nwait: 90s\nclass: public\nnames:\n  a: b\n")
	f.Add("name: &a x\ncount: *a\n")
	f.Add("name: !!int 3\ncount: |\n  3\n")
	f.Add("{name: x, count: 1, names: {<<: *x}}")
	f.Add("- name\n---\ncount: 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		var s sample
		_, err := Decode("a.yaml", []byte(text), "card", &s)
		var se *Error
		if err != nil && (!errors.As(err, &se) || len(se.Problems) == 0 || !strings.Contains(se.Problems[0].Where, "a.yaml")) {
			t.Errorf("%v", err)
		}
	})
}
