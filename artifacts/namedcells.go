package artifacts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// Cell is a small JSON text under a name, swapped version by version: of several writers
// that start from the same state one gets through. Area is "leases" or "budgets".
//
// A Cell of which only Area and Name are set stands for one that is not there yet.
type Cell struct {
	Area string
	Name string
	Body []byte // canonical JSON; nil when the cell is not there

	at Info
}

// cellDoc is the stored form of a Cell. Nonce makes two writers' equal bodies differ.
type cellDoc struct {
	Format string          `json:"format"`
	Nonce  string          `json:"nonce"`
	Body   json.RawMessage `json:"body"`
}

const cellFormat = "cxrepro.cell/1"

var cellAreas = []string{areaLeases, areaBudgets}

func cellName(area, name string) (string, error) {
	if !slices.Contains(cellAreas, area+"/") {
		return "", fmt.Errorf("cell %s/%s: the areas are leases and budgets", clip(area), clip(name))
	}
	if err := CheckPinName(name); err != nil {
		return "", fmt.Errorf("cell of %s: %w", area, err)
	}
	return area + "/" + name, nil
}

// Cell returns the cell of that name. When there is none, the error is ErrNotFound and
// the returned Cell can be given to SwapCell to make it. Names are those of pins.
func (r *Repository) Cell(ctx context.Context, area, name string) (Cell, error) {
	c := Cell{Area: area, Name: name}
	object, err := cellName(area, name)
	if err != nil {
		return c, err
	}
	data, info, err := r.bucket.Read(ctx, object)
	if err != nil {
		return c, fmt.Errorf("cell %s: %w", object, err)
	}
	var doc cellDoc
	if err := json.Unmarshal(data, &doc); err != nil || doc.Format != cellFormat {
		return c, r.foreign("read cell", object)
	}
	c.Body, c.at = doc.Body, info
	return c, nil
}

// SwapCell replaces old, as Cell or SwapCell returned it, by body and returns the new
// state. Body is a JSON text and is stored in canonical form. Errors: ErrPrecondition
// when the cell is in another state than old; read it again then.
func (r *Repository) SwapCell(ctx context.Context, old Cell, body []byte) (Cell, error) {
	object, err := cellName(old.Area, old.Name)
	if err != nil {
		return old, err
	}
	if err := ctx.Err(); err != nil {
		return old, err
	}
	text, err := Canonical(json.RawMessage(body))
	if err != nil {
		return old, fmt.Errorf("cell %s: %w", object, err)
	}
	stored, err := Canonical(cellDoc{cellFormat, r.host.Nonce(), text})
	if err != nil {
		return old, fmt.Errorf("cell %s: %w", object, err)
	}
	var info Info
	if old.at.Version == "" {
		info, err = r.createCell(ctx, object, stored)
	} else {
		info, err = r.swapCell(ctx, object, old.at, stored)
	}
	if err != nil {
		return old, fmt.Errorf("cell %s: %w", object, err)
	}
	return Cell{Area: old.Area, Name: old.Name, Body: text, at: info}, nil
}
