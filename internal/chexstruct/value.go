package chexstruct

import (
	"encoding/json"
	"fmt"
	"math"

	"cxrepro/internal/geom"
)

// Kind says what a [Value] holds.
type Kind uint8

// Kinds. The zero value is the absent value, null in JSON.
const (
	KindNone Kind = iota
	KindNumber
	KindText
	KindList
)

// Value is a measured figure as a result carries it: nothing, a number, a text, or a
// list of values (a pair for two sides, a point, a list of points). Values are immutable.
type Value struct {
	kind Kind
	num  float64
	text string
	list []Value
}

// None is the absent value.
func None() Value { return Value{} }

// Number returns a number; infinities and NaN become the absent value.
func Number(v float64) Value {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Value{}
	}
	return Value{kind: KindNumber, num: v}
}

// Int returns a whole number.
func Int(v int) Value { return Number(float64(v)) }

// Text returns a text.
func Text(s string) Value { return Value{kind: KindText, text: s} }

// List returns a list.
func List(v ...Value) Value { return Value{kind: KindList, list: append([]Value{}, v...)} }

// Pair returns two numbers, the patient's right side first where they are sides.
func Pair(a, b float64) Value { return List(Number(a), Number(b)) }

// PointValue returns [x, y].
func PointValue(p geom.Point) Value { return List(Int(p.X), Int(p.Y)) }

// Kind returns what the value holds.
func (v Value) Kind() Kind { return v.kind }

// Float returns the number; ok is false for any other kind.
func (v Value) Float() (f float64, ok bool) { return v.num, v.kind == KindNumber }

// Text returns the text; ok is false for any other kind.
func (v Value) Text() (s string, ok bool) { return v.text, v.kind == KindText }

// Len returns the number of elements of a list, 0 for any other kind.
func (v Value) Len() int { return len(v.list) }

// At returns element i of a list.
func (v Value) At(i int) Value { return v.list[i] }

// Vec returns a list of two numbers as a position; ok is false for anything else.
func (v Value) Vec() (p geom.Vec, ok bool) {
	if v.kind != KindList || len(v.list) != 2 {
		return geom.Vec{}, false
	}
	x, okX := v.list[0].Float()
	y, okY := v.list[1].Float()
	return geom.Vec{X: x, Y: y}, okX && okY
}

// MarshalJSON encodes null, a number in its shortest form, a string or an array.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.kind {
	case KindNumber:
		return json.Marshal(v.num)
	case KindText:
		return json.Marshal(v.text)
	case KindList:
		return json.Marshal(v.list)
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads what [Value.MarshalJSON] writes.
func (v *Value) UnmarshalJSON(b []byte) error {
	var raw any
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	got, err := valueOf(raw)
	if err != nil {
		return err
	}
	*v = got
	return nil
}

func valueOf(raw any) (Value, error) {
	switch t := raw.(type) {
	case nil:
		return None(), nil
	case float64:
		return Number(t), nil
	case string:
		return Text(t), nil
	case []any:
		list := make([]Value, len(t))
		for i, e := range t {
			var err error
			if list[i], err = valueOf(e); err != nil {
				return None(), err
			}
		}
		return Value{kind: KindList, list: list}, nil
	}
	return None(), fmt.Errorf("chexstruct: a value cannot be a %T", raw)
}
