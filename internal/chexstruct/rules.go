package chexstruct

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cxrepro/internal/spelling"
)

// Rules is the threshold table under a preset with its overrides. It is immutable and may
// be shared.
type Rules struct {
	preset    Preset
	values    [rowCount + 1]rowValue
	overrides []RowValue
}

// RowValue is one row of the table with its value: a number, a list of numbers or a text.
type RowValue struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// ThresholdError reports a value that does not fit its row.
type ThresholdError struct {
	Row  string
	Want string // what would be right
	Got  any
}

func (e *ThresholdError) Error() string {
	return fmt.Sprintf("threshold %s: want %s, got %s", e.Row, e.Want, describe(e.Got))
}

// UnknownRowError reports the name of a row that the table does not have.
type UnknownRowError struct {
	Row string
	// Near are the most similar names that exist.
	Near []string
}

func (e *UnknownRowError) Error() string {
	return fmt.Sprintf("no threshold or switch is called %q; nearest: %s", e.Row, strings.Join(e.Near, ", "))
}

// NewRules returns the table under a preset with single rows overridden by name. Values
// may be of any number type that YAML and JSON decoders produce, a list of such, or a
// text, as the row demands.
//
// Errors: an invalid preset, [*UnknownRowError], [*ThresholdError]; the first in the
// order of names.
func NewRules(preset Preset, overrides map[string]any) (*Rules, error) {
	if !preset.Valid() {
		return nil, fmt.Errorf("chexstruct: %s; the presets are %v", preset, Presets())
	}
	t := defaultTable()
	r := &Rules{preset: preset}
	for id := row(1); id <= rowCount; id++ {
		r.values[id] = t.values[id][preset]
	}
	names := make([]string, 0, len(overrides))
	for name := range overrides {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := r.override(t, name, overrides[name]); err != nil {
			return nil, fmt.Errorf("chexstruct: %w", err)
		}
	}
	return r, nil
}

func (r *Rules) override(t *thresholdTable, name string, raw any) error {
	id, ok := t.byName[name]
	if !ok {
		return &UnknownRowError{Row: name, Near: nearest(name, 3)}
	}
	kind := rowSpecs[id].kind
	v, err := kind.read(raw, t.rows[id].Options)
	if err != nil {
		return &ThresholdError{Row: name, Want: err.Error(), Got: raw}
	}
	if old := r.values[id]; kind == kindFixed && (v.num != old.num || v.text != old.text) {
		return &ThresholdError{Row: name, Want: fmt.Sprintf("%v, the only value this program implements", kind.plain(old)), Got: raw}
	}
	r.values[id] = v
	r.overrides = append(r.overrides, RowValue{Name: name, Value: kind.plain(v)})
	return nil
}

// ParseOverride splits "row=value" of a command line. A value is a number, a list of
// numbers in square brackets, or a word.
//
// Errors: no equals sign, or a list that holds anything but numbers.
func ParseOverride(text string) (name string, value any, err error) {
	name, raw, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return "", nil, fmt.Errorf("chexstruct: override %q: want row=value", text)
	}
	raw = strings.TrimSpace(raw)
	inner, isList := strings.CutPrefix(raw, "[")
	if !isList {
		return name, wordOrNumber(raw), nil
	}
	inner, ok = strings.CutSuffix(inner, "]")
	if !ok {
		return "", nil, fmt.Errorf("chexstruct: override of %s: the list %q does not end in ]", name, raw)
	}
	list := []any{}
	for _, e := range strings.Split(inner, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(e), 64)
		if err != nil {
			return "", nil, fmt.Errorf("chexstruct: override of %s: %q in a list is no number", name, strings.TrimSpace(e))
		}
		list = append(list, v)
	}
	return name, list, nil
}

func wordOrNumber(raw string) any {
	if v, err := strconv.ParseFloat(raw, 64); err == nil {
		return v
	}
	return raw
}

// Preset returns the preset the rules started from.
func (r *Rules) Preset() Preset { return r.preset }

// Overrides returns the overridden rows in the order of names.
func (r *Rules) Overrides() []RowValue { return slices.Clone(r.overrides) }

// Rows returns the whole table in its own order.
func (r *Rules) Rows() []RowValue {
	list := make([]RowValue, 0, rowCount)
	for id := row(1); id <= rowCount; id++ {
		list = append(list, r.rowValue(id))
	}
	return list
}

func (r *Rules) rowValue(id row) RowValue {
	return RowValue{Name: rowSpecs[id].name, Value: rowSpecs[id].kind.plain(r.values[id])}
}

// String names preset, deviations and overrides on one line, for reports.
func (r *Rules) String() string {
	s := r.preset.String()
	if c := r.preset.Caveat(); c != "" {
		s = c
	}
	for _, o := range r.overrides {
		s += fmt.Sprintf("; %s = %v", o.Name, o.Value)
	}
	return s
}

// describe prints a wrong value with its type in plain words.
func describe(v any) string {
	switch t := v.(type) {
	case nil:
		return "nothing"
	case string:
		return fmt.Sprintf("the text %q", t)
	case bool:
		return fmt.Sprintf("the truth value %v", t)
	case []any, []float64:
		return fmt.Sprintf("the list %v", t)
	}
	if n, ok := toNumber(v); ok {
		return fmt.Sprintf("the number %v", n)
	}
	return fmt.Sprintf("%v (%T)", v, v)
}

// nearest returns the n row names that are most like a text.
func nearest(text string, n int) []string {
	names := make([]string, 0, rowCount)
	for id := row(1); id <= rowCount; id++ {
		names = append(names, rowSpecs[id].name)
	}
	return spelling.Nearest(text, names, n)
}
