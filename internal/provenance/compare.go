package provenance

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"

	"cxrepro/artifacts"
)

// Absent is how a field that a document lacks is written in a Difference.
const Absent = "(absent)"

// Difference is one field in which two key documents differ. Values are canonical JSON.
type Difference struct {
	Field string `json:"field"`
	Ours  string `json:"ours"`
	Other string `json:"other"`
}

// Comparison is the outcome of Compare.
type Comparison struct {
	Equal   int          // fields with equal values
	Differs []Difference // in reading order: step, version, params, inputs
}

// Compare compares two key documents field by field. Nested parameters are fields of
// their own, named like params.thresholds.cardiomegaly; inputs are named like
// inputs.image. Errors: a document that is not a JSON object.
func Compare(ours, other []byte) (Comparison, error) {
	a, err := fields(ours)
	if err != nil {
		return Comparison{}, fmt.Errorf("compare key documents: %w", err)
	}
	b, err := fields(other)
	if err != nil {
		return Comparison{}, fmt.Errorf("compare key documents: %w", err)
	}
	return compare(a, b), nil
}

// CompareDocuments compares two JSON objects of any kind field by field: nested names are
// joined by dots, elements of arrays are named like name[0]. Fields come in the order of their
// names, after those that a key document has. Errors: a document that is not a JSON object.
func CompareDocuments(ours, other []byte) (Comparison, error) {
	var sides [2]map[string]string
	for i, doc := range [][]byte{ours, other} {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(doc, &object); err != nil {
			return Comparison{}, fmt.Errorf("compare documents: %w", err)
		}
		sides[i] = map[string]string{}
		for name, raw := range object {
			if err := flatten(sides[i], name, raw); err != nil {
				return Comparison{}, fmt.Errorf("compare documents: %w", err)
			}
		}
	}
	return compare(sides[0], sides[1]), nil
}

func compare(a, b map[string]string) Comparison {
	names := make([]string, 0, len(a)+len(b))
	for name := range a {
		names = append(names, name)
	}
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	sort.Slice(names, func(i, j int) bool {
		if ri, rj := rank(names[i]), rank(names[j]); ri != rj {
			return ri < rj
		}
		return names[i] < names[j]
	})
	var c Comparison
	for _, name := range names {
		va, ina := a[name]
		vb, inb := b[name]
		if ina && inb && va == vb {
			c.Equal++
			continue
		}
		if !ina {
			va = Absent
		}
		if !inb {
			vb = Absent
		}
		c.Differs = append(c.Differs, Difference{Field: name, Ours: va, Other: vb})
	}
	return c
}

// rank orders the parts of a key document for reading.
func rank(field string) int {
	for i, part := range []string{"format", "step", "version", "params", "inputs"} {
		if field == part || len(field) > len(part) && field[:len(part)+1] == part+"." {
			return i
		}
	}
	return 9
}

// Fields flattens a key document into field name and canonical JSON value.
func Fields(doc []byte) (map[string]string, error) { return fields(doc) }

func fields(doc []byte) (map[string]string, error) {
	var top struct {
		Format  json.RawMessage `json:"format"`
		Step    json.RawMessage `json:"step"`
		Version json.RawMessage `json:"version"`
		Params  json.RawMessage `json:"params"`
		Inputs  []struct {
			Name   string          `json:"name"`
			Digest json.RawMessage `json:"digest"`
		} `json:"inputs"`
	}
	if err := json.Unmarshal(doc, &top); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for name, raw := range map[string]json.RawMessage{"format": top.Format, "step": top.Step, "version": top.Version, "params": top.Params} {
		if len(raw) == 0 {
			continue
		}
		if err := flatten(out, name, raw); err != nil {
			return nil, err
		}
	}
	for _, in := range top.Inputs {
		if err := flatten(out, "inputs."+in.Name, in.Digest); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// flatten writes raw's leaves under name. Empty objects and arrays are leaves.
func flatten(out map[string]string, name string, raw json.RawMessage) error {
	var object map[string]json.RawMessage
	if raw[0] == '{' && json.Unmarshal(raw, &object) == nil && len(object) > 0 {
		for k, v := range object {
			if err := flatten(out, name+"."+k, v); err != nil {
				return err
			}
		}
		return nil
	}
	var array []json.RawMessage
	if raw[0] == '[' && json.Unmarshal(raw, &array) == nil && len(array) > 0 {
		for i, v := range array {
			if err := flatten(out, name+"["+strconv.Itoa(i)+"]", v); err != nil {
				return err
			}
		}
		return nil
	}
	text, err := artifacts.Canonical(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	out[name] = string(text)
	return nil
}
