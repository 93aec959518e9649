package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/artifacts/localhost"
	"cxrepro/internal/attest"
	"cxrepro/internal/bundle"
	"cxrepro/internal/contract"
	"cxrepro/internal/provenance"
	"cxrepro/internal/verify"
)

// lookers are activities that look into a store and change nothing. Without data roots those of
// the last run here are taken.
func (a *app) lookers(store *artifacts.Repository, data []string, engine engineOf) (*activities.Activities, error) {
	roots, err := parseData(data)
	if err != nil {
		return nil, err
	}
	if len(roots) == 0 {
		roots = a.rememberedData()
	}
	open := map[string]fs.FS{}
	for _, r := range roots {
		open[r.name] = openFolder(r.path)
	}
	return activities.New(activities.Options{
		Store: store, Owner: localhost.New().Owner(artifacts.Owner{Worker: "verify"}), Now: time.Now, Data: open,
		Cache: filepath.Join(a.StateDir(), "cache"), ReadOnly: true, Engine: engine,
	})
}

// claimOf is what is signed about a reproduction.
func claimOf(r *contract.Receipt, ref artifacts.Ref, ledger *bundle.Ledger) bundle.Claim {
	v := readCodeVersion()
	return bundle.Claim{
		Reproduction: r.Reproduction, Name: r.Name, Paper: r.Paper, Receipt: ref, Result: r.ResultDigest, Ledger: ledger.Head(),
		Code:   provenance.Code{Version: v.Module, Commit: v.Revision, Dirty: v.Modified, Binary: v.Binary},
		Signed: time.Now(),
	}
}

// survey makes the ledger of a reproduction. What is missing or damaged is an error here: it is
// for `verify` to say what all is wrong.
func (a *app) survey(ctx context.Context, store *artifacts.Repository, acts *activities.Activities, ref artifacts.Ref) (*bundle.Ledger, error) {
	held, gaps, err := acts.Inventory(ctx, ref)
	if err != nil {
		return nil, storeError(err)
	}
	for _, g := range gaps {
		return nil, &exitError{Code: exitFailed, Err: fmt.Errorf("%s: %w", g.Role, g.Err), Hint: "`cxrepro artifacts verify` looks at the whole store; the same `cxrepro run` makes what is missing"}
	}
	roles := map[string]string{}
	for _, h := range held {
		roles[h.Object] = h.Role
	}
	talk := a.slowly("read %d objects")
	ledger, faults, err := bundle.Survey(ctx, store.Bucket(), verify.Items(held), talk)
	if err != nil {
		return nil, storeError(err)
	}
	for _, f := range faults {
		return nil, &exitError{Code: exitFailed, Err: fmt.Errorf("%s, %s: %s", roles[f.Object], f.Object, f.Detail), Hint: "`cxrepro verify` says all that is wrong; `cxrepro artifacts verify --drop-damaged` lets the same run make it again"}
	}
	return ledger, nil
}

// attestReproduction signs a finished reproduction, where there is a key and it did not sign
// before.
func (a *app) attestReproduction(ctx context.Context, store *artifacts.Repository, ref artifacts.Ref) error {
	key, err := a.signingKey()
	if err != nil || key == nil {
		return err
	}
	doc := contract.AttestKey(ref.Digest, key.ID())
	at, err := doc.Key()
	if err != nil {
		return err
	}
	if _, err := store.Lookup(ctx, at); !errors.Is(err, artifacts.ErrNotFound) {
		return err
	}
	acts, err := a.lookers(store, nil, nil)
	if err != nil {
		return err
	}
	var r contract.Receipt
	if err := readJSON(ctx, store, ref, &r); err != nil {
		return err
	}
	ledger, err := a.survey(ctx, store, acts, ref)
	if err != nil {
		return err
	}
	return storeSigned(ctx, store, key, doc, claimOf(&r, ref, ledger), ledger)
}

// storeSigned records a signed statement with its ledger, and pins both.
func storeSigned(ctx context.Context, store *artifacts.Repository, key *attest.Key, doc artifacts.KeyDoc, c bundle.Claim, ledger *bundle.Ledger) error {
	sealed, err := bundle.SignReproduction(key, c)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if _, err := ledger.WriteTo(&text); err != nil {
		return err
	}
	envelope, err := store.Put(ctx, sealed, attest.EnvelopeMediaType)
	if err != nil {
		return storeError(err)
	}
	list, err := store.Put(ctx, text.Bytes(), contract.LedgerMediaType)
	if err != nil {
		return storeError(err)
	}
	owner := localhost.New().Owner(artifacts.Owner{Reproduction: c.Reproduction, Worker: "sign"})
	st, err := provenance.New(provenance.Facts{
		Key: doc, Builder: "cxrepro", Code: c.Code,
		Subject: []provenance.Descriptor{provenance.Describe("envelope", envelope), provenance.Describe(contract.SubjectLedger, list)},
		Invocation: provenance.Invocation{
			Reproduction: c.Reproduction, Worker: owner.Worker, Host: owner.Host, PID: owner.PID, Fence: 1, Started: c.Signed, Finished: time.Now(),
		},
	})
	if err != nil {
		return err
	}
	data, err := st.Encode()
	if err != nil {
		return err
	}
	statement, err := store.PutStatement(ctx, data)
	if err != nil {
		return storeError(err)
	}
	at, err := doc.Key()
	if err != nil {
		return err
	}
	rec, err := store.Commit(ctx, artifacts.Record{Key: at, Result: envelope, Statement: statement})
	var conflict *artifacts.ConflictError
	if errors.As(err, &conflict) {
		return nil // two processes signed at a time; both signatures are right
	}
	if err != nil {
		return storeError(err)
	}
	err = store.SetPin(ctx, artifacts.Pin{
		Name: "attest." + c.Reproduction + "." + key.ID()[:16], Roots: []artifacts.Ref{rec.Result, list}, Keys: []artifacts.Key{at}, Note: "signed statement about " + c.Name,
	})
	if err != nil {
		return storeError(err)
	}
	return nil
}

// attestationFiles are the signed statements of a store about a reproduction, as entries of a
// bundle.
func attestationFiles(ctx context.Context, store *artifacts.Repository, receipt artifacts.Digest, root artifacts.Digest) ([]bundle.NamedFile, error) {
	list, err := verify.Attestations(ctx, store, receipt)
	if err != nil {
		return nil, storeError(err)
	}
	var out []bundle.NamedFile
	for _, at := range list {
		data, err := store.Get(ctx, at.Envelope)
		if err != nil {
			return nil, storeError(err)
		}
		s, err := bundle.OpenSigned(data, &attest.Trust{})
		if err != nil || s.Predicate.Ledger.Root != root {
			continue // of other objects than those that go along
		}
		out = append(out, bundle.NamedFile{Name: bundle.AttestationsPrefix + "reproduction." + s.KeyID[:16] + bundle.AttestationSuffix, Data: data})
	}
	return out, nil
}
