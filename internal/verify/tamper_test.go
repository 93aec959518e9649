package verify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/attest"
	"cxrepro/internal/bundle"
	"cxrepro/internal/contract"
	"cxrepro/internal/evaltest"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/provenance"
	"cxrepro/internal/verify"
)

// forge changes one blob of a bundle and then everything that names it, until all digests fit
// again: references, statements, keys, entries, ledger, manifest. Signatures stay, since the forger has
// no key.
func forge(t *testing.T, path string, blob artifacts.Digest, change func([]byte) []byte) string {
	t.Helper()
	b, err := bundle.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	objects := map[string][]byte{}
	for _, n := range b.Names() {
		if objects[n], err = b.Read(n); err != nil {
			t.Fatal(err)
		}
	}
	move := func(from, to string, data []byte) { delete(objects, from); objects[to] = data }
	was := bundle.StorePrefix + artifacts.BlobObject(blob)
	data := change(bytes.Clone(objects[was]))
	if len(data) != len(objects[was]) || bytes.Equal(data, objects[was]) {
		t.Fatalf("the forger changes %d bytes to %d", len(objects[was]), len(data))
	}
	now := artifacts.Sum(data)
	move(was, bundle.StorePrefix+artifacts.BlobObject(now), data)
	for todo := []pair{{blob, now}}; len(todo) > 0; {
		from, to := []byte(todo[0].from.Hex()), []byte(todo[0].to.Hex())
		todo = todo[1:]
		for name, data := range objects {
			if !strings.HasPrefix(name, bundle.StorePrefix) && name != bundle.ManifestFile || !bytes.Contains(data, from) {
				continue
			}
			data = mendEntry(t, bytes.ReplaceAll(data, from, to))
			was, statement, _ := artifacts.ObjectOf(strings.TrimPrefix(name, bundle.StorePrefix))
			sum := artifacts.Sum(data)
			switch {
			case !was.IsZero():
				move(name, bundle.StorePrefix+artifacts.BlobObject(sum), data)
				todo = append(todo, pair{was, sum})
			case !statement.IsZero():
				move(name, bundle.StorePrefix+artifacts.StatementObject(sum), data)
				todo = append(todo, pair{statement, sum})
			default:
				objects[name] = data
			}
		}
		if len(todo) == 0 {
			todo = rekey(t, objects, move)
		}
	}
	return assemble(t, b, objects)
}

// pair is a digest that became another one.
type pair struct{ from, to artifacts.Digest }

// rekey moves entries to the keys that their statements are about now.
func rekey(t *testing.T, objects map[string][]byte, move func(from, to string, data []byte)) []pair {
	t.Helper()
	for _, name := range sorted(objects) {
		data := objects[name]
		_, _, key := artifacts.ObjectOf(strings.TrimPrefix(name, bundle.StorePrefix))
		if key.IsZero() {
			continue
		}
		var e struct {
			Inline    json.RawMessage `json:"inline"`
			Statement artifacts.Ref   `json:"statement"`
		}
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatal(err)
		}
		text := []byte(e.Inline)
		if len(text) == 0 {
			text = objects[bundle.StorePrefix+artifacts.StatementObject(e.Statement.Digest)]
		}
		st, err := provenance.Decode(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		now, err := st.Key()
		if err != nil {
			t.Fatal(err)
		}
		if now != key {
			move(name, bundle.StorePrefix+artifacts.EntryObject(now), data)
			return []pair{{key.Digest, now.Digest}}
		}
	}
	return nil
}

// mendEntry lets an entry name the statement that it carries.
func mendEntry(t *testing.T, data []byte) []byte {
	t.Helper()
	var e struct {
		Format    string          `json:"format"`
		Inline    json.RawMessage `json:"inline"`
		Statement artifacts.Ref   `json:"statement"`
	}
	if json.Unmarshal(data, &e) != nil || !strings.HasPrefix(e.Format, "cxrepro.index/") || len(e.Inline) == 0 {
		return data
	}
	return bytes.ReplaceAll(data, []byte(e.Statement.Digest.Hex()), []byte(artifacts.Sum(e.Inline).Hex()))
}

