package artifacts

import (
	"fmt"
	"sort"
	"strings"
)

// keyFormat names the encoding of key documents. It is part of every key, so a new
// encoding can never collide with an old one.
const keyFormat = "cxrepro.key/1"

// Material is one named input of a step.
type Material struct {
	Name   string `json:"name"`
	Digest Digest `json:"digest"`
}

// KeyDoc says everything that a step's result depends on. Nothing that only says how
// fast or where (threads, time limits, addresses, paths) may enter it.
//
// Params must be representable as JSON. Inputs may come in any order; names are unique.
type KeyDoc struct {
	Step    string         `json:"step"`
	Version int            `json:"version"`
	Params  map[string]any `json:"params"`
	Inputs  []Material     `json:"inputs"`
}

// Canonical returns the bytes whose digest is the key: canonical JSON with the inputs
// sorted by name.
func (k KeyDoc) Canonical() ([]byte, error) {
	if err := CheckStep(k.Step); err != nil {
		return nil, fmt.Errorf("key document: %w", err)
	}
	if k.Version < 1 {
		return nil, fmt.Errorf("key document of %s: version %d, want 1 or more", k.Step, k.Version)
	}
	inputs := append([]Material{}, k.Inputs...)
	sort.Slice(inputs, func(i, j int) bool { return inputs[i].Name < inputs[j].Name })
	for i, in := range inputs {
		if in.Name == "" || in.Digest.IsZero() {
			return nil, fmt.Errorf("key document of %s: input %q has no name or no digest", k.Step, in.Name)
		}
		if i > 0 && inputs[i-1].Name == in.Name {
			return nil, fmt.Errorf("key document of %s: two inputs are called %q; give each its own name", k.Step, in.Name)
		}
	}
	b, err := appendKeyDoc(make([]byte, 0, 512), &k, inputs)
	if err != nil {
		return nil, fmt.Errorf("key document of %s: %w", k.Step, err)
	}
	return b, nil
}

// Key returns the document's key.
func (k KeyDoc) Key() (Key, error) {
	b, err := k.Canonical()
	if err != nil {
		return Key{}, err
	}
	return Key{Step: k.Step, Digest: Sum(b)}, nil
}

// Key names one computation. Text form: "<step>/sha256:<hex>".
type Key struct {
	Step   string
	Digest Digest
}

// ParseKey reads the text form.
func ParseKey(s string) (Key, error) {
	step, text, ok := strings.Cut(s, "/")
	if !ok {
		return Key{}, fmt.Errorf("key %q: want <step>/sha256:<hex>", clip(s))
	}
	if err := CheckStep(step); err != nil {
		return Key{}, fmt.Errorf("key %q: %w", clip(s), err)
	}
	d, err := ParseDigest(text)
	if err != nil {
		return Key{}, fmt.Errorf("key of step %s: %w", step, err)
	}
	return Key{Step: step, Digest: d}, nil
}

// String returns the text form.
func (k Key) String() string { return k.Step + "/" + k.Digest.String() }

// Short returns step and the first 12 digits, for logs and tables.
func (k Key) Short() string { return k.Step + "/" + k.Digest.Short() }

// IsZero reports whether k names nothing.
func (k Key) IsZero() bool { return k.Step == "" && k.Digest.IsZero() }

// MarshalText returns the text form; the zero value is the empty text.
func (k Key) MarshalText() ([]byte, error) {
	if k.IsZero() {
		return []byte{}, nil
	}
	return []byte(k.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (k *Key) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*k = Key{}
		return nil
	}
	p, err := ParseKey(string(b))
	if err != nil {
		return err
	}
	*k = p
	return nil
}

// CheckStep reports why name cannot be a step name: 1 to 64 of a-z, 0-9, "-", "_" and
// ".", starting with a letter. Step names are parts of object names.
func CheckStep(name string) error {
	if len(name) == 0 || len(name) > 64 {
		return fmt.Errorf("step name %q: want 1 to 64 characters", clip(name))
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		letter := c >= 'a' && c <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-' && c != '_' && c != '.') {
			return fmt.Errorf("step name %q: character %q at %d; want a-z, 0-9, - _ . and a letter first", clip(name), c, i)
		}
	}
	return nil
}
