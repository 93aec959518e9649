package chexstruct

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// object writes a JSON object whose members keep their order.
type object struct {
	buf bytes.Buffer
	err error
}

func (o *object) member(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil && o.err == nil {
		o.err = err
	}
	sep := byte(',')
	if o.buf.Len() == 0 {
		sep = '{'
	}
	o.buf.WriteByte(sep)
	key, _ := json.Marshal(name)
	o.buf.Write(key)
	o.buf.WriteByte(':')
	o.buf.Write(b)
}

func (o *object) bytes() ([]byte, error) {
	if o.err != nil {
		return nil, o.err
	}
	if o.buf.Len() == 0 {
		return []byte("{}"), nil
	}
	o.buf.WriteByte('}')
	return o.buf.Bytes(), nil
}

// pairOf is one member of a decoded object.
type pairOf struct {
	name string
	raw  json.RawMessage
}

// members reads an object and keeps the order of its members.
func members(b []byte) ([]pairOf, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("chexstruct: want a JSON object")
	}
	var list []pairOf
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, err
		}
		list = append(list, pairOf{t.(string), raw})
	}
	return list, nil
}

// orNull turns the empty text into null.
func orNull[T ~string](s T) any {
	if s == "" {
		return nil
	}
	return s
}

type checks []Check

type checkJSON struct {
	Pass  bool  `json:"pass"`
	Value Value `json:"value"`
}

func (c checks) MarshalJSON() ([]byte, error) {
	var o object
	for _, k := range c {
		o.member(k.Rule.String(), checkJSON{k.Pass, k.Value})
	}
	return o.bytes()
}

func (c *checks) UnmarshalJSON(b []byte) error {
	list, err := members(b)
	if err != nil {
		return err
	}
	*c = nil
	for _, m := range list {
		var k Check
		if err := k.Rule.UnmarshalText([]byte(m.name)); err != nil {
			return err
		}
		var v checkJSON
		if err := json.Unmarshal(m.raw, &v); err != nil {
			return err
		}
		k.Pass, k.Value = v.Pass, v.Value
		*c = append(*c, k)
	}
	return nil
}

type measurements []Measurement

func (m measurements) MarshalJSON() ([]byte, error) {
	var o object
	for _, v := range m {
		o.member(v.Name, v.Value)
	}
	return o.bytes()
}

func (m *measurements) UnmarshalJSON(b []byte) error {
	list, err := members(b)
	if err != nil {
		return err
	}
	*m = nil
	for _, p := range list {
		v := Measurement{Name: p.name}
		if err := json.Unmarshal(p.raw, &v.Value); err != nil {
			return err
		}
		*m = append(*m, v)
	}
	return nil
}

// MarshalJSON encodes a flag as 1, 0 or null.
func (f Flag) MarshalJSON() ([]byte, error) {
	switch f {
	case FlagIncluded:
		return []byte("1"), nil
	case FlagExcluded:
		return []byte("0"), nil
	case FlagMixed:
		return []byte("null"), nil
	}
	return nil, fmt.Errorf("chexstruct: invalid flag %d", uint8(f))
}

// UnmarshalJSON reads 1, 0 or null.
func (f *Flag) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "1":
		*f = FlagIncluded
	case "0":
		*f = FlagExcluded
	case "null":
		*f = FlagMixed
	default:
		return fmt.Errorf("chexstruct: %s is no flag", b)
	}
	return nil
}

type partsJSON struct {
	Apex   [2]Flag `json:"apex"`
	Side   [2]Flag `json:"side"`
	Bottom [2]Flag `json:"bottom"`
}

// findingJSON is the decoded form of a finding.
type findingJSON struct {
	Status       Status       `json:"status"`
	Reason       *Reason      `json:"reason"`
	QC           checks       `json:"qc"`
	Measurements measurements `json:"measurements"`
	Index        Value        `json:"index"`
	Rounded      Value        `json:"index_rounded"`
	Label        *Label       `json:"label"`
	Parts        *partsJSON   `json:"parts"`
}

// MarshalJSON encodes the finding as the member of its task in a result: status, reason,
// qc by rule, failed, measurements by name, index, index_rounded, label, and parts for the
// inclusion task. The task itself is the member's name.
func (f Finding) MarshalJSON() ([]byte, error) {
	var o object
	o.member("status", f.Status)
	o.member("reason", orNull(f.Reason))
	o.member("qc", checks(f.Checks))
	o.member("failed", f.Failed())
	o.member("measurements", measurements(f.Measurements))
	o.member("index", f.Index)
	o.member("index_rounded", f.Rounded)
	o.member("label", orNull(f.Label))
	if f.Task == Inclusion || f.Parts != nil {
		o.member("parts", (*partsJSON)(f.Parts))
	}
	return o.bytes()
}

