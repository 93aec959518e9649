package verify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/attest"
	"cxrepro/internal/bundle"
	"cxrepro/internal/contract"
	"cxrepro/internal/verify"
)

// TestLevels: a run in a store and its bundle reach the same levels, table by table, with the
// same root.
func TestLevels(t *testing.T) {
	m := theRun(t)
	inStore, err := verify.Run(context.Background(), verify.Options{Store: m.store, Activities: lookers(t, m.store), Receipt: m.ref, Level: verify.Images})
	if err != nil {
		t.Fatal(err)
	}
	key := newKey(t)
	trust := &attest.Trust{}
	trust.Add(key.Public(), "a colleague")
	inBundle := check(t, m.pack(key), verify.Images, trust, nil)
	for name, r := range map[string]*verify.Report{"store": inStore, "bundle": inBundle} {
		if len(r.Faults) > 0 || r.Level != verify.Outcomes || len(r.Tables) < 8 || len(r.Cells) < 200 {
			t.Errorf("%s: faults %+v, level %d, %d tables, %d cells", name, r.Faults, r.Level, len(r.Tables), len(r.Cells))
		}
		for _, x := range r.Tables {
			if x.Level != verify.Outcomes || !strings.Contains(x.Why, "a release") {
				t.Errorf("%s: table %d reaches %d: %q", name, x.Table, x.Level, x.Why)
			}
		}
		for i, s := range r.Steps {
			if s.Level != i+1 || s.Done == "" || (s.Level == verify.Bytes) != slices.Contains(s.Only, "workers") {
				t.Errorf("%s: step %d is %+v", name, i, s)
			}
		}
	}
	if inStore.Ledger != inBundle.Ledger || inStore.Ledger.Leaves < 100 {
		t.Errorf("ledger %+v in the store, %+v in the bundle", inStore.Ledger, inBundle.Ledger)
	}
	if len(inBundle.Signatures) != 2 || !inBundle.Signed() || inStore.Signed() {
		t.Errorf("signatures %+v", inBundle.Signatures)
	}
}

// TestEveryObject flips one byte of every object of a bundle in turn, first as a disk does and
// then with the checksums mended: the object is named, and what it is.
func TestEveryObject(t *testing.T) {
	m := theRun(t)
	_, roles := m.inventory()
	path := m.pack(newKey(t))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	names := b.Names()
	if len(names) < 150 {
		t.Fatalf("%d objects", len(names))
	}
	scratch := save(t, whole)
	tell := func(r *verify.Report, name string) {
		t.Helper()
		if len(r.Faults) == 0 {
			t.Errorf("%s: a byte is another one, and nothing is wrong", name)
			return
		}
		f := r.Faults[0]
		if f.Object != name && !strings.Contains(f.Detail, name) {
			t.Errorf("%s: the fault is %+v", name, f)
		}
		if object, ok := strings.CutPrefix(name, bundle.StorePrefix); ok && f.What == "" && !strings.Contains(roles[object], "receipt") && !strings.Contains(roles[object], "the plan") {
			t.Errorf("%s is %q, the fault does not say so: %+v", name, roles[object], f)
		}
	}
	at := int64(0)
	for i, name := range names {
		size, _ := b.Has(name)
		begin := at + 30 + int64(len(name))
		at = begin + size
		if size == 0 {
			continue
		}
		data := bytes.Clone(whole)
		data[begin+size/2] ^= 0x01
		if err := os.WriteFile(scratch, data, 0o644); err != nil {
			t.Fatal(err)
		}
		tell(check(t, scratch, verify.Bytes, nil, nil), name)
		if name == bundle.CrateFile || i%7 > 0 && !strings.HasPrefix(name, bundle.AttestationsPrefix) && strings.HasPrefix(name, bundle.StorePrefix) {
			continue // digests are compared in one place: a seventh of the objects will do
		}
		mended := rewrite(t, path, func(n string, data []byte) []byte {
			if n == name {
				data[len(data)/2] ^= 0x01
			}
			return data
		})
		tell(check(t, mended, verify.Bytes, nil, nil), name)
	}
	t.Logf("%d objects, each with one byte flipped", len(names))
}

// TestLeftOut: an object that is taken out, or added, is named.
func TestLeftOut(t *testing.T) {
	m := theRun(t)
	path := m.pack(nil)
	ref := bundle.StorePrefix + "blobs/sha256/"
	taken := ""
	r := check(t, rewrite(t, path, func(n string, data []byte) []byte {
		if taken == "" && strings.HasPrefix(n, ref) {
			taken = strings.TrimPrefix(n, bundle.StorePrefix)
			return nil
		}
		return data
	}), verify.Bytes, nil, nil)
	if len(r.Faults) != 1 || r.Faults[0].Object != taken {
		t.Errorf("without %s: %+v", taken, r.Faults)
	}
	r = check(t, rewrite(t, path, func(n string, data []byte) []byte {
		if n == bundle.TablesPrefix+"t.csv" {
			return nil
		}
		return data
	}), verify.Bytes, nil, nil)
	if len(r.Faults) != 1 || r.Faults[0].Object != bundle.TablesPrefix+"t.csv" {
		t.Errorf("without the table: %+v", r.Faults)
	}
}

