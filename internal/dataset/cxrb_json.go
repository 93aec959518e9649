package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// decodeOnce decodes a JSON object by its keys. A key that stands twice in any object of the
// file is an error: decoders disagree which of the two counts, and one of them would be lost
// without a word.
func decodeOnce(data []byte) (map[string]json.RawMessage, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	if m == nil {
		return nil, errors.New("null stands where an object is expected")
	}
	return m, checkKeys(data)
}

// checkKeys walks valid JSON for keys that stand twice.
func checkKeys(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	// open holds the keys of each object that is open, nil for a list.
	var open []map[string]bool
	key := false // the next token is a key or the end of an object
	for d.More() || len(open) > 0 {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch x := t.(type) {
		case json.Delim:
			switch x {
			case '{':
				open = append(open, map[string]bool{})
			case '[':
				open = append(open, nil)
			default:
				open = open[:len(open)-1]
			}
			key = x == '{' || (x != '[' && len(open) > 0 && open[len(open)-1] != nil)
			continue
		case string:
			if key {
				keys := open[len(open)-1]
				if keys[x] {
					return fmt.Errorf("the key %.60q stands twice", x)
				}
				keys[x], key = true, false
				continue
			}
		}
		key = len(open) > 0 && open[len(open)-1] != nil
	}
	return nil
}