// UnmarshalJSON reads what [Finding.MarshalJSON] writes. The task keeps its value.
func (f *Finding) UnmarshalJSON(b []byte) error {
	var j findingJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*f = Finding{Task: f.Task, Status: j.Status, Checks: j.QC, Measurements: j.Measurements,
		Index: j.Index, Rounded: j.Rounded, Parts: (*Parts)(j.Parts)}
	if j.Reason != nil {
		f.Reason = *j.Reason
	}
	if j.Label != nil {
		f.Label = *j.Label
	}
	return nil
}

// MarshalJSON encodes the filter's decision: qc by rule, failed, orientation.
func (d FilterDecision) MarshalJSON() ([]byte, error) {
	var o object
	o.member("qc", checks(d.Checks))
	o.member("failed", d.Failed())
	o.member("orientation", d.Orientation)
	return o.bytes()
}

// UnmarshalJSON reads what [FilterDecision.MarshalJSON] writes.
func (d *FilterDecision) UnmarshalJSON(b []byte) error {
	var j struct {
		QC          checks      `json:"qc"`
		Orientation Orientation `json:"orientation"`
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*d = FilterDecision{Checks: j.QC, Orientation: j.Orientation}
	return nil
}

// gradedJSON writes a measurement with or without a side, under the side's own name.
func gradedJSON(g *Graded, side string) any {
	if g == nil {
		return nil
	}
	return gradedWith{g, side}
}

type gradedWith struct {
	g    *Graded
	side string
}

func (w gradedWith) MarshalJSON() ([]byte, error) {
	var o object
	o.member("value", w.g.Value)
	o.member("rounded", w.g.Rounded)
	o.member("category", w.g.Category)
	if w.side != "" {
		o.member(w.side, orNull(w.g.Side))
	}
	return o.bytes()
}

// MarshalJSON encodes the bundle: exposed, reason, and the three measurements or null.
func (b Bundle) MarshalJSON() ([]byte, error) {
	var o object
	o.member("exposed", b.Exposed)
	o.member("reason", orNull(b.Reason))
	o.member("ctr", gradedJSON(b.CTR, ""))
	o.member("asymmetry", gradedJSON(b.Asymmetry, "smaller"))
	o.member("shift", gradedJSON(b.Shift, "direction"))
	return o.bytes()
}

// UnmarshalJSON reads what [Bundle.MarshalJSON] writes.
func (b *Bundle) UnmarshalJSON(data []byte) error {
	type graded struct {
		Value     float64 `json:"value"`
		Rounded   float64 `json:"rounded"`
		Category  string  `json:"category"`
		Smaller   string  `json:"smaller"`
		Direction string  `json:"direction"`
	}
	var j struct {
		Exposed               bool
		Reason                *Reason
		CTR, Asymmetry, Shift *graded
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	back := func(g *graded) *Graded {
		if g == nil {
			return nil
		}
		return &Graded{Value: g.Value, Rounded: g.Rounded, Category: g.Category, Side: g.Smaller + g.Direction}
	}
	*b = Bundle{Exposed: j.Exposed, CTR: back(j.CTR), Asymmetry: back(j.Asymmetry), Shift: back(j.Shift)}
	if j.Reason != nil {
		b.Reason = *j.Reason
	}
	return nil
}

type findings []Finding

func (list findings) MarshalJSON() ([]byte, error) {
	var o object
	for _, f := range list {
		o.member(f.Task.String(), f)
	}
	return o.bytes()
}

// MarshalJSON encodes the result: case, global, tasks by name, xragent; sections that
// were not asked for are left out.
func (r Result) MarshalJSON() ([]byte, error) {
	var o object
	o.member("case", r.Case)
	if r.Global != nil {
		o.member("global", r.Global)
	}
	o.member("tasks", findings(r.Findings))
	if r.XRagent != nil {
		o.member("xragent", r.XRagent)
	}
	return o.bytes()
}

// UnmarshalJSON reads what [Result.MarshalJSON] writes.
func (r *Result) UnmarshalJSON(b []byte) error {
	var j struct {
		Case    string          `json:"case"`
		Global  *FilterDecision `json:"global"`
		Tasks   json.RawMessage `json:"tasks"`
		XRagent *Bundle         `json:"xragent"`
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	list, err := members(j.Tasks)
	if err != nil {
		return err
	}
	*r = Result{Case: j.Case, Global: j.Global, XRagent: j.XRagent}
	for _, m := range list {
		var f Finding
		if err := f.Task.UnmarshalText([]byte(m.name)); err != nil {
			return err
		}
		if err := json.Unmarshal(m.raw, &f); err != nil {
			return err
		}
		r.Findings = append(r.Findings, f)
	}
	return nil
}
