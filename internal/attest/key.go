package attest

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
)

// PublicKey is an ed25519 public key.
type PublicKey ed25519.PublicKey

// spki is the standard encoding of the key.
func (p PublicKey) spki() []byte {
	// The standard library encodes every ed25519 key.
	out, err := x509.MarshalPKIXPublicKey(ed25519.PublicKey(p))
	if err != nil {
		panic(err)
	}
	return out
}

// ID is the key id: 64 hexadecimal digits.
func (p PublicKey) ID() string {
	sum := sha256.Sum256(p.spki())
	return hex.EncodeToString(sum[:])
}

// PEM returns the key as a PEM block, as openssl reads it.
func (p PublicKey) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: p.spki()})
}

// Line returns the key as a line of a trust file.
func (p PublicKey) Line(name string) string {
	return keyKind + " " + base64.StdEncoding.EncodeToString(p) + " " + name
}

// ParsePublicKey reads a PEM block.
func ParsePublicKey(data []byte) (PublicKey, error) {
	block, rest := pem.Decode(data)
	if block == nil || block.Type != "PUBLIC KEY" || len(rest) > 0 {
		return nil, errors.New("public key: want one PEM block PUBLIC KEY")
	}
	any, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("public key: %w", err)
	}
	key, ok := any.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("public key: want ed25519, got %T", any)
	}
	return PublicKey(key), nil
}

// Key is a key that can sign. It prints as its id.
type Key struct{ private ed25519.PrivateKey }

// Public returns the public half.
func (k *Key) Public() PublicKey { return PublicKey(k.private.Public().(ed25519.PublicKey)) }

// ID is the key id of the public half.
func (k *Key) ID() string { return k.Public().ID() }

// String returns the id, so that no print shows more.
func (k *Key) String() string { return k.ID() }

// GoString returns the id.
func (k *Key) GoString() string { return k.ID() }

func (k *Key) pem() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k.private)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

func parseKey(data []byte) (*Key, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, errors.New("no PEM block PRIVATE KEY in it")
	}
	any, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it is no private key in PKCS#8 form")
	}
	key, ok := any.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("want ed25519, got %T", any)
	}
	return &Key{private: key}, nil
}
