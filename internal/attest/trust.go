package attest

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"
)

// keyKind begins a line of a trust file.
const keyKind = "ed25519"

// Trust is the signers that are known, by key id.
type Trust struct {
	names map[string]string
	keys  map[string]PublicKey
}

// Add makes a signer known.
func (t *Trust) Add(key PublicKey, name string) {
	if t.names == nil {
		t.names, t.keys = map[string]string{}, map[string]PublicKey{}
	}
	t.names[key.ID()], t.keys[key.ID()] = name, key
}

// Name returns the name of a signer; ok is false for one that is not known.
func (t *Trust) Name(id string) (name string, ok bool) {
	name, ok = t.names[id]
	return name, ok
}

// Key returns the public key of a known signer.
func (t *Trust) Key(id string) (PublicKey, bool) {
	k, ok := t.keys[id]
	return k, ok
}

// Read adds the signers of a trust file: a line for each, "ed25519 BASE64 NAME", as `keys show`
// prints it. Empty lines and lines that begin with # are passed over.
//
// Errors name file and line.
func (t *Trust) Read(file string, data []byte) error {
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		parts := strings.Fields(line)
		if len(parts) < 2 || parts[0] != keyKind {
			return fmt.Errorf("%s:%d: want %q, as `cxrepro keys show` prints it", file, i+1, keyKind+" BASE64 NAME")
		}
		raw, err := base64.StdEncoding.DecodeString(parts[1])
		if err != nil || len(raw) != ed25519.PublicKeySize {
			return fmt.Errorf("%s:%d: the second word is no public key: want %d bytes as base64", file, i+1, ed25519.PublicKeySize)
		}
		name := strings.Join(parts[2:], " ")
		if name == "" {
			name = fmt.Sprintf("line %d of %s", i+1, file)
		}
		t.Add(PublicKey(raw), name)
	}
	return nil
}