// TestSignatures: none is no fault, a stranger's is told apart from a colleague's, and a wrong
// one is a fault, also where a right one stands beside it.
func TestSignatures(t *testing.T) {
	m := theRun(t)
	if r := check(t, m.pack(nil), verify.Bytes, nil, nil); len(r.Signatures) != 0 || len(r.Faults) != 0 {
		t.Errorf("unsigned: %+v", r)
	}
	key := newKey(t)
	path := m.pack(key)
	r := check(t, path, verify.Bytes, nil, nil)
	if len(r.Faults) != 0 || len(r.Signatures) != 2 || r.Signed() {
		t.Errorf("a stranger: %+v", r)
	}
	for _, s := range r.Signatures {
		if s.State != verify.Unknown || s.KeyID != key.ID() {
			t.Errorf("a stranger: %+v", s)
		}
	}
	n := 0
	for _, name := range []string{"reproduction", "bundle"} {
		broken := rewrite(t, path, func(n string, data []byte) []byte {
			if !strings.HasPrefix(n, bundle.AttestationsPrefix+name) {
				return data
			}
			e, err := attest.DecodeEnvelope(data)
			if err != nil {
				t.Fatal(err)
			}
			e.Signatures[0].Sig[7] ^= 1
			text, err := e.Encode()
			if err != nil {
				t.Fatal(err)
			}
			return text
		})
		r := check(t, broken, verify.Bytes, nil, nil)
		if len(r.Faults) != 1 || !strings.Contains(r.Faults[0].Detail, "the signature is wrong") {
			t.Errorf("%s: %+v", name, r.Faults)
		}
		n++
	}
	// Another key's name does not help: the key is compared with its id.
	other := newKey(t)
	forged := rewrite(t, path, func(n string, data []byte) []byte {
		if !strings.HasPrefix(n, bundle.AttestationsPrefix) {
			return data
		}
		e, err := attest.DecodeEnvelope(data)
		if err != nil {
			t.Fatal(err)
		}
		signed := other.Sign(e.PayloadType, e.Payload)
		signed.Signatures[0].KeyID = key.ID()
		text, err := signed.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return text
	})
	if r := check(t, forged, verify.Bytes, nil, nil); len(r.Faults) != 2 {
		t.Errorf("signed by another key under this name: %+v", r.Faults)
	}
}

// TestWithheld: bytes of credentialed data are not in the bundle. Its tables still follow from
// outcome records; with the reader's own copy it is as good as whole.
func TestWithheld(t *testing.T) {
	o := guided()
	o.Sets = []string{"dataset.data_use=credentialed"}
	m := makeRun(t, memstore.Open(), o)
	path := m.pack(nil)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var bench contract.Benchmark
	m.get(m.receipt.Benchmark, &bench)
	var c contract.CaseDoc
	m.get(bench.Cases[0].Doc, &c)
	for what, text := range map[string]string{
		"a picture": "\x89PNG", "an id of a case": bench.Cases[0].ID, "a question": c.Items[0].Questions[0].Text, "an answer": `"format":"cxrepro-answer`,
		"a radiograph's path": "p10000001",
	} {
		if bytes.Contains(data, []byte(text)) {
			t.Errorf("the bundle holds %s (%q)", what, text)
		}
	}
	r := check(t, path, verify.Images, nil, nil)
	if len(r.Faults) > 0 || r.Level != verify.Tables || r.Withheld < 30 || r.Restored != 0 {
		t.Errorf("alone: faults %+v, level %d, %d withheld, %d restored", r.Faults, r.Level, r.Withheld, r.Restored)
	}
	for _, x := range r.Tables {
		if x.Level != verify.Tables || !strings.Contains(x.Why, "withheld") {
			t.Errorf("table %d: level %d, %q", x.Table, x.Level, x.Why)
		}
	}
	again := check(t, path, verify.Images, nil, m.store.Bucket())
	if len(again.Faults) > 0 || again.Level != verify.Outcomes || again.Restored != again.Withheld || again.Ledger != r.Ledger {
		t.Errorf("with the own copy: faults %+v, level %d, %d of %d restored", again.Faults, again.Level, again.Restored, again.Withheld)
	}
	text, err := json.Marshal(r)
	if err != nil || bytes.Contains(text, []byte(bench.Cases[0].ID)) {
		t.Errorf("the report names a case of the data set (%v)", err)
	}
}

// TestStore: one byte of an object of a run in the store is named, with and without a signed
// ledger; an entry that is gone as well.
func TestStore(t *testing.T) {
	m := theRun(t)
	ctx := context.Background()
	_, roles := m.inventory()
	seen := map[string]bool{}
	for _, l := range m.ledger().Leaves {
		blob, _, key := artifacts.ObjectOf(l.Object)
		kind := key.Step
		if !blob.IsZero() {
			kind = strings.Fields(roles[l.Object])[0] + strings.Fields(roles[l.Object] + " x")[1]
		}
		if seen[kind] || blob == m.ref.Digest || blob == m.receipt.Plan.Digest {
			continue
		}
		seen[kind] = true
		data, _, err := m.store.Bucket().Read(ctx, l.Object)
		if err != nil {
			t.Fatal(err)
		}
		changed := bytes.Clone(data)
		changed[len(changed)/2] ^= 1
		put := func(data []byte) {
			if _, err := m.store.Bucket().Put(ctx, l.Object, bytes.NewReader(data), artifacts.PutOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		put(changed)
		r, err := verify.Run(ctx, verify.Options{Store: m.store, Activities: lookers(t, m.store), Receipt: m.ref, Level: verify.Outcomes})
		put(data)
		if err != nil {
			t.Errorf("%s, %s: %v", l.Object, roles[l.Object], err)
			continue
		}
		if len(r.Faults) == 0 {
			t.Errorf("%s, %s: a byte is another one, and nothing is wrong", l.Object, roles[l.Object])
			continue
		}
		if f := r.Faults[0]; f.Object != l.Object && !strings.Contains(f.Detail+f.What, l.Digest.Short()) && key.Step != "call" {
			t.Errorf("%s, %s: the fault is %+v", l.Object, roles[l.Object], f)
		}
	}
	if len(seen) < 8 {
		t.Errorf("kinds of objects: %v", seen)
	}
}
