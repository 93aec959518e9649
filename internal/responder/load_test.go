package responder

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// folder writes a benchmark in the official layout: items file and radiographs.
func folder(t *testing.T, m *made) fstest.MapFS {
	t.Helper()
	fsys := fstest.MapFS{}
	var lines []byte
	for _, k := range m.bench.cases {
		byStage := map[string]*cxreasonbench.Item{}
		var order []string
		for _, a := range k.asked {
			name := a.q.Key.Path.String() + a.q.Key.Stage.String()
			if byStage[name] == nil {
				byStage[name] = &cxreasonbench.Item{Task: k.task, Case: k.id, Path: a.q.Key.Path, Stage: a.q.Key.Stage, Format: cxreasonbench.FormatBasic}
				order = append(order, name)
			}
			byStage[name].Questions = append(byStage[name].Questions, a.q)
		}
		for _, name := range order {
			line, err := json.Marshal(byStage[name])
			if err != nil {
				t.Fatal(err)
			}
			lines = append(append(lines, line...), '\n')
		}
		fsys["files/"+k.id+".png"] = &fstest.MapFile{Data: m.pictures[k.id+".png"]}
	}
	fsys[cxreasonbench.ItemsFile] = &fstest.MapFile{Data: lines}
	return fsys
}

// same compares what two benchmarks hold.
func same(t *testing.T, got, want *Benchmark) {
	t.Helper()
	if got.Cases() != want.Cases() {
		t.Fatalf("%d cases, want %d", got.Cases(), want.Cases())
	}
	for i, k := range got.cases {
		w := want.cases[i]
		if k.task != w.task || k.id != w.id || k.image != w.image || len(k.asked) != len(w.asked) {
			t.Fatalf("case %d is %+v, want %+v", i, k, w)
		}
		for j := range k.asked {
			if k.asked[j].q.Text != w.asked[j].q.Text || k.asked[j].q.Answer != w.asked[j].q.Answer {
				t.Errorf("case %d: question %s differs", i, w.asked[j].q.Key)
			}
		}
	}
}

// TestReadFolder reads what a build writes, also with the radiographs elsewhere, and names
// what is missing.
func TestReadFolder(t *testing.T) {
	m := makeBenchmark(t, cxreasonbench.Corrected, 2)
	fsys := folder(t, m)
	b, err := ReadFolder(fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, b, m.bench)
	elsewhere := fstest.MapFS{}
	for name, f := range fsys {
		if rest, ok := strings.CutPrefix(name, "files/"); ok {
			elsewhere[rest] = f
			delete(fsys, name)
		}
	}
	if b, err = ReadFolder(fsys, elsewhere); err != nil {
		t.Fatal(err)
	}
	same(t, b, m.bench)
	if _, err := ReadFolder(fsys, nil); err == nil || !strings.Contains(err.Error(), "radiograph") {
		t.Errorf("without radiographs: %v", err)
	}
	if _, err := ReadFolder(fstest.MapFS{}, nil); err == nil || !strings.Contains(err.Error(), "cxreasonbench build") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := ReadFolder(fstest.MapFS{cxreasonbench.ItemsFile: {Data: []byte("{}\n{\n")}}, nil); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a malformed item: %v", err)
	}
	if _, err := NewBenchmark(nil); err == nil {
		t.Error("no cases are a benchmark")
	}
	twice := Case{Task: cxreasonbench.Tasks()[0], ID: "x", Radiograph: artifacts.Sum(nil), Items: []cxreasonbench.Item{{Questions: []cxreasonbench.Question{m.bench.cases[0].asked[0].q}}}}
	if _, err := NewBenchmark([]Case{twice, twice}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a case twice: %v", err)
	}
}

// TestReadStored reads a benchmark out of documents.
func TestReadStored(t *testing.T) {
	m := makeBenchmark(t, cxreasonbench.Corrected, 1)
	blobs := map[artifacts.Digest][]byte{}
	put := func(data []byte) artifacts.Ref {
		d := artifacts.Sum(data)
		blobs[d] = data
		return artifacts.Ref{Digest: d, Size: int64(len(data))}
	}
	manifest := contract.Benchmark{Format: contract.BenchmarkFormat}
	for _, k := range m.bench.cases {
		doc := contract.CaseDoc{Format: contract.CaseDocFormat, Task: k.task, ID: k.id, Pictures: map[string]artifacts.Ref{}}
		for _, a := range k.asked {
			doc.Items = append(doc.Items, cxreasonbench.Item{Task: k.task, Case: k.id, Path: a.q.Key.Path, Stage: a.q.Key.Stage, Format: cxreasonbench.FormatBasic, Questions: []cxreasonbench.Question{a.q}})
		}
		doc.Pictures[k.id+".png"] = put(m.pictures[k.id+".png"])
		data, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		manifest.Cases = append(manifest.Cases, contract.BenchmarkCase{Task: k.task, ID: k.id, Doc: put(data)})
	}
	b, err := ReadStored(context.Background(), manifest, func(_ context.Context, r artifacts.Ref) ([]byte, error) { return blobs[r.Digest], nil })
	if err != nil {
		t.Fatal(err)
	}
	same(t, b, m.bench)
	if data, err := b.cases[0].open(); err != nil || artifacts.Sum(data) != b.cases[0].image {
		t.Errorf("the radiograph of the first case: %v", err)
	}
}
