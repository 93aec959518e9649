package chexstruct

// Limit is one row of the threshold table under the rules, with what people need to read
// it. Value is a float64, a []any of float64, or a text.
type Limit struct {
	Name string
	// Compare is the comparison that passes or includes, as the table writes it: ">=",
	// ">", "<", "<=", "in[)", "in[]", "not both >=", "==", "=" for a parameter, "select"
	// for a switch.
	Compare string
	Value   any
	// Unit and About are in words; Source says where the value comes from.
	Unit, About, Source string
}

// Limit returns a row by name; ok is false when the table has none of that name.
func (r *Rules) Limit(name string) (l Limit, ok bool) {
	t := defaultTable()
	id, ok := t.byName[name]
	if !ok {
		return Limit{}, false
	}
	row := t.rows[id]
	return Limit{Name: row.Row, Compare: row.Compare, Value: r.rowValue(id).Value, Unit: row.Unit, About: row.About, Source: row.Source}, true
}

// Landmark returns a landmark by name; ok is false when it was not found.
func (f *Finding) Landmark(name string) (l Landmark, ok bool) { return landmark(f.Landmarks, name) }

// Landmark returns a landmark by name; ok is false when it was not found.
func (d *FilterDecision) Landmark(name string) (l Landmark, ok bool) {
	return landmark(d.Landmarks, name)
}

func landmark(list []Landmark, name string) (Landmark, bool) {
	for _, l := range list {
		if l.Name == name {
			return l, true
		}
	}
	return Landmark{}, false
}
