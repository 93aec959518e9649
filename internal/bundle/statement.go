package bundle

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/attest"
	"cxrepro/internal/provenance"
)

// Types of the predicates that are signed.
const (
	// ReproductionPredicate says what a reproduction consists of; its subjects are receipt
	// and result.
	ReproductionPredicate = "urn:cxrepro:reproduction:1"
	// BundlePredicate says what a bundle file is of; its subject is bundle.json.
	BundlePredicate = "urn:cxrepro:bundle:1"
)

// Statement is an in-toto statement with either predicate.
type Statement struct {
	Type          string                  `json:"_type"`
	Subject       []provenance.Descriptor `json:"subject"`
	PredicateType string                  `json:"predicateType"`
	Predicate     Predicate               `json:"predicate"`
}

// Predicate is what is signed beside the subjects.
type Predicate struct {
	Reproduction string           `json:"reproduction_id"`
	Name         string           `json:"name"`
	Paper        string           `json:"paper"`
	Result       artifacts.Digest `json:"result_digest"`
	Ledger       LedgerHead       `json:"ledger"`
	// Signer is the key that signs, so that the signature can be checked by everybody; whether
	// it is trusted is another question.
	Signer Signer          `json:"signer"`
	Code   provenance.Code `json:"code"`
	Signed time.Time       `json:"signed"`
}

// Signer names a key.
type Signer struct {
	KeyID     string `json:"keyid"`
	PublicKey string `json:"public_key"`
}

// Claim is what both statements say.
type Claim struct {
	Reproduction, Name, Paper string
	Receipt                   artifacts.Ref
	Result                    artifacts.Digest
	Ledger                    LedgerHead
	Code                      provenance.Code
	Signed                    time.Time
}

func (c Claim) statement(kind string, key *attest.Key, subject ...provenance.Descriptor) Statement {
	return Statement{
		Type: provenance.StatementType, Subject: subject, PredicateType: kind,
		Predicate: Predicate{
			Reproduction: c.Reproduction, Name: c.Name, Paper: c.Paper, Result: c.Result, Ledger: c.Ledger, Code: c.Code, Signed: c.Signed.UTC().Truncate(time.Second),
			Signer: Signer{KeyID: key.ID(), PublicKey: base64.StdEncoding.EncodeToString(key.Public())},
		},
	}
}

// SignReproduction signs what a reproduction consists of. It returns the envelope as bytes.
func SignReproduction(key *attest.Key, c Claim) ([]byte, error) {
	return seal(key, c.statement(ReproductionPredicate, key,
		typed("receipt", c.Receipt.Digest, c.Receipt.MediaType), provenance.DescribeDigest("result", c.Result)))
}

// signBundle signs bundle.json.
func signBundle(key *attest.Key, c Claim, manifest []byte) ([]byte, error) {
	return seal(key, c.statement(BundlePredicate, key, typed(ManifestFile, artifacts.Sum(manifest), "application/json")))
}

// typed names a subject without its size: what is signed holds in-toto's own fields and no
// other, since strict readers refuse them.
func typed(name string, d artifacts.Digest, mediaType string) provenance.Descriptor {
	out := provenance.DescribeDigest(name, d)
	out.MediaType = mediaType
	return out
}

func seal(key *attest.Key, s Statement) ([]byte, error) {
	text, err := artifacts.Canonical(s)
	if err != nil {
		return nil, err
	}
	return key.Sign(attest.StatementType, text).Encode()
}

// Signed is what a signed statement says, after its signature was found right.
type Signed struct {
	Statement
	KeyID string
	// Known is the signer's name where it is known.
	Known string
}

// OpenSigned checks the signature of an envelope and reads its statement. The key is the known
// one of that id, else the one that the statement names.
//
// Errors: attest.ErrWrongSignature; what is no envelope or no statement of ours.
func OpenSigned(data []byte, trust *attest.Trust) (*Signed, error) {
	e, err := attest.DecodeEnvelope(data)
	if err != nil {
		return nil, err
	}
	var out Signed
	if e.PayloadType != attest.StatementType {
		return nil, fmt.Errorf("it signs %q, want an in-toto statement", e.PayloadType)
	}
	if err := json.Unmarshal(e.Payload, &out.Statement); err != nil {
		return nil, fmt.Errorf("statement: %w", err)
	}
	if out.Type != provenance.StatementType || out.PredicateType != ReproductionPredicate && out.PredicateType != BundlePredicate {
		return nil, fmt.Errorf("statement of type %q with predicate %q: want %q or %q", out.Type, out.PredicateType, ReproductionPredicate, BundlePredicate)
	}
	ids, err := e.Verify(func(id string) (attest.PublicKey, bool) {
		if key, ok := trust.Key(id); ok {
			return key, true
		}
		raw, err := base64.StdEncoding.DecodeString(out.Predicate.Signer.PublicKey)
		key := attest.PublicKey(raw)
		return key, err == nil && len(raw) == 32 && key.ID() == id
	})
	if err != nil {
		return nil, err
	}
	out.KeyID = ids[0]
	out.Known, _ = trust.Name(out.KeyID)
	return &out, nil
}
