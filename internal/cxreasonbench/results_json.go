package cxreasonbench

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// ResultsJSON encodes paths as one object: path, "tasks" and "groups", each row by name, each
// figure by column, a refined one with the suffix "_refined"; null where there is no value.
// Rows and columns are in the order of the tables.
func ResultsJSON(paths []PathScores) ([]byte, error) {
	return encodePaths(paths, func(f Figure) any {
		if !f.Known {
			return nil
		}
		return f.Value
	})
}

// figureJSON is a figure with its origin.
type figureJSON struct {
	Value    *float64      `json:"value"`
	K        *int          `json:"k,omitempty"`
	N        *int          `json:"n,omitempty"`
	Formula  string        `json:"formula"`
	Why      string        `json:"why,omitempty"`
	Standard *standardJSON `json:"standard,omitempty"`
}

type standardJSON struct {
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// CellsJSON is as [ResultsJSON] with an object for each figure: value, k, n, formula, the
// textbook reading of the same counts, and why there is no value where there is none.
func CellsJSON(paths []PathScores) ([]byte, error) {
	return encodePaths(paths, func(f Figure) any {
		out := figureJSON{Formula: f.Formula, Why: f.Why}
		if f.Known {
			out.Value, out.K, out.N = &f.Value, &f.K, &f.N
		}
		if s, ok := f.Standard(); ok {
			out.Standard = &standardJSON{s.Share, s.Low, s.High}
		}
		return out
	})
}

func encodePaths(paths []PathScores, figure func(Figure) any) ([]byte, error) {
	all := object{}
	for _, p := range paths {
		tasks, groups := object{}, object{}
		for _, t := range Tasks() {
			tasks.add(t.String(), rowObject(p.Path, p.Tasks[t], figure))
		}
		for _, g := range Groups() {
			groups.add(g.String(), rowObject(p.Path, p.Groups[g], figure))
		}
		both := object{}
		both.add("tasks", tasks)
		both.add("groups", groups)
		all.add(p.Path.String(), both)
	}
	return json.Marshal(all)
}

func rowObject(path Path, row ScoreRow, figure func(Figure) any) object {
	out := object{}
	for _, c := range row.Cells {
		out.add(c.Column.String(), figure(c.Plain))
		if Refines(path, c.Column) {
			out.add(c.Column.String()+"_refined", figure(c.Refined))
		}
	}
	return out
}

// object is a JSON object whose fields keep their order.
type object struct {
	names  []string
	values []any
}

func (o *object) add(name string, v any) {
	o.names, o.values = append(o.names, name), append(o.values, v)
}

// MarshalJSON encodes the fields in order.
func (o object) MarshalJSON() ([]byte, error) {
	b := bytes.NewBufferString("{")
	for i, name := range o.names {
		if i > 0 {
			b.WriteByte(',')
		}
		v, err := json.Marshal(o.values[i])
		if err != nil {
			return nil, fmt.Errorf("cxreasonbench: encode %s: %w", name, err)
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("cxreasonbench: encode %s: %w", name, err)
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
