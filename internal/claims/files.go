package claims

import (
	"encoding/json"
	"fmt"
	"sync"

	"cxrepro/experiments"
	"cxrepro/internal/cxreasonbench"
)

// PaperFigures returns the figures of the paper's tables.
//
// Source: [paper] tables 3, 4, 8 to 28.
var PaperFigures = sync.OnceValues(func() (*cxreasonbench.Published, error) {
	data, err := experiments.Files.ReadFile("cxreasonbench/claims/tables.json")
	if err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	return cxreasonbench.ParsePublished(data)
})

// Overlaps is the paper's own table of overlaps of masks.
type Overlaps struct {
	Source string       `json:"source"`
	Rows   []OverlapRow `json:"rows"`
}

// OverlapRow is one line of it: Title as printed, Structure by official name.
type OverlapRow struct {
	Title     string  `json:"title"`
	Structure string  `json:"structure"`
	F1        float64 `json:"f1"`
	IoU       float64 `json:"iou"`
	Dice      float64 `json:"dice"`
}

// PublishedOverlaps returns the published overlaps.
//
// Source: [paper] table 7.
var PublishedOverlaps = sync.OnceValues(func() (*Overlaps, error) {
	var o Overlaps
	return &o, read("chexstruct/claims/table7.json", &o)
})

// For returns a structure's line.
func (o *Overlaps) For(structure string) (OverlapRow, bool) {
	for _, r := range o.Rows {
		if r.Structure == structure {
			return r, true
		}
	}
	return OverlapRow{}, false
}

// Structures are those of the table in its order.
func (o *Overlaps) Structures() []string {
	names := make([]string, len(o.Rows))
	for i, r := range o.Rows {
		names[i] = r.Structure
	}
	return names
}

// read decodes a file of claims that the program carries.
func read(name string, v any) error {
	data, err := experiments.Files.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return fmt.Errorf("claims: %s: %w", name, err)
	}
	return nil
}
