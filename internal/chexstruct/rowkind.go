package chexstruct

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// rowKind is the type of a row's value. The zero value is invalid.
type rowKind uint8

const (
	kindNumber   rowKind = iota + 1 // any finite number
	kindPositive                    // a number above 0
	kindFraction                    // a number from 0 to 1
	kindCount                       // a whole number from 0
	kindPoints                      // a whole number from 2 to 1000
	kindRange                       // [low, high], low not above high
	kindPairs                       // ten numbers, for rib pairs 1-2 to 10-11
	kindLevels                      // three whole percentages, 1 to 100
	kindChoice                      // one of the row's texts
	kindDigit                       // one of the row's whole numbers
	kindFixed                       // exactly the table's value
)

var kindText = [...]string{kindNumber: "number", kindPositive: "positive", kindFraction: "fraction", kindCount: "count", kindPoints: "points",
	kindRange: "range", kindPairs: "pairs", kindLevels: "levels", kindChoice: "choice", kindDigit: "digit", kindFixed: "fixed"}

// ribPairs is the number of neighbouring pairs among eleven ribs.
const ribPairs = 10

// rowValue is a checked value of any kind.
type rowValue struct {
	num  float64
	list []float64
	text string
}

// read checks a raw value as YAML, JSON or a command line gives it. The error is the
// description of what would be right.
func (k rowKind) read(raw any, options []any) (rowValue, error) {
	switch k {
	case kindNumber, kindPositive, kindFraction, kindCount, kindPoints:
		return k.readNumber(raw)
	case kindRange, kindPairs, kindLevels:
		return k.readList(raw)
	case kindChoice, kindDigit:
		return k.readChoice(raw, options)
	case kindFixed:
		if s, ok := raw.(string); ok {
			return rowValue{text: s}, nil
		}
		if v, ok := toNumber(raw); ok {
			return rowValue{num: v}, nil
		}
	}
	return rowValue{}, errors.New("a text or a number")
}

func (k rowKind) readNumber(raw any) (rowValue, error) {
	v, ok := toNumber(raw)
	switch k {
	case kindNumber:
		if !ok {
			return rowValue{}, errors.New("a number")
		}
	case kindPositive:
		if !ok || v <= 0 {
			return rowValue{}, errors.New("a number above 0")
		}
	case kindFraction:
		if !ok || v < 0 || v > 1 {
			return rowValue{}, errors.New("a number from 0 to 1")
		}
	case kindCount:
		if !ok || v < 0 || v != math.Trunc(v) {
			return rowValue{}, errors.New("a whole number from 0")
		}
	case kindPoints:
		if !ok || v < 2 || v > 1000 || v != math.Trunc(v) {
			return rowValue{}, errors.New("a whole number from 2 to 1000")
		}
	}
	return rowValue{num: v}, nil
}

func (k rowKind) readList(raw any) (rowValue, error) {
	list, ok := toNumbers(raw)
	switch k {
	case kindRange:
		if !ok || len(list) != 2 || list[0] > list[1] {
			return rowValue{}, errors.New("two numbers [low, high]")
		}
	case kindPairs:
		if !ok || len(list) != ribPairs {
			return rowValue{}, fmt.Errorf("a list of %d numbers, one per pair of neighbouring ribs", ribPairs)
		}
	case kindLevels:
		good := ok && len(list) == 3
		for _, v := range list {
			good = good && v >= 1 && v <= 100 && v == math.Trunc(v)
		}
		if !good {
			return rowValue{}, errors.New("three whole percentages from 1 to 100")
		}
	}
	return rowValue{list: list}, nil
}

func (k rowKind) readChoice(raw any, options []any) (rowValue, error) {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = fmt.Sprint(o)
		if k == kindDigit {
			v, ok := toNumber(raw)
			if want, _ := toNumber(o); ok && v == want {
				return rowValue{num: v}, nil
			}
			continue
		}
		if s, ok := raw.(string); ok && s == o {
			return rowValue{text: s}, nil
		}
	}
	return rowValue{}, fmt.Errorf("one of %s", strings.Join(names, ", "))
}

// toNumber accepts the number types of YAML and JSON decoders and of Go callers.
func toNumber(raw any) (float64, bool) {
	var v float64
	switch t := raw.(type) {
	case float64:
		v = t
	case int:
		v = float64(t)
	case int64:
		v = float64(t)
	case uint64:
		v = float64(t)
	default:
		return 0, false
	}
	return v, !math.IsNaN(v) && !math.IsInf(v, 0)
}

func toNumbers(raw any) ([]float64, bool) {
	switch t := raw.(type) {
	case []float64:
		out := append([]float64(nil), t...)
		for _, v := range out {
			if _, ok := toNumber(v); !ok {
				return nil, false
			}
		}
		return out, true
	case []any:
		out := make([]float64, len(t))
		for i, e := range t {
			v, ok := toNumber(e)
			if !ok {
				return nil, false
			}
			out[i] = v
		}
		return out, true
	}
	return nil, false
}

// plain returns the value as JSON-like data: a float64, a []any of float64, or a string.
func (k rowKind) plain(v rowValue) any {
	switch k {
	case kindRange, kindPairs, kindLevels:
		out := make([]any, len(v.list))
		for i, e := range v.list {
			out[i] = e
		}
		return out
	case kindChoice:
		return v.text
	case kindFixed:
		if v.text != "" {
			return v.text
		}
	}
	return v.num
}
