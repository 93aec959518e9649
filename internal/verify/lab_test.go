package verify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/artifacts/localhost"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/attest"
	"cxrepro/internal/bundle"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/evaltest"
	"cxrepro/internal/evaltest/inprocess"
	"cxrepro/internal/responder"
	"cxrepro/internal/verify"
)

// made is a finished reproduction: a benchmark of two cases of two tasks that a simulated model
// and a judge answered over a real connection, every path walked.
type made struct {
	t       testing.TB
	store   *artifacts.Repository
	ref     artifacts.Ref
	receipt contract.Receipt
}

func guided() evaltest.Options {
	return evaltest.Options{
		Tasks: cxreasonbench.Tasks()[:2], Cases: 2, Judge: &responder.Model{Name: evaltest.JudgeCard, Behaviour: responder.Judge},
		Models: []responder.Model{{Name: "guided", Behaviour: responder.Exact, Tables: map[string]map[string]responder.Table{"all": {"all": {
			Path1:   &responder.Numbers{Cases: 2, Unknown: 1, Initial: 1, Criteria: 1, Structures: 1, Measurement: 1, Final: 1, Consistent: 1},
			Path2:   &responder.Numbers{Cases: 1, Structures: 1, Measurement: 1, Final: 1, Consistent: 1},
			RePath1: &responder.Numbers{Cases: 1, Initial: 1, Criteria: 1, Structures: 1, Measurement: 1, Final: 1, Consistent: 1},
		}}}}},
	}
}

var once struct {
	sync.Once
	made *made
}

// theRun is a reproduction that tests share, which change nothing in its store.
func theRun(t testing.TB) *made {
	t.Helper()
	once.Do(func() {
		once.made = makeRun(t, memstore.Open(), guided())
	})
	if once.made == nil {
		t.Fatal("the reproduction that tests share was not made")
	}
	m := *once.made
	m.t = t
	return &m
}

// makeRun runs an evaluation to its end.
func makeRun(t testing.TB, store *artifacts.Repository, o evaltest.Options) *made {
	t.Helper()
	m := &made{t: t, store: store, ref: inprocess.Run(t, evaltest.New(t, store, o))}
	m.get(m.ref, &m.receipt)
	return m
}

func (m *made) get(ref artifacts.Ref, v any) {
	m.t.Helper()
	data, err := m.store.Get(context.Background(), ref)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// lookers are read-only activities over a store.
func lookers(t testing.TB, store *artifacts.Repository) *activities.Activities {
	t.Helper()
	acts, err := activities.New(activities.Options{Store: store, Owner: artifacts.Owner{Worker: "looker"}, Now: time.Now, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return acts
}

// inventory lists the items of the reproduction and what they are.
func (m *made) inventory() ([]bundle.Item, map[string]string) {
	m.t.Helper()
	held, gaps, err := lookers(m.t, m.store).Inventory(context.Background(), m.ref)
	if err != nil || len(gaps) > 0 {
		m.t.Fatalf("inventory: %v, gaps %+v", err, gaps)
	}
	roles := map[string]string{}
	for _, h := range held {
		roles[h.Object] = h.Role
	}
	return verify.Items(held), roles
}

func (m *made) ledger() *bundle.Ledger {
	m.t.Helper()
	items, _ := m.inventory()
	l, faults, err := bundle.Survey(context.Background(), m.store.Bucket(), items, nil)
	if err != nil || len(faults) > 0 {
		m.t.Fatalf("survey: %v, %+v", err, faults)
	}
	return l
}

// pack writes the reproduction as a bundle, signed where there is a key.
func (m *made) pack(key *attest.Key) string {
	m.t.Helper()
	l := m.ledger()
	claim := bundle.Claim{
		Reproduction: m.receipt.Reproduction, Name: m.receipt.Name, Paper: m.receipt.Paper, Receipt: m.ref, Result: m.receipt.ResultDigest,
		Ledger: l.Head(), Signed: time.Unix(1700000000, 0),
	}
	c := bundle.Contents{
		Claim: claim, DataUse: m.receipt.DataUse, Ledger: l, From: m.store.Bucket(), Ship: func(l bundle.Leaf) bool { return l.Class == "" },
		Files: []bundle.NamedFile{{Name: bundle.CrateFile, Data: []byte("{}")}, {Name: bundle.TablesPrefix + "t.csv", Data: []byte("a,b\n")}}, Key: key,
	}
	if key != nil {
		sealed, err := bundle.SignReproduction(key, claim)
		if err != nil {
			m.t.Fatal(err)
		}
		c.Attestations = []bundle.NamedFile{{Name: bundle.AttestationsPrefix + "reproduction.x" + bundle.AttestationSuffix, Data: sealed}}
	}
	var out bytes.Buffer
	if _, err := bundle.Write(context.Background(), &out, c); err != nil {
		m.t.Fatal(err)
	}
	return save(m.t, out.Bytes())
}

func save(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "b.cxbundle.zip")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// check verifies a bundle, with the objects of under beneath it. A bundle that cannot be opened
// is a report with that fault.
func check(t testing.TB, path string, level int, trust *attest.Trust, under artifacts.Bucket) *verify.Report {
	t.Helper()
	b, err := bundle.Open(path)
	if err != nil {
		return &verify.Report{Faults: []verify.Fault{{Level: 1, Object: "", Detail: err.Error()}}}
	}
	defer b.Close()
	store, err := artifacts.New(bundle.NewBucket(b.File, b.Ledger, under), artifacts.Options{Host: localhost.New()})
	if err != nil {
		t.Fatal(err)
	}
	r, err := verify.Run(context.Background(), verify.Options{
		Store: store, Activities: lookers(t, store), Receipt: b.Manifest.Receipt, Bundle: b, Trust: trust, Level: level, Source: path,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newKey(t testing.TB) *attest.Key {
	t.Helper()
	key, err := attest.Open(filepath.Join(t.TempDir(), "keys")).Init()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// rewrite writes a bundle anew with other entries: change gets each and returns what to write;
// nil leaves it out.
func rewrite(t testing.TB, path string, change func(name string, data []byte) []byte) string {
	t.Helper()
	b, err := bundle.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var out bytes.Buffer
	w := bundle.NewWriter(&out)
	for _, n := range b.Names() {
		data, err := b.Read(n)
		if err != nil {
			t.Fatal(err)
		}
		if data = change(n, data); data == nil {
			continue
		}
		if err := w.Add(n, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return save(t, out.Bytes())
}
