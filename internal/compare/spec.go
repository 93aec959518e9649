package compare

import (
	"encoding/json"
	"slices"
	"strings"

	"cxrepro/experiments"
	"cxrepro/internal/provenance"
)

// spec compares the plans field by field. A model card is named by the card, not by its place.
func (c *comparison) spec() error {
	ours, err := flat(c.a.Plan, c.b.Plan)
	if err != nil {
		return err
	}
	other, err := flat(c.b.Plan, c.a.Plan)
	if err != nil {
		return err
	}
	how, err := provenance.CompareDocuments(ours, other)
	if err != nil {
		return err
	}
	for _, d := range how.Differs {
		d.Field = strings.TrimPrefix(d.Field, "spec.") // as --set writes it
		c.d.Spec = append(c.d.Spec, d)
	}
	slices.SortStableFunc(c.d.Spec, func(x, y provenance.Difference) int { return said(x.Field) - said(y.Field) })
	return nil
}

// said puts names and titles last: they move no number.
func said(field string) int {
	if field == "name" || field == "paper" || strings.HasPrefix(field, "expected.") {
		return 1
	}
	return 0
}

// flat is a plan for a comparison with another one. What only one of them has is its name.
func flat(p, other *experiments.Plan) ([]byte, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	models := map[string]any{}
	for _, m := range p.Models {
		models[m.Name] = m
		if !slices.ContainsFunc(other.Models, func(o experiments.ModelCard) bool { return o.Name == m.Name }) {
			models[m.Name] = m.Title
		}
	}
	if delete(doc, "models"); len(models) > 0 {
		doc["models"] = models
	}
	if p.Judge != nil && other.Judge == nil {
		doc["judge"] = p.Judge.Name
	}
	if p.Model != nil && other.Model == nil {
		doc["model"] = p.Model.Name
	}
	return json.Marshal(doc)
}
