package artifacts

import (
	"bytes"
	"fmt"
	"testing"
)

// TestDecodeEntry: an entry that carries its statement is read in two ways. The quick one takes
// nothing that the other one refuses, and both read the same; one wrong byte is never taken for
// what was written.
func TestDecodeEntry(t *testing.T) {
	key, err := KeyDoc{Step: "call", Version: 1}.Key()
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{`{"a":"b"}`, fmt.Sprintf(`{"a":",\"key\":\"%s\",\"result\":{\"","b":{"key":"%s","result":{"size":1}}}`, key, key)} {
		rec := Record{Key: key, Result: Ref{Sum([]byte("x")), 1, `text/plain; x="y"`}, Statement: statementRef([]byte(statement)), Inline: []byte(statement)}
		data, err := encodeEntry(rec)
		if err != nil {
			t.Fatal(err)
		}
		for name, decode := range map[string]func([]byte, Key) (Record, bool){"quick": decodeInline, "any": decodeAny} {
			if got, ok := decode(data, key); !ok || !got.Equal(rec) {
				t.Errorf("%s: read %v %v", name, ok, got)
			}
		}
		for i := range data {
			other := bytes.Clone(data)
			other[i] ^= 1
			quick, ok := decodeInline(other, key)
			if !ok {
				continue
			}
			if slow, ok := decodeAny(other, key); !ok || !slow.Equal(quick) {
				t.Errorf("byte %d changed: %v, %v and %v", i, ok, quick, slow)
			}
			if quick.Equal(rec) {
				t.Errorf("byte %d changed: nothing noticed", i)
			}
		}
		for cut := range data {
			if _, ok := decodeEntry(data[:cut], key); ok {
				t.Errorf("%d of %d bytes were read as an entry", cut, len(data))
			}
		}
	}
}
