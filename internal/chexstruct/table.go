package chexstruct

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed thresholds.yaml
var thresholdsYAML []byte

// rowOp is how a row judges a value. The zero value is invalid.
type rowOp uint8

const (
	opParameter rowOp = iota + 1 // "=": a parameter of a step, judges nothing
	opIs                         // "==": a fact
	opAtLeast                    // ">="
	opAbove                      // ">"
	opBelow                      // "<"
	opAtMost                     // "<="
	opHalfOpen                   // "in[)"
	opClosed                     // "in[]"
	opNotBoth                    // "not both >="
	opSelect                     // "select": a switch
)

var opText = [...]string{opParameter: "=", opIs: "==", opAtLeast: ">=", opAbove: ">", opBelow: "<", opAtMost: "<=",
	opHalfOpen: "in[)", opClosed: "in[]", opNotBoth: "not both >=", opSelect: "select"}

// tableRow is one row as the YAML file writes it.
type tableRow struct {
	Row     string         `yaml:"row"`
	Kind    string         `yaml:"kind"`
	Compare string         `yaml:"compare"`
	Options []any          `yaml:"options"`
	Value   any            `yaml:"value"`
	Presets map[string]any `yaml:"presets"`
	Unit    string         `yaml:"unit"`
	Source  string         `yaml:"source"`
	About   string         `yaml:"about"`
}

// thresholdTable is the embedded table after checking.
type thresholdTable struct {
	version string
	rows    [rowCount + 1]tableRow
	values  [rowCount + 1][Corrected + 1]rowValue // by preset
	byName  map[string]row
}

// defaultTable loads the embedded table once. The table is part of the program, so a
// fault in it is a fault of the program and panics; a test loads it.
var defaultTable = sync.OnceValue(func() *thresholdTable {
	t, err := loadTable(thresholdsYAML)
	if err != nil {
		panic(err)
	}
	return t
})

// loadTable reads a table strictly: every row that the program knows, once, in order, with
// the kind and comparison that the program expects, and no other.
func loadTable(data []byte) (*thresholdTable, error) {
	var file struct {
		Version string     `yaml:"version"`
		Rows    []tableRow `yaml:"rows"`
	}
	if err := yaml.UnmarshalWithOptions(data, &file, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("chexstruct: threshold table: %w", err)
	}
	if len(file.Rows) != int(rowCount) {
		return nil, fmt.Errorf("chexstruct: threshold table has %d rows, the program knows %d", len(file.Rows), rowCount)
	}
	t := &thresholdTable{version: file.Version, byName: make(map[string]row, rowCount)}
	for i, r := range file.Rows {
		id := row(i + 1)
		spec := rowSpecs[id]
		if r.Row != spec.name || r.Kind != kindText[spec.kind] || r.Compare != opText[spec.op] {
			return nil, fmt.Errorf("chexstruct: threshold table row %d is %s (%s, %s), the program expects %s (%s, %s)",
				i+1, r.Row, r.Kind, r.Compare, spec.name, kindText[spec.kind], opText[spec.op])
		}
		t.rows[id] = r
		t.byName[r.Row] = id
		for _, p := range Presets() {
			raw := r.Value
			if spec.op == opSelect {
				raw = r.Presets[p.String()]
			}
			v, err := spec.kind.read(raw, r.Options)
			if err != nil {
				return nil, fmt.Errorf("chexstruct: threshold table: %w", &ThresholdError{Row: r.Row, Want: err.Error(), Got: raw})
			}
			t.values[id][p] = v
		}
	}
	return t, nil
}

// TableVersion returns the version of the compiled-in threshold table.
func TableVersion() string { return defaultTable().version }
