package cxreasonbench

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Published holds the figures of the paper's tables. A nil Published has none.
type Published struct{ rows map[publishedKey]publishedRow }

// publishedKey is a place without its column.
type publishedKey struct {
	path       Path
	sampling   Sampling
	row, model string
}

type publishedRow struct {
	Values  map[string]*float64 `json:"values"`
	Refined map[string]*float64 `json:"refined"`
}

// PublishedFigure is a printed cell: the value, and the refined one in parentheses. Without a
// value the paper prints N/A.
type PublishedFigure struct {
	Known, HasRefined bool
	Value, Refined    float64
}

// String is the cell as printed.
func (p PublishedFigure) String() string {
	if !p.Known {
		return "N/A"
	}
	text := twoDecimals(p.Value)
	if p.HasRefined {
		text += " (" + twoDecimals(p.Refined) + ")"
	}
	return text
}

// ParsePublished reads published figures: {"rows": [{"path", "sampling", "group", "model",
// "values", "refined"}]}, group being a task or a group, null being N/A. A figure that two
// tables print must be the same in both.
func ParsePublished(data []byte) (*Published, error) {
	var in struct {
		Rows []struct {
			Path     Path     `json:"path"`
			Sampling Sampling `json:"sampling"`
			Group    string   `json:"group"`
			Model    string   `json:"model"`
			publishedRow
		} `json:"rows"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("cxreasonbench: published figures: %w", err)
	}
	p := &Published{rows: map[publishedKey]publishedRow{}}
	for _, r := range in.Rows {
		key := publishedKey{r.Path, r.Sampling, r.Group, r.Model}
		row, seen := p.rows[key]
		if !seen {
			row = publishedRow{Values: map[string]*float64{}, Refined: map[string]*float64{}}
			p.rows[key] = row
		}
		if err := merge(row.Values, r.Values); err != nil {
			return nil, fmt.Errorf("cxreasonbench: published figures of %s, %s %s %s: %w", r.Model, r.Path, r.Sampling, r.Group, err)
		}
		if err := merge(row.Refined, r.Refined); err != nil {
			return nil, fmt.Errorf("cxreasonbench: published refined figures of %s, %s %s %s: %w", r.Model, r.Path, r.Sampling, r.Group, err)
		}
	}
	return p, nil
}

func merge(into, from map[string]*float64) error {
	for name, v := range from {
		old, seen := into[name]
		if seen && ((old == nil) != (v == nil) || old != nil && *old != *v) {
			return fmt.Errorf("%s has two values", name)
		}
		into[name] = v
	}
	return nil
}

// Has reports whether the paper has figures of a model.
func (p *Published) Has(model string) bool {
	if p == nil {
		return false
	}
	for key := range p.rows {
		if key.model == model {
			return true
		}
	}
	return false
}

// Models returns the names of the models, sorted.
func (p *Published) Models() []string {
	names := map[string]bool{}
	for k := range p.rows {
		names[k.model] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Figure returns the printed cell at a place; ok is false where the paper has none.
func (p *Published) Figure(at Place) (f PublishedFigure, ok bool) {
	if p == nil {
		return f, false
	}
	row := p.rows[publishedKey{at.Path, at.Sampling, at.Row, at.Model}]
	v, ok := row.Values[at.Column.String()]
	if !ok {
		return f, false
	}
	if v != nil {
		f.Known, f.Value = true, *v
	}
	if r := row.Refined[at.Column.String()]; r != nil {
		f.HasRefined, f.Refined = true, *r
	}
	return f, true
}
