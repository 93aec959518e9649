package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/attest"
	"cxrepro/internal/bundle"
	"cxrepro/internal/contract"
	"cxrepro/internal/provenance"
)

// Attestation is a signed statement about a reproduction in a store, and the ledger that it is
// about.
type Attestation struct {
	Signer   string
	Envelope artifacts.Ref
	Ledger   artifacts.Ref
}

// Attestations finds the statements about the reproduction of a receipt.
func Attestations(ctx context.Context, store *artifacts.Repository, receipt artifacts.Digest) ([]Attestation, error) {
	var out []Attestation
	err := store.Keys(ctx, contract.StepAttest, func(key artifacts.Key, _ artifacts.Info) error {
		rec, err := store.Lookup(ctx, key)
		if errors.Is(err, artifacts.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		text, err := store.StatementOf(ctx, rec)
		if err != nil {
			return err
		}
		st, err := provenance.Decode(text)
		if err != nil {
			return fmt.Errorf("record %s: %w", key.Short(), err)
		}
		var doc struct {
			Params struct {
				Signer string `json:"signer"`
			} `json:"params"`
			Inputs []artifacts.Material `json:"inputs"`
		}
		if err := json.Unmarshal(st.Predicate.KeyDocument, &doc); err != nil {
			return fmt.Errorf("record %s: %w", key.Short(), err)
		}
		if len(doc.Inputs) != 1 || doc.Inputs[0].Digest != receipt {
			return nil
		}
		a := Attestation{Signer: doc.Params.Signer, Envelope: rec.Result}
		for _, s := range st.Subject {
			if s.Name == contract.SubjectLedger {
				d, err := artifacts.ParseHex(s.Digest.SHA256)
				if err != nil {
					return fmt.Errorf("record %s: %w", key.Short(), err)
				}
				a.Ledger = artifacts.Ref{Digest: d, Size: s.Size, MediaType: s.MediaType}
			}
		}
		out = append(out, a)
		return nil
	})
	return out, err
}

// signedLedger returns the ledger that a statement in the store is about; nil without one.
func (v *verifier) signedLedger(ctx context.Context) (*bundle.Ledger, error) {
	list, err := Attestations(ctx, v.o.Store, v.o.Receipt.Digest)
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		if a.Ledger.IsZero() {
			continue
		}
		text, err := v.o.Store.Get(ctx, a.Ledger)
		switch {
		case errors.Is(err, artifacts.ErrDigestMismatch) || errors.Is(err, artifacts.ErrNotFound):
			v.out.fault(Fault{Level: Bytes, Object: artifacts.BlobObject(a.Ledger.Digest), What: "the ledger that was signed", Detail: err.Error()})
			continue
		case err != nil:
			return nil, err
		}
		return bundle.ReadLedger(text)
	}
	return nil, nil
}

// signatures judges every signed statement that is there.
func (v *verifier) signatures(ctx context.Context) error {
	if v.o.Bundle != nil {
		for _, n := range v.o.Bundle.Names() {
			if !strings.HasPrefix(n, bundle.AttestationsPrefix) {
				continue
			}
			data, err := v.o.Bundle.Read(n)
			if err != nil {
				continue // a fault already
			}
			v.judge(n, data)
		}
		return nil
	}
	list, err := Attestations(ctx, v.o.Store, v.o.Receipt.Digest)
	if err != nil {
		return err
	}
	for _, a := range list {
		data, err := v.o.Store.Get(ctx, a.Envelope)
		if err != nil {
			v.out.fault(Fault{Level: Bytes, Object: artifacts.BlobObject(a.Envelope.Digest), What: "a signed statement", Detail: err.Error()})
			continue
		}
		v.judge(artifacts.BlobObject(a.Envelope.Digest), data)
	}
	return nil
}

// judge opens an envelope and compares what it says with what was read.
func (v *verifier) judge(object string, data []byte) {
	s, err := bundle.OpenSigned(data, v.o.Trust)
	if err != nil {
		state := Signature{State: Wrong}
		if !errors.Is(err, attest.ErrWrongSignature) {
			state.Of = "nothing that can be read"
		}
		v.out.Signatures = append(v.out.Signatures, state)
		v.out.fault(Fault{Level: Bytes, Object: object, What: "a signed statement", Detail: err.Error()})
		return
	}
	out := Signature{KeyID: s.KeyID, Signer: s.Known, Of: "reproduction", Signed: s.Predicate.Signed.Format(time.RFC3339), State: Unknown}
	if s.Known != "" {
		out.State = Trusted
	}
	if s.PredicateType == bundle.BundlePredicate {
		out.Of = "bundle"
	}
	if wrong := v.unlike(s); wrong != "" {
		out.State = Wrong
		v.broken = wrong
		v.out.fault(Fault{Level: Bytes, Object: object, What: "the statement that " + signer(out) + " signed about the " + out.Of, Detail: wrong})
	}
	v.out.Signatures = append(v.out.Signatures, out)
}

func signer(s Signature) string {
	if s.Signer != "" {
		return s.Signer
	}
	return "key " + s.KeyID[:16]
}

// unlike says in what a signed statement differs from what is there, "" for nothing.
func (v *verifier) unlike(s *bundle.Signed) string {
	if s.Predicate.Ledger != v.ledger.Head() {
		return fmt.Sprintf("it is about a ledger of %d leaves with root %s; here are %d with root %s",
			s.Predicate.Ledger.Leaves, s.Predicate.Ledger.Root.Short(), len(v.ledger.Leaves), v.ledger.Root.Short())
	}
	want := v.o.Receipt.Digest
	if s.PredicateType == bundle.BundlePredicate {
		if v.o.Bundle == nil {
			return "it is about a bundle, and this is a store"
		}
		want = artifacts.Sum(v.o.Bundle.Text)
	}
	if len(s.Subject) == 0 || s.Subject[0].Digest.SHA256 != want.Hex() {
		return "its subject is another " + map[bool]string{true: bundle.ManifestFile, false: "receipt"}[s.PredicateType == bundle.BundlePredicate]
	}
	return ""
}
