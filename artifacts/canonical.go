package artifacts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Canonical returns the one JSON text of v: no white space, object names in ascending
// order of their bytes, numbers in their shortest form (1.0 and 1 are the same number,
// -0 is 0), strings with the fewest escapes and without HTML escaping. Equal values
// give equal bytes whatever the order of a Go map or of the fields of a raw message.
//
// JSON values are self-delimiting, so two different values never share a text.
//
// Errors: NaN and infinities, strings that are not UTF-8, an object with the same name
// twice, a number that no float64 or 64-bit integer holds exactly, and whatever
// encoding/json cannot represent.
func Canonical(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON of %T: %w", v, err)
	}
	if replaced(raw) {
		return nil, fmt.Errorf("canonical JSON of %T: a string is not valid UTF-8", v)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	out, err := appendValue(make([]byte, 0, len(raw)), dec)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON of %T: %w", v, err)
	}
	return out, nil
}

// replaced reports whether encoding/json wrote a replacement for bytes that are not
// UTF-8: it writes the escape for those, and the character itself for a real U+FFFD.
func replaced(raw []byte) bool {
	escape := []byte(`\ufffd`)
	for at := 0; ; {
		i := bytes.Index(raw[at:], escape)
		if i < 0 {
			return false
		}
		i += at
		backslashes := 1
		for j := i - 1; j >= 0 && raw[j] == '\\'; j-- {
			backslashes++
		}
		if backslashes%2 == 1 {
			return true
		}
		at = i + len(escape)
	}
}

func appendValue(dst []byte, dec *json.Decoder) ([]byte, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := tok.(type) {
	case json.Delim:
		if t == '{' {
			return appendObject(dst, dec)
		}
		return appendArray(dst, dec)
	case string:
		return appendString(dst, t), nil
	case json.Number:
		return appendNumber(dst, t.String())
	case bool:
		return strconv.AppendBool(dst, t), nil
	default:
		return append(dst, "null"...), nil
	}
}

type member struct {
	name string
	from int
	to   int
}

func appendObject(dst []byte, dec *json.Decoder) ([]byte, error) {
	var members []member
	var values []byte
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := tok.(string)
		from := len(values)
		if values, err = appendValue(values, dec); err != nil {
			return nil, fmt.Errorf("%s: %w", clip(name), err)
		}
		members = append(members, member{name, from, len(values)})
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	sort.SliceStable(members, func(i, j int) bool { return members[i].name < members[j].name })
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			if m.name == members[i-1].name {
				return nil, fmt.Errorf("object has the name %q twice", clip(m.name))
			}
			dst = append(dst, ',')
		}
		dst = appendString(dst, m.name)
		dst = append(dst, ':')
		dst = append(dst, values[m.from:m.to]...)
	}
	return append(dst, '}'), nil
}

func appendArray(dst []byte, dec *json.Decoder) ([]byte, error) {
	dst = append(dst, '[')
	for n := 0; dec.More(); n++ {
		if n > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendValue(dst, dec); err != nil {
			return nil, fmt.Errorf("[%d]: %w", n, err)
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	return append(dst, ']'), nil
}

func appendString(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\b':
			dst = append(dst, '\\', 'b')
		case r == '\f':
			dst = append(dst, '\\', 'f')
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

// appendNumber writes integers of 64 bits digit by digit and everything else as the
// shortest text that reads back as the same float64.
func appendNumber(dst []byte, s string) ([]byte, error) {
	if !strings.ContainsAny(s, ".eE") {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return strconv.AppendInt(dst, n, 10), nil
		}
		if n, err := strconv.ParseUint(s, 10, 64); err == nil {
			return strconv.AppendUint(dst, n, 10), nil
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fmt.Errorf("number %s does not fit a float64", clip(s))
	}
	if f == 0 {
		return append(dst, '0'), nil
	}
	text := strconv.AppendFloat(nil, f, 'f', -1, 64)
	if a := math.Abs(f); a < 1e-6 || a >= 1e21 {
		text = strconv.AppendFloat(nil, f, 'e', -1, 64)
		if n := len(text); text[n-4] == 'e' && text[n-2] == '0' { // e-07 becomes e-7
			text = append(text[:n-2], text[n-1])
		}
	}
	if !strings.ContainsAny(s, ".eE") && string(text) != s {
		return nil, fmt.Errorf("integer %s is not exact as a float64; write it as a string", clip(s))
	}
	return append(dst, text...), nil
}
