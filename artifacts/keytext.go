package artifacts

import (
	"maps"
	"slices"
	"strconv"
)

// appendKeyDoc writes the canonical JSON of a key document. A run and a plan derive keys by the
// million, so what is simple is written as it is; Canonical writes the rest.
func appendKeyDoc(dst []byte, k *KeyDoc, inputs []Material) (_ []byte, err error) {
	dst = append(dst, `{"format":"`+keyFormat+`","inputs":[`...)
	for i, in := range inputs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"digest":`...)
		dst = appendDigest(dst, in.Digest)
		dst = append(dst, `,"name":`...)
		if dst, err = appendValue(dst, in.Name); err != nil {
			return nil, err
		}
		dst = append(dst, '}')
	}
	dst = append(dst, `],"params":`...)
	if dst, err = appendValue(dst, k.Params); err != nil {
		return nil, err
	}
	dst = append(dst, `,"step":"`...)
	dst = append(dst, k.Step...) // CheckStep lets nothing through that wants an escape
	dst = append(dst, `","version":`...)
	dst = strconv.AppendInt(dst, int64(k.Version), 10)
	return append(dst, '}'), nil
}

// appendValue appends the canonical JSON of v. A nil map is an empty object here.
func appendValue(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case map[string]any:
		return appendMap(dst, v)
	case string:
		if plain(v) {
			return append(append(append(dst, '"'), v...), '"'), nil
		}
	case Digest:
		return appendDigest(dst, v), nil
	case int:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	}
	text, err := Canonical(v)
	return append(dst, text...), err
}

func appendMap(dst []byte, m map[string]any) (_ []byte, err error) {
	for name := range m {
		if !plain(name) {
			text, err := Canonical(m)
			return append(dst, text...), err
		}
	}
	dst = append(dst, '{')
	for i, name := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), name...), `":`...)
		if value, is := m[name].(map[string]any); is && value == nil {
			dst = append(dst, "null"...)
		} else if dst, err = appendValue(dst, m[name]); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// appendDigest appends the JSON text of a digest, which is empty for the zero value.
func appendDigest(dst []byte, d Digest) []byte {
	text, _ := d.MarshalText() // never fails
	return append(append(append(dst, '"'), text...), '"')
}

// plain reports whether a text is its own JSON.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
