package cxreasonbench

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"

	"cxrepro/internal/report"
)

//go:embed published.json
var publishedJSON []byte

// Published holds the figures of the paper's tables. A nil Published has none.
type Published struct{ rows map[publishedKey]publishedRow }

type publishedKey struct {
	path     Path
	sampling Sampling
	// group is the name of a task or group.
	group, model string
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

// PaperFigures returns the figures of the paper's tables.
//
// Source: [paper] tables 3, 4, 8 to 28.
func PaperFigures() (*Published, error) { return ParsePublished(publishedJSON) }

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

// Figure returns a printed cell of a task's or a group's row; ok is false where the paper has
// none.
func (p *Published) Figure(path Path, s Sampling, group, model string, c Column) (f PublishedFigure, ok bool) {
	if p == nil {
		return f, false
	}
	row := p.rows[publishedKey{path, s, group, model}]
	v, ok := row.Values[c.String()]
	if !ok {
		return f, false
	}
	if v != nil {
		f.Known, f.Value = true, *v
	}
	if r := row.Refined[c.String()]; r != nil {
		f.HasRefined, f.Refined = true, *r
	}
	return f, true
}

// fewestCases is how many cases a figure needs for its bootstrap interval to be compared with.
const fewestCases = 5

// TooFewResamples is why an interval without width is compared with nothing.
const TooFewResamples = "too few cases: every resample gives the same figure"

// point reports whether the interval has no width.
func (i Interval) point() bool { return i.High <= i.Low }

// compareFigures says how our cell relates to a printed one, and why where that is not plain:
// reproduced if both numbers are equal as printed, within noise if each printed number lies
// inside our interval, else off; not computable if exactly one of the two has a value, without
// an interval, or where too few cases make an interval that says nothing: below fewestCases
// of them, or when every resample gives the same figure.
func compareFigures(c Cell, p PublishedFigure, refined bool, in CellInterval, cases int) (report.Verdict, string) {
	refined = refined && p.HasRefined
	switch {
	case !c.Plain.Known && !p.Known:
		return report.Reproduced, "neither has a value"
	case !c.Plain.Known:
		return report.NotComputable, "ours has no value: " + c.Plain.Why
	case !p.Known:
		return report.NotComputable, "the paper has no value"
	case refined && !c.Refined.Known:
		return report.NotComputable, "ours has no value in parentheses: " + c.Refined.Why
	case sameDecimal(c.Plain.Value, p.Value) && (!refined || sameDecimal(c.Refined.Value, p.Refined)):
		return report.Reproduced, ""
	case !in.Plain.Known || (refined && !in.Refined.Known):
		return report.NotComputable, "no bootstrap interval was computed"
	case cases < fewestCases:
		return report.NotComputable, fmt.Sprintf("too few cases: %d, and an interval needs %d", cases, fewestCases)
	case !in.Plain.holds(p.Value) && in.Plain.point(), refined && !in.Refined.holds(p.Refined) && in.Refined.point():
		return report.NotComputable, TooFewResamples
	case !in.Plain.holds(p.Value):
		return report.Off, "outside our 95 % bootstrap interval"
	case refined && !in.Refined.holds(p.Refined):
		return report.Off, "the one in parentheses is outside our 95 % bootstrap interval"
	}
	return report.WithinNoise, ""
}

// sameDecimal reports whether two numbers of two decimals are equal as printed.
func sameDecimal(a, b float64) bool { return math.Round(a*100) == math.Round(b*100) }
