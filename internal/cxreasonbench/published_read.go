package cxreasonbench

import (
	"maps"
	"slices"
)

// Figure returns the printed cell of a task or group; ok is false where the paper has none.
func (p *Published) Figure(path Path, s Sampling, group, model string, c Column) (f PublishedFigure, ok bool) {
	return p.figure(path, s, group, model, c)
}

// Models returns the names of the models, sorted.
func (p *Published) Models() []string {
	names := map[string]bool{}
	for k := range p.rows {
		names[k.model] = true
	}
	return slices.Sorted(maps.Keys(names))
}
