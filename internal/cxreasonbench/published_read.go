package cxreasonbench

import (
	"maps"
	"slices"
)

// Models returns the names of the models, sorted.
func (p *Published) Models() []string {
	names := map[string]bool{}
	for k := range p.rows {
		names[k.model] = true
	}
	return slices.Sorted(maps.Keys(names))
}