// assemble writes objects as a bundle whose ledger and manifest fit.
func assemble(t *testing.T, b *bundle.Opened, objects map[string][]byte) string {
	t.Helper()
	var leaves []bundle.Leaf
	for _, name := range sorted(objects) {
		if object, ok := strings.CutPrefix(name, bundle.StorePrefix); ok {
			leaves = append(leaves, bundle.Leaf{Object: object, Size: int64(len(objects[name])), Digest: artifacts.Sum(objects[name])})
		}
	}
	ledger, err := bundle.NewLedger(leaves)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := ledger.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	objects[bundle.LedgerFile] = text.Bytes()
	var m bundle.Manifest
	if err := json.Unmarshal(objects[bundle.ManifestFile], &m); err != nil {
		t.Fatal(err)
	}
	m.Ledger = ledger.Head()
	for i, f := range m.Files {
		m.Files[i].Digest, m.Files[i].Size = artifacts.Sum(objects[f.Name]), int64(len(objects[f.Name]))
	}
	if objects[bundle.ManifestFile], err = artifacts.Canonical(m); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := bundle.NewWriter(&out)
	for _, name := range sorted(objects) {
		if err := w.Add(name, objects[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return save(t, out.Bytes())
}

func sorted(m map[string][]byte) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	// Insertion keeps the helper short; there are a few hundred.
	for i := range names {
		for k := i; k > 0 && names[k] < names[k-1]; k-- {
			names[k], names[k-1] = names[k-1], names[k]
		}
	}
	return names
}

// TestTampered: who mends every digest is found where what lies below says otherwise, and by
// the signature in any case.
func TestTampered(t *testing.T) {
	m := theRun(t)
	key := newKey(t)
	trust := &attest.Trust{}
	trust.Add(key.Public(), "a colleague")
	page, answer := m.firstAnswer()
	swap := func(from, to string) func([]byte) []byte {
		return func(data []byte) []byte {
			t.Helper()
			if !bytes.Contains(data, []byte(from)) {
				t.Fatalf("nothing says %s", from)
			}
			return bytes.Replace(data, []byte(from), []byte(to), 1)
		}
	}
	// other changes the first digit after a mark.
	other := func(mark string) func([]byte) []byte {
		return func(data []byte) []byte {
			t.Helper()
			i := bytes.Index(data, []byte(mark))
			if i < 0 {
				t.Fatalf("nothing says %s", mark)
			}
			out := bytes.Clone(data)
			at := &out[i+len(mark)]
			*at = '1' + (*at-'0')%9
			return out
		}
	}
	letter := func(data []byte) []byte {
		var a lvlm.Answer
		if err := json.Unmarshal(data, &a); err != nil {
			t.Fatal(err)
		}
		i := bytes.Index(data, []byte(`"text":"`)) + len(`"text":"`)
		out := bytes.Clone(data)
		for k := i; k < len(out) && out[k] != '"'; k++ {
			switch out[k] {
			case 'a', 'b', 'c', 'd', 'e':
				out[k] = 'a' + (out[k]-'a'+1)%5
			}
		}
		return out
	}
	for _, c := range []struct {
		name   string
		blob   artifacts.Digest
		change func([]byte) []byte
		level  int
		tells  string
	}{
		{"a transcript", answer.Digest, letter, verify.Outcomes, "case"},
		{"an outcome", page.Digest, swap(`"score":"right"`, `"score":"wrong"`), verify.Tables, ""},
		{"a count of dialogues", m.ref.Digest, other(`"done":`), verify.Tables, "the receipt: dialogues dialogues.done is "},
		{"a count of requests", m.ref.Digest, other(`"attempts":`), verify.Tables, "calls.attempts is "},
		{"a figure of a table", m.receipt.Tables.Digest, swap(`"k":1,`, `"k":2,`), verify.Tables, "from the pages follows"},
	} {
		for _, signed := range []bool{false, true} {
			path := m.pack(nil)
			if signed {
				path = m.pack(key)
			}
			r := check(t, forge(t, path, c.blob, c.change), verify.Images, trust, nil)
			name := fmt.Sprintf("%s, signed %t", c.name, signed)
			if len(r.Faults) == 0 {
				t.Errorf("%s: nothing is found", name)
				continue
			}
			if signed {
				if r.Level != 0 || r.Signed() || !strings.Contains(r.Faults[0].Detail, "it is about a ledger") && !strings.Contains(r.Faults[0].Detail, "its subject is another") {
					t.Errorf("%s: level %d, %+v, %+v", name, r.Level, r.Signatures, r.Faults[0])
				}
				continue
			}
			f, reached := r.Faults[0], c.level-1
			if c.blob == m.ref.Digest {
				reached = verify.Outcomes // no figure is behind the receipt
			}
			if f.Level != c.level || r.Level != reached || !strings.Contains(f.What+" "+f.Detail, c.tells) {
				t.Errorf("%s: found at L%d, level %d reached: %+v", name, f.Level, r.Level, f)
			}
			t.Logf("%s: %s: %s", name, f.What, f.Detail)
		}
	}
}

// TestNobodyEnters: who enters Path 2 is derived too where nobody does.
func TestNobodyEnters(t *testing.T) {
	m := makeRun(t, memstore.Open(), evaltest.Options{})
	var doc contract.EvaluationDoc
	m.get(m.receipt.Evaluations[0], &doc)
	task := doc.Tasks[0]
	if task.Population.IsZero() || !task.Path2.IsZero() {
		t.Fatalf("an oracle's %s: population %s, path2 %s", task.Task, task.Population, task.Path2)
	}
	path := m.pack(nil)
	if r := check(t, path, verify.Outcomes, nil, nil); len(r.Faults) > 0 || r.Level != verify.Outcomes {
		t.Errorf("level %d, %+v", r.Level, r.Faults)
	}
	r := check(t, forge(t, path, task.Population.Digest, func(data []byte) []byte {
		return bytes.Replace(data, []byte(`"final_right":[0,1]`), []byte(`"final_right":[0,7]`), 1)
	}), verify.Outcomes, nil, nil)
	if len(r.Faults) != 1 || r.Faults[0].Level != verify.Outcomes || !strings.Contains(r.Faults[0].What, "who enters path2 of "+task.Task.String()) {
		t.Errorf("%+v", r.Faults)
	}
}

// firstAnswer is a page with a right outcome, and the last answer of its first dialogue.
func (m *made) firstAnswer() (page, answer artifacts.Ref) {
	m.t.Helper()
	var doc contract.EvaluationDoc
	m.get(m.receipt.Evaluations[0], &doc)
	var list contract.Packed
	m.get(doc.Tasks[0].Path1, &list)
	var p contract.DialoguesDoc
	m.get(list.Items[0].Ref, &p)
	for _, d := range p.Dialogues {
		if n := len(d.State.Turns); n > 1 {
			return list.Items[0].Ref, d.State.Turns[n-1].Draws[0].Reply
		}
	}
	m.t.Fatal("no dialogue of two turns")
	return page, answer
}
