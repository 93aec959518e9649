package attest

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// StatementType is the payload type of in-toto statements.
const StatementType = "application/vnd.in-toto+json"

// EnvelopeMediaType is the media type of envelopes.
const EnvelopeMediaType = "application/vnd.dsse.envelope.v1+json"

// ErrWrongSignature is the error about a signature that does not belong to what it stands at.
var ErrWrongSignature = errors.New("the signature is wrong")

// Envelope is a signed text, in the form of the DSSE specification, version 1.
type Envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     encoded     `json:"payload"`
	Signatures  []Signature `json:"signatures"`
}

// Signature is one signature of an envelope. KeyID is a hint; the key decides.
type Signature struct {
	KeyID string  `json:"keyid"`
	Sig   encoded `json:"sig"`
}

// encoded is bytes as base64, written in the standard alphabet and read in either one.
type encoded []byte

// MarshalText writes the standard alphabet.
func (e encoded) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, e), nil
}

// UnmarshalText reads the standard alphabet or that of URLs.
func (e *encoded) UnmarshalText(b []byte) error {
	out, err := base64.StdEncoding.Strict().DecodeString(string(b))
	if err != nil {
		out, err = base64.URLEncoding.Strict().DecodeString(string(b))
	}
	*e = out
	return err
}

// preAuthentication is what is signed: type and text with their lengths, so that no part of
// one can be taken for the other (PAE of the specification).
func preAuthentication(payloadType string, payload []byte) []byte {
	out := make([]byte, 0, len(payload)+len(payloadType)+32)
	out = append(out, "DSSEv1 "...)
	out = append(strconv.AppendInt(out, int64(len(payloadType)), 10), ' ')
	out = append(append(out, payloadType...), ' ')
	out = append(strconv.AppendInt(out, int64(len(payload)), 10), ' ')
	return append(out, payload...)
}

// Sign puts a text into an envelope with one signature.
func (k *Key) Sign(payloadType string, payload []byte) Envelope {
	sig := ed25519.Sign(k.private, preAuthentication(payloadType, payload))
	return Envelope{PayloadType: payloadType, Payload: payload, Signatures: []Signature{{KeyID: k.ID(), Sig: sig}}}
}

// Encode returns the envelope as JSON, one object on one line.
func (e Envelope) Encode() ([]byte, error) { return json.Marshal(e) }

// DecodeEnvelope reads an envelope and refuses one that nobody signed.
func DecodeEnvelope(data []byte) (Envelope, error) {
	var e Envelope
	if err := json.Unmarshal(data, &e); err != nil {
		return e, fmt.Errorf("envelope: %w", err)
	}
	if e.PayloadType == "" || len(e.Signatures) == 0 {
		return e, errors.New("envelope: no payload type, or no signature")
	}
	return e, nil
}

// Verify returns the ids of the keys that signed. find returns the public key of an id.
//
// Errors: ErrWrongSignature when any signature is wrong, also beside right ones; a key that is
// not to be found.
func (e Envelope) Verify(find func(id string) (PublicKey, bool)) ([]string, error) {
	text := preAuthentication(e.PayloadType, e.Payload)
	var ids []string
	for _, s := range e.Signatures {
		key, ok := find(s.KeyID)
		if !ok {
			return nil, fmt.Errorf("the public key %s is not there", short(s.KeyID))
		}
		if len(s.Sig) != ed25519.SignatureSize || !ed25519.Verify(ed25519.PublicKey(key), text, s.Sig) {
			return nil, fmt.Errorf("%w: of key %s over %d bytes of %s", ErrWrongSignature, short(s.KeyID), len(e.Payload), e.PayloadType)
		}
		ids = append(ids, s.KeyID)
	}
	return ids, nil
}

// short shortens an id for messages.
func short(id string) string {
	const digits = 16
	if len(id) > digits {
		return id[:digits]
	}
	return id
}
